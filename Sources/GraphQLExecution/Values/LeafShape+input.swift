package import MartletGraphQLLanguage
package import MartletJSON

// Input coercion of leaves (sections 3.5 "Scalars" and 3.9 "Enums").
extension LeafShape {
  /// Coerces a variable's value.
  package func parse(_ value: JSONValue) throws -> JSONValue {
    switch self {
    case .int: return try Self.parseInt(value)
    case .float:
      if let number = value.number { return .double(number) }
      throw CoercionFailure("Float cannot represent non numeric value: \(value.shown)")
    case .string:
      if case .string = value { return value }
      throw CoercionFailure("String cannot represent a non string value: \(value.shown)")
    case .boolean:
      if case .bool = value { return value }
      throw CoercionFailure("Boolean cannot represent a non boolean value: \(value.shown)")
    case .id:
      if let text = value.identifier { return .string(text) }
      throw CoercionFailure("ID cannot represent value: \(value.shown)")
    case .enumeration(let shape):
      guard case .string(let text) = value else {
        throw CoercionFailure("Enum '\(shape.name)' cannot represent non-string value: \(value.shown).")
      }
      guard shape.contains(text) else {
        throw CoercionFailure("Value '\(text)' does not exist in '\(shape.name)' enum.")
      }
      return value
    case .custom(_, let rules):
      return try rules.parse(value)
    }
  }

  /// Coerces a literal of the document. `value` holds no variables where the leaf is not a custom scalar.
  package func parse(literal value: Value, variables: JSONObject?) throws -> JSONValue {
    let text = Printer.text(of: value)
    switch (self, value.kind) {
    case (.int, .int(let digits)):
      if let number = Int32(digits) { return .int(Int64(number)) }
      throw CoercionFailure("Int cannot represent non 32-bit signed integer value: \(text)")
    case (.int, _):
      throw CoercionFailure("Int cannot represent non-integer value: \(text)")
    case (.float, .int(let digits)), (.float, .float(let digits)):
      if let number = Double(digits), number.isFinite { return .double(number) }
      throw CoercionFailure("Float cannot represent non numeric value: \(text)")
    case (.float, _):
      throw CoercionFailure("Float cannot represent non numeric value: \(text)")
    case (.string, .string(let string)):
      return .string(string.text)
    case (.string, _):
      throw CoercionFailure("String cannot represent a non string value: \(text)")
    case (.boolean, .boolean(let flag)):
      return .bool(flag)
    case (.boolean, _):
      throw CoercionFailure("Boolean cannot represent a non boolean value: \(text)")
    case (.id, .string(let string)):
      return .string(string.text)
    case (.id, .int(let digits)):
      return .string(digits)
    case (.id, _):
      throw CoercionFailure("ID cannot represent a non-string and non-integer value: \(text)")
    case (.enumeration(let shape), .enumeration(let name)):
      if shape.contains(name) { return .string(name) }
      throw CoercionFailure("Value '\(name)' does not exist in '\(shape.name)' enum.")
    case (.enumeration(let shape), _):
      throw CoercionFailure("Enum '\(shape.name)' cannot represent non-enum value: \(text).")
    case (.custom(_, let rules), _):
      return try rules.parse(value.untyped(variables))
    }
  }

  private static func parseInt(_ value: JSONValue) throws -> JSONValue {
    switch value {
    case .int(let number):
      if Int32(exactly: number) != nil { return value }
    case .uint:
      break
    case .double(let number):
      guard let whole = Int64(exactly: number) else {
        throw CoercionFailure("Int cannot represent non-integer value: \(value.shown)")
      }
      if Int32(exactly: whole) != nil { return .int(whole) }
    case .null, .bool, .string, .array, .object:
      throw CoercionFailure("Int cannot represent non-integer value: \(value.shown)")
    }
    throw CoercionFailure("Int cannot represent non 32-bit signed integer value: \(value.shown)")
  }
}

extension JSONValue {
  /// The value as a finite floating-point number, when it is a number.
  package var number: Double? {
    switch self {
    case .int(let number): Double(number)
    case .uint(let number): Double(number)
    case .double(let number): number.isFinite ? number : nil
    case .null, .bool, .string, .array, .object: nil
    }
  }

  /// The value as an ID: text, or a whole number as text.
  package var identifier: String? {
    switch self {
    case .string(let text): text
    case .int(let number): String(number)
    case .uint(let number): String(number)
    case .double(let number): Int64(exactly: number).map { String($0) }
    case .null, .bool, .array, .object: nil
    }
  }
}

extension Value {
  /// The literal as JSON without a type's help, for custom scalars: names of enum values become text, variables their
  /// values. A variable without a value is null in a list and leaves its member out of an object.
  package func untyped(_ variables: JSONObject?) -> JSONValue {
    switch kind {
    case .variable(let name): return variables?[name] ?? .null
    case .int(let digits):
      if let number = Int64(digits) { return .int(number) }
      if let number = UInt64(digits) { return .uint(number) }
      return .double(Double(digits) ?? 0)
    case .float(let digits): return .double(Double(digits) ?? 0)
    case .string(let string): return .string(string.text)
    case .boolean(let flag): return .bool(flag)
    case .null: return .null
    case .enumeration(let name): return .string(name)
    case .list(let values): return .array(values.map { $0.untyped(variables) })
    case .object(let fields):
      var object = JSONObject()
      for field in fields where !TypeTable.isAbsent(field.value, variables) {
        object[field.name.text] = field.value.untyped(variables)
      }
      return .object(object)
    }
  }
}
