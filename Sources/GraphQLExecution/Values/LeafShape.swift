package import MartletJSON

/// A scalar or enum type, resolved for execution.
package enum LeafShape: Sendable {
  case int, float, string, boolean, id
  case enumeration(EnumShape)
  case custom(name: String, ScalarRules)

  package var name: String {
    switch self {
    case .int: "Int"
    case .float: "Float"
    case .string: "String"
    case .boolean: "Boolean"
    case .id: "ID"
    case .enumeration(let shape): shape.name
    case .custom(let name, _): name
    }
  }

  /// Whether coercing this leaf runs code of the program that uses the library.
  package var runsUserCode: Bool {
    switch self {
    case .int, .float, .string, .boolean, .id, .enumeration: false
    case .custom(_, let rules): rules.isUserCode
    }
  }
}

/// The values of an enum type.
package struct EnumShape: Sendable {
  package let name: String
  private let values: [String: String]

  package init(name: String, values: [String]) {
    self.name = name
    self.values = Dictionary(values.map { ($0, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Whether `text` is one of the values. Compares bytes: some characters are equal to ASCII letters as Swift strings.
  package func contains(_ text: String) -> Bool {
    guard let value = values[text] else { return false }
    return value.utf8.elementsEqual(text.utf8)
  }
}

/// How a custom scalar reads and writes its values.
package struct ScalarRules: Sendable {
  /// Reads a value from variables or, turned into JSON, from the document. Throws what is wrong with it.
  package var parse: @Sendable (JSONValue) throws -> JSONValue
  /// Writes a resolver's value into the response. Throws what is wrong with it.
  package var serialize: @Sendable (JSONValue) throws -> JSONValue
  /// Whether the closures came from outside the library; such code never runs on a loop.
  package var isUserCode: Bool

  package init(
    isUserCode: Bool, parse: @escaping @Sendable (JSONValue) throws -> JSONValue,
    serialize: @escaping @Sendable (JSONValue) throws -> JSONValue
  ) {
    self.parse = parse
    self.serialize = serialize
    self.isUserCode = isUserCode
  }

  /// Any JSON value, unchanged.
  package static let passing = ScalarRules(isUserCode: false, parse: { $0 }, serialize: { $0 })
}

/// Why a leaf value was refused; `message` is for the author of the request.
package struct CoercionFailure: Error {
  package var message: String

  package init(_ message: String) {
    self.message = message
  }
}

extension JSONValue {
  /// The value as messages show it: compact JSON, cut off when long.
  package var shown: String {
    let text = String(decoding: serialized(), as: UTF8.self)
    return text.utf8.count <= 240 ? text : String(text.prefix(240)) + "..."
  }
}
