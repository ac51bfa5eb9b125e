extension GraphQLNullable: Encodable where Wrapped: Encodable {
  /// Writes the value, or null. A keyed container leaves `.none` out before it gets here.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .none, .null: try container.encodeNil()
    case .some(let value): try container.encode(value)
    }
  }
}

extension GraphQLNullable: Decodable where Wrapped: Decodable {
  /// Reads a value, or null.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    self = container.decodeNil() ? .null : .some(try container.decode(Wrapped.self))
  }
}

extension KeyedEncodingContainer {
  /// Leaves `.none` out. Coding that Swift makes up for a type chooses this over the general function.
  public mutating func encode<Value: Encodable>(_ value: GraphQLNullable<Value>, forKey key: Key) throws {
    switch value {
    case .none: break
    case .null: try encodeNil(forKey: key)
    case .some(let value): try encode(value, forKey: key)
    }
  }
}

extension KeyedDecodingContainer {
  /// Reads a member that is not there as `.none`.
  public func decode<Value: Decodable>(
    _ type: GraphQLNullable<Value>.Type, forKey key: Key
  ) throws -> GraphQLNullable<Value> {
    guard contains(key) else { return .none }
    return try decodeNil(forKey: key) ? .null : .some(try decode(Value.self, forKey: key))
  }
}
