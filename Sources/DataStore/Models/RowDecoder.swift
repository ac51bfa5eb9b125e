internal import MartletJSON
internal import MartletModels

/// Reads a model's value from a row, field by field. What a field holds besides text, numbers and truth values is read
/// from its JSON, and so is a model that does not consist of fields.
struct RowDecoder: Decoder {
  let record: Record
  let fields: RowFields
  let decoding: JSONDecoding
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The value that the row stands for.
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: self) }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(RowContainer<Key>(self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try decoding.decoder(of: fields.json(record)).unkeyedContainer()
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    try decoding.decoder(of: fields.json(record)).singleValueContainer()
  }
}

/// The fields of a row. A class, so that it can note where it is: fields are mostly asked for in their order.
private final class RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let row: RowDecoder
  /// The position of the member that was found last.
  private var last = 0
  var codingPath: [any CodingKey] { [] }

  init(_ row: RowDecoder) { self.row = row }

  var allKeys: [Key] { row.fields.members.compactMap { Key(stringValue: $0.name) } }

  // MARK: Values

  private func find(_ name: String) -> JSONValue? {
    let members = row.fields.members
    for step in 0..<members.count {
      let place = last + step < members.count ? last + step : last + step - members.count
      guard members[place].name.utf8.elementsEqual(name.utf8) else { continue }
      last = place
      return row.fields.value(of: members[place], in: row.record)
    }
    return nil
  }

  private func value(_ key: Key) throws -> JSONValue {
    guard let value = find(key.stringValue) else {
      throw DecodingError.keyNotFound(
        key,
        DecodingError.Context(codingPath: [], debugDescription: "There is no member \"\(key.stringValue)\"."))
    }
    return value
  }

  /// Reads from a value's JSON; errors name the field.
  private func read<Value>(_ key: Key, _ body: (JSONValue) throws -> Value) throws -> Value {
    let value = try value(key)
    do { return try body(value) } catch let error as DecodingError { throw error.inside(key) }
  }

  private func decode<Value: Decodable>(json type: Value.Type, _ key: Key) throws -> Value {
    try read(key) { try row.decoding.decode(type, from: $0) }
  }

  func contains(_ key: Key) -> Bool { find(key.stringValue) != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try value(key).isNull }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    if case .bool(let flag) = try value(key) { flag } else { try decode(json: type, key) }
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    if case .string(let text) = try value(key) { text } else { try decode(json: type, key) }
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    if case .double(let number) = try value(key) { number } else { try decode(json: type, key) }
  }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    if case .int(let number) = try value(key), let number = Int(exactly: number) { return number }
    return try decode(json: type, key)
  }

  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try decode(json: type, key) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try decode(json: type, key) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try decode(json: type, key) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try decode(json: type, key) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try decode(json: type, key) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try decode(json: type, key) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try decode(json: type, key) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try decode(json: type, key) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try decode(json: type, key) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try decode(json: type, key) }
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try decode(json: type, key) }

  // MARK: Containers

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try read(key) { try row.decoding.decoder(of: $0).container(keyedBy: type) }
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try read(key) { try row.decoding.decoder(of: $0).unkeyedContainer() }
  }

  func superDecoder() throws -> any Decoder { try row.decoding.decoder(of: find("super") ?? .null) }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    try row.decoding.decoder(of: find(key.stringValue) ?? .null)
  }
}

extension JSONDecoding {
  /// What reads a value.
  func decoder(of value: JSONValue) throws -> any Decoder {
    try decode(TakenDecoder.self, from: value).decoder
  }
}

/// Decodes nothing, and keeps what it would have been decoded from.
private struct TakenDecoder: Decodable {
  let decoder: any Decoder
  init(from decoder: any Decoder) { self.decoder = decoder }
}

extension DecodingError {
  /// The error, of which `key` is the place.
  func inside(_ key: any CodingKey) -> DecodingError {
    func placed(_ context: Context) -> Context {
      Context(
        codingPath: [key] + context.codingPath, debugDescription: context.debugDescription,
        underlyingError: context.underlyingError)
    }
    switch self {
    case .typeMismatch(let type, let context): return .typeMismatch(type, placed(context))
    case .valueNotFound(let type, let context): return .valueNotFound(type, placed(context))
    case .keyNotFound(let missing, let context): return .keyNotFound(missing, placed(context))
    case .dataCorrupted(let context): return .dataCorrupted(placed(context))
    @unknown default: return self
    }
  }
}
