extension JSONValue {
  /// Parses one document.
  ///
  /// - Throws: `JSONError` naming the rule and the byte.
  public init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
    self = try JSONTape(bytes, limits: limits).root.value
  }

  /// Parses a text that is held in memory already, however long it is.
  package init(held bytes: [UInt8]) throws(JSONError) { try self.init(parsing: bytes, limits: .held(bytes)) }

  /// Parses text.
  public init(parsing text: String, limits: JSONLimits = JSONLimits()) throws(JSONError) {
    try self.init(parsing: Array(text.utf8), limits: limits)
  }

  /// The compact form.
  public func serialized() -> [UInt8] {
    var writer = JSONWriter()
    writer.value(self)
    return writer.bytes
  }

  /// Member `key` of an object; nil for anything else.
  public subscript(key: String) -> JSONValue? { object?[key] }

  /// Element `index` of an array; nil beyond its end and for anything else.
  public subscript(index: Int) -> JSONValue? {
    guard case .array(let values) = self, values.indices.contains(index) else { return nil }
    return values[index]
  }

  /// Whether this is `null`.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }
  /// The truth value.
  public var bool: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }
  /// The signed integer.
  public var int: Int64? {
    if case .int(let value) = self { value } else { nil }
  }
  /// The number as a double, rounded where it must be.
  public var double: Double? {
    switch self {
    case .int(let value): Double(value)
    case .uint(let value): Double(value)
    case .double(let value): value
    case .null, .bool, .string, .array, .object: nil
    }
  }
  /// The text.
  public var string: String? {
    if case .string(let value) = self { value } else { nil }
  }
  /// The elements.
  public var array: [JSONValue]? {
    if case .array(let value) = self { value } else { nil }
  }
  /// The members.
  public var object: JSONObject? {
    if case .object(let value) = self { value } else { nil }
  }
}

extension JSONValue: CustomStringConvertible {
  /// The compact form as text.
  public var description: String { String(decoding: serialized(), as: UTF8.self) }
}

extension JSONObject: CustomStringConvertible {
  /// The compact form as text.
  public var description: String { JSONValue.object(self).description }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// `null`.
  public init(nilLiteral: ()) { self = .null }
  /// A truth value.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// An integer.
  public init(integerLiteral value: Int64) { self = .int(value) }
  /// A double.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// Text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A list.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// An object with members in the literal's order.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(elements.map { (key: $0.0, value: $0.1) }))
  }
}
