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

  /// The field's value as JSON; nil for a field without one.
  func json(_ column: FieldColumns.Column) throws -> JSONValue? {
    let value = try column.storage.read(statement, column.position)
    return value.isNull ? nil : value
  }

  /// The row taken out of the statement, for types that do not consist of fields.
  func decoder() throws -> RowDecoder {
    var record = Record(values: Array(repeating: .null, count: fields.columns.count))
    for column in fields.columns { record.values[column.position] = try json(column) ?? .null }
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

/// The fields of the row that the statement stands on. A class, so that it can note where it is: fields are mostly
/// asked for in their order.
private final class ColumnContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let row: StatementRow
  private let columns: [FieldColumns.Column]
  private let statement: Statement
  /// The place among the columns of the one that was asked for last.
  private var last: Int
  var codingPath: [any CodingKey] { [] }

  init(_ row: StatementRow) {
    self.row = row
    columns = row.fields.columns
    statement = row.statement
    last = columns.count - 1
  }

  var allKeys: [Key] {
    columns.compactMap { statement.isNull($0.position) ? nil : Key(stringValue: $0.name) }
  }

  // MARK: Fields

  /// The column of a field, whether it has a value or not; nil when the model has no such field.
  private func column(_ key: Key) -> FieldColumns.Column? {
    let name = key.stringValue
    for step in 1...max(columns.count, 1) {
      let sum = last + step
      let place = sum < columns.count ? sum : sum - columns.count
      guard columns.indices.contains(place), columns[place].name == name else { continue }
      last = place
      return columns[place]
    }
    return nil
  }

  private func missing(_ key: Key) -> DecodingError {
    .keyNotFound(
      key, DecodingError.Context(codingPath: [], debugDescription: "There is no member \"\(key.stringValue)\"."))
  }

  private func value(_ key: Key) throws -> JSONValue {
    guard let column = column(key), let value = try row.json(column) else { throw missing(key) }
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

  private func isAbsent(_ key: Key) -> Bool { column(key).map { statement.isNull($0.position) } ?? true }

  func contains(_ key: Key) -> Bool { !isAbsent(key) }

  func decodeNil(forKey key: Key) throws -> Bool {
    if isAbsent(key) { throw missing(key) }
    return false
  }

  // MARK: Values as they are stored

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    guard let column = column(key) else { return nil }
    if column.storage == .text { return statement.textIfAny(column.position) }
    return statement.isNull(column.position) ? nil : try decode(json: type, key)
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    guard let column = column(key) else { return nil }
    if column.storage == .integer, let number = statement.int64IfAny(column.position) {
      return try Int(exactly: number) ?? decode(json: type, key)
    }
    return statement.isNull(column.position) ? nil : try decode(json: type, key)
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    guard let column = column(key) else { return nil }
    if column.storage == .real, let number = statement.doubleIfAny(column.position) { return number }
    return statement.isNull(column.position) ? nil : try decode(json: type, key)
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    guard let column = column(key) else { return nil }
    if column.storage == .boolean, let number = statement.int64IfAny(column.position) { return number != 0 }
    return statement.isNull(column.position) ? nil : try decode(json: type, key)
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    guard let column = column(key), let value = try row.json(column) else { return nil }
    do { return try row.decoding.decode(type, from: value) } catch let error as DecodingError {
      throw error.inside(key)
    }
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    guard let value = try decodeIfPresent(type, forKey: key) else { throw missing(key) }
    return value
  }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    guard let value = try decodeIfPresent(type, forKey: key) else { throw missing(key) }
    return value
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    guard let value = try decodeIfPresent(type, forKey: key) else { throw missing(key) }
    return value
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    guard let value = try decodeIfPresent(type, forKey: key) else { throw missing(key) }
    return value
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
    let value = try columns.first { $0.name == "super" }.flatMap { try row.json($0) }
    return try row.decoding.decoder(of: value ?? .null)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    try row.decoding.decoder(of: column(key).flatMap { try row.json($0) } ?? .null)
  }
}
