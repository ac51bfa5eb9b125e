internal import MartletJSON
internal import MartletModels
internal import MartletSQLite
internal import MartletStore

/// The columns of a statement's row, by the names of the fields that they hold.
struct FieldColumns: Sendable {
  struct Column: Sendable {
    var name: String
    /// The field's position, which is the column's.
    var position: Int
    var storage: ColumnStorage
  }

  /// In the order of the type's fields.
  let columns: [Column]

  /// Nil when a member of the row is more than a column.
  init?(_ rows: RowFields, _ shape: RecordShape) {
    var columns: [Column] = []
    for member in rows.members {
      guard case .column(let position) = member.content else { return nil }
      columns.append(Column(name: member.name, position: position, storage: shape.columns[position].storage))
    }
    self.columns = columns
  }
}

/// What a row is read from.
private struct StatementRow {
  let statement: Statement
  let fields: FieldColumns
  let rows: RowFields
  let decoding: JSONDecoding

  /// The field's value as JSON; null for a field without one.
  func json(_ place: Place) throws -> JSONValue { try place.storage.read(statement, place.column) }

  /// The row taken out of the statement, for types that do not consist of fields.
  func decoder() throws -> RowDecoder {
    var record = Record(values: Array(repeating: .null, count: fields.columns.count))
    for column in fields.columns { record.values[column.position] = try column.storage.read(statement, column.position) }
    return RowDecoder(record: record, fields: rows, decoding: decoding)
  }
}

/// Reads values of one model straight from the columns of a statement, row after row: nothing is made that the value
/// does not keep. Confined to the statement's thread.
final class ColumnDecoder: Decoder {
  private let row: StatementRow
  /// The container of the type that was asked for last: each row of a query asks for the same.
  private var kept: (type: Any.Type, container: AnyObject)?
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(_ statement: Statement, _ fields: FieldColumns, _ rows: RowFields, _ decoding: JSONDecoding) {
    row = StatementRow(statement: statement, fields: fields, rows: rows, decoding: decoding)
  }

  private final class Kept<Key: CodingKey> {
    let container: KeyedDecodingContainer<Key>
    init(_ container: KeyedDecodingContainer<Key>) { self.container = container }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    if let kept, kept.type == type {
      // The object was made below for the same type of keys.
      return unsafe unsafeDowncast(kept.container, to: Kept<Key>.self).container
    }
    let container = KeyedDecodingContainer(ColumnContainer<Key>(row))
    kept = (type, Kept(container))
    return container
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try row.decoder().unkeyedContainer() }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { try row.decoder().singleValueContainer() }
}

/// Where a field's value is, without its name: copying it counts no references.
private struct Place {
  var column: Int
  var storage: ColumnStorage
}

/// The fields of the row that the statement stands on. A class, so that it can note which key is which column.
private final class ColumnContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let row: StatementRow
  private let statement: Statement
  /// In the order of the type's fields.
  private let places: [Place]
  /// By a key's byte: the index of its place, or `unknown`. Empty where keys are not one byte.
  private var indices: [UInt8]
  var codingPath: [any CodingKey] { [] }

  private static var unknown: UInt8 { .max }

  init(_ row: StatementRow) {
    self.row = row
    statement = row.statement
    places = row.fields.columns.map { Place(column: $0.position, storage: $0.storage) }
    let isByte = MemoryLayout<Key>.size == 1 && _isPOD(Key.self) && places.count < Int(Self.unknown)
    indices = isByte ? Array(repeating: Self.unknown, count: 256) : []
  }

  var allKeys: [Key] {
    row.fields.columns.compactMap { Key(stringValue: $0.name) }
  }

  // MARK: Fields

  /// The place of a field, whether it has a value or not; nil when the model has no such field.
  private func place(_ key: Key) -> Place? {
    guard !indices.isEmpty else { return found(key).map { places[$0] } }
    // A key that is one byte without a reference in it: equal bytes are equal keys.
    let byte = Int(unsafe withUnsafeBytes(of: key) { unsafe $0[0] })
    let index = Int(indices[byte])
    if index < places.count { return places[index] }
    guard let index = found(key) else { return nil }
    indices[byte] = UInt8(truncatingIfNeeded: index)
    return places[index]
  }

  /// The index of a key's place, by its name.
  private func found(_ key: Key) -> Int? {
    let name = key.stringValue
    return row.fields.columns.firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
  }

  private func known(_ key: Key) throws -> Place {
    if let place = place(key) { return place }
    throw DecodingError.keyNotFound(
      key, DecodingError.Context(codingPath: [], debugDescription: "There is no member \"\(key.stringValue)\"."))
  }

  /// Reads from a value's JSON; errors name the field.
  private func read<Value>(_ key: Key, _ body: (JSONValue) throws -> Value) throws -> Value {
    let value = try row.json(known(key))
    do { return try body(value) } catch let error as DecodingError { throw error.inside(key) }
  }

  private func decode<Value: Decodable>(json type: Value.Type, _ key: Key) throws -> Value {
    try read(key) { try row.decoding.decode(type, from: $0) }
  }

  func contains(_ key: Key) -> Bool { place(key) != nil }

  func decodeNil(forKey key: Key) throws -> Bool { statement.isNull(try known(key).column) }

  // MARK: Values as they are stored

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    let place = try known(key)
    if place.storage == .text, let text = statement.textIfAny(place.column) { return text }
    return try decode(json: type, key)
  }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    let place = try known(key)
    if place.storage == .integer, let number = statement.int64IfAny(place.column), let number = Int(exactly: number) {
      return number
    }
    return try decode(json: type, key)
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    let place = try known(key)
    if place.storage == .real, let number = statement.doubleIfAny(place.column) { return number }
    return try decode(json: type, key)
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    let place = try known(key)
    if place.storage == .boolean, let number = statement.int64IfAny(place.column) { return number != 0 }
    return try decode(json: type, key)
  }

  // The forms for optional fields of the most frequent types, which would be asked three times what they are asked once.

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    guard let place = place(key) else { return nil }
    if place.storage == .text { return statement.textIfAny(place.column) }
    return statement.isNull(place.column) ? nil : try decode(json: type, key)
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    guard let place = place(key), !statement.isNull(place.column) else { return nil }
    return try decode(type, forKey: key)
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    guard let place = place(key), !statement.isNull(place.column) else { return nil }
    return try decode(type, forKey: key)
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    guard let place = place(key), !statement.isNull(place.column) else { return nil }
    return try decode(type, forKey: key)
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    guard let place = place(key), !statement.isNull(place.column) else { return nil }
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
    try read(key) { try row.decoding.decoder(of: $0).container(keyedBy: type) }
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try read(key) { try row.decoding.decoder(of: $0).unkeyedContainer() }
  }

  func superDecoder() throws -> any Decoder {
    let value = try row.fields.columns.firstIndex { $0.name == "super" }.map { try row.json(places[$0]) }
    return try row.decoding.decoder(of: value ?? .null)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    try row.decoding.decoder(of: place(key).map { try row.json($0) } ?? .null)
  }
}
