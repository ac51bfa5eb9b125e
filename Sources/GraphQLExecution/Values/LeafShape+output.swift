package import MartletJSON

// Result coercion of leaves (sections 3.5 "Scalars" and 3.9 "Enums").
extension LeafShape {
  /// The value as the response carries it. `value` is not null.
  package func serialize(_ value: JSONValue) throws -> ResultValue {
    switch self {
    case .int: return try Self.serializeInt(value)
    case .float:
      switch value {
      case .double(let number) where number.isFinite: return .double(number)
      case .int(let number): return .int(number)
      case .uint(let number): return .double(Double(number))
      case .bool(let flag): return .int(flag ? 1 : 0)
      case .string(let text):
        if !text.isEmpty, let number = Double(text), number.isFinite { return .double(number) }
      case .null, .double, .array, .object: break
      }
      throw CoercionFailure("Float cannot represent non numeric value: \(value.shown)")
    case .string:
      switch value {
      case .string(let text): return .string(text)
      case .bool(let flag): return .string(flag ? "true" : "false")
      case .int(let number): return .string(String(number))
      case .uint(let number): return .string(String(number))
      case .double(let number) where number.isFinite: return .string(value.shown)
      case .null, .double, .array, .object: break
      }
      throw CoercionFailure("String cannot represent value: \(value.shown)")
    case .boolean:
      switch value {
      case .bool(let flag): return .bool(flag)
      case .int(let number): return .bool(number != 0)
      case .uint: return .bool(true)
      case .double(let number) where number.isFinite: return .bool(number != 0)
      case .null, .double, .string, .array, .object: break
      }
      throw CoercionFailure("Boolean cannot represent a non boolean value: \(value.shown)")
    case .id:
      if let text = value.identifier { return .string(text) }
      throw CoercionFailure("ID cannot represent value: \(value.shown)")
    case .enumeration(let shape):
      if case .string(let text) = value, shape.contains(text) { return .string(text) }
      throw CoercionFailure("Enum '\(shape.name)' cannot represent value: \(value.shown)")
    case .custom(let name, let rules):
      let result = try rules.serialize(value)
      if case .null = result {
        throw CoercionFailure("Scalar '\(name)' turned the value \(value.shown) into null.")
      }
      return .json(result)
    }
  }

  private static func serializeInt(_ value: JSONValue) throws -> ResultValue {
    let number: Int64?
    switch value {
    case .int(let whole): number = whole
    case .uint: throw CoercionFailure("Int cannot represent non 32-bit signed integer value: \(value.shown)")
    case .bool(let flag): return .int(flag ? 1 : 0)
    case .double(let double): number = Int64(exactly: double)
    case .string(let text): number = text.isEmpty ? nil : Int64(text)
    case .null, .array, .object: number = nil
    }
    guard let number else { throw CoercionFailure("Int cannot represent non-integer value: \(value.shown)") }
    guard Int32(exactly: number) != nil else {
      throw CoercionFailure("Int cannot represent non 32-bit signed integer value: \(value.shown)")
    }
    return .int(number)
  }
}
