internal import MartletJSON

/// Reads values of one model straight from the columns of a statement, row after row: nothing is made that the value
/// does not keep. Confined to the statement's thread.
final class ColumnDecoder: Decoder {
  private let reader: ColumnReader
  /// The container of the type that was asked for last: each row of a query asks for the same.
  private var kept: (type: Any.Type, container: AnyObject)?
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(_ reader: ColumnReader) { self.reader = reader }

  private final class Kept<Key: CodingKey> {
    let container: KeyedDecodingContainer<Key>
    init(_ container: KeyedDecodingContainer<Key>) { self.container = container }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    if let kept, kept.type == type {
      // The object was made below for the same type of keys.
      return unsafe unsafeDowncast(kept.container, to: Kept<Key>.self).container
    }
    let container = KeyedDecodingContainer(ColumnContainer<Key>(reader))
    kept = (type, Kept(container))
    return container
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try reader.decoder().unkeyedContainer() }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { try reader.decoder().singleValueContainer() }
}

/// The fields of the row that the statement stands on.
private final class ColumnContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let reader: ColumnReader
  /// The places by the one byte that a key is; empty where keys are not one byte. Other keys have no column.
  private let places: [ColumnReader.Place]
  var codingPath: [any CodingKey] { [] }

  init(_ reader: ColumnReader) {
    self.reader = reader
    guard MemoryLayout<Key>.size == 1, _isPOD(Key.self) else {
      places = []
      return
    }
    var places = Array(repeating: ColumnReader.Place.none, count: 256)
    for (name, place) in zip(reader.model.columns.names, reader.model.columns.places) {
      guard let key = Key(stringValue: name), key.stringValue == name else { continue }
      places[Self.byte(of: key)] = place
    }
    self.places = places
  }

  /// The byte that a key is. It holds no reference, so that equal bytes are equal keys.
  private static func byte(of key: Key) -> Int { Int(unsafe unsafeBitCast(key, to: UInt8.self)) }

  var allKeys: [Key] { reader.model.columns.names.compactMap { Key(stringValue: $0) } }

  // MARK: Fields

  /// The place of a field, whether it has a value or not; nil when the model has no such field.
  private func place(_ key: Key) -> ColumnReader.Place? {
    if places.isEmpty { return reader.model.columns.place(named: key.stringValue) }
    let place = places[Self.byte(of: key)]
    return place.number < 0 ? nil : place
  }

  private func known(_ key: Key) throws -> ColumnReader.Place {
    if let place = place(key) { return place }
    throw DecodingError.keyNotFound(
      key, DecodingError.Context(codingPath: [], debugDescription: "There is no member \"\(key.stringValue)\"."))
  }

  /// Reads from a value's JSON; errors name the field.
  private func read<Value>(_ key: Key, _ body: (JSONValue) throws -> Value) throws -> Value {
    let value = try reader.json(known(key))
    do { return try body(value) } catch let error as DecodingError { throw error.inside(key) }
  }

  private func decode<Value: Decodable>(json type: Value.Type, _ key: Key) throws -> Value {
    try read(key) { try reader.model.decoding.decode(type, from: $0) }
  }

  func contains(_ key: Key) -> Bool { place(key) != nil }

  func decodeNil(forKey key: Key) throws -> Bool { reader.isNull(try known(key)) }

  // MARK: Values as they are stored

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    if let place = place(key), let text = reader.text(place) { return text }
    return try decode(json: type, key)
  }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    if let place = place(key), let number = reader.integer(place) { return number }
    return try decode(json: type, key)
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    if let place = place(key), let number = reader.number(place) { return number }
    return try decode(json: type, key)
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    if let place = place(key), let flag = reader.flag(place) { return flag }
    return try decode(json: type, key)
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    guard let place = place(key) else { return nil }
    if let text = reader.text(place) { return text }
    return reader.isNull(place) ? nil : try decode(json: type, key)
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    guard let place = place(key) else { return nil }
    if let number = reader.integer(place) { return number }
    return reader.isNull(place) ? nil : try decode(json: type, key)
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    guard let place = place(key) else { return nil }
    if let number = reader.number(place) { return number }
    return reader.isNull(place) ? nil : try decode(json: type, key)
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    guard let place = place(key) else { return nil }
    if let flag = reader.flag(place) { return flag }
    return reader.isNull(place) ? nil : try decode(json: type, key)
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    guard let place = place(key), !reader.isNull(place) else { return nil }
    return try decode(json: type, key)
  }

  // MARK: Values read from JSON

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
    try read(key) { try reader.model.decoding.decoder(of: $0).container(keyedBy: type) }
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try read(key) { try reader.model.decoding.decoder(of: $0).unkeyedContainer() }
  }

  func superDecoder() throws -> any Decoder {
    let value = try reader.model.columns.place(named: "super").map { try reader.json($0) }
    return try reader.model.decoding.decoder(of: value ?? .null)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    try reader.model.decoding.decoder(of: place(key).map { try reader.json($0) } ?? .null)
  }
}
