internal import MartletJSON
internal import MartletModels
internal import MartletSQLite
internal import MartletStore

/// What the fields of a row are read from: the row that a statement stands on, or a record. Not generic, because
/// generic code is what costs most here. Confined to one thread, a statement's to the statement's.
@safe
final class ColumnReader {
  typealias Place = FieldColumns.Place

  /// How a model's rows are read; the same for all of them.
  struct Model: Sendable {
    let columns: FieldColumns
    let rows: RowFields
    let decoding: JSONDecoding
    let link: RoomLink
  }

  let model: Model
  /// Nil for records.
  let statement: Statement?
  /// The row that the statement stands on; nil for records.
  private let row: StatementRow?
  /// The statement, not counted: `statement` holds it as long as this object lives.
  private let cursor: Unmanaged<Statement>?
  private var record = Record(values: [])

  init(_ statement: Statement, _ model: Model) {
    self.model = model
    self.statement = statement
    row = StatementRow(of: statement)
    unsafe cursor = .passUnretained(statement)
  }

  /// A reader of records, one after the other.
  init(_ model: Model) {
    self.model = model
    statement = nil
    row = nil
    unsafe cursor = nil
  }

  /// Stands on the next row; false when there is none.
  func step() throws -> Bool {
    guard let cursor = unsafe cursor else { return false }
    return try unsafe cursor._withUnsafeGuaranteedRef { try $0.step() }
  }

  /// Stands on a record.
  func read(_ record: Record) { self.record = record }

  /// Rows that the statement had when it ran last, with whatever values were bound then.
  var expected: Int { statement?.lastCount ?? 0 }

  /// The field's value as JSON; null for a field without one.
  func json(_ place: Place) throws -> JSONValue {
    let number = Int(place.number)
    if place.isRelation { return try model.columns.relations[number].json(self) }
    return try json(FieldColumns.Source(position: number, storage: place.storage))
  }

  func json(_ source: FieldColumns.Source) throws -> JSONValue {
    guard let statement else { return record[source.position] }
    return try source.storage.read(statement, source.position)
  }

  func isNull(_ place: Place) -> Bool {
    let number = Int(place.number)
    return place.isRelation ? model.columns.relations[number].isNull(self) : isNull(number)
  }

  func isNull(_ column: Int) -> Bool {
    if let row { return row.isNull(Int32(truncatingIfNeeded: column)) }
    return record[column].isNull
  }

  // The value where it is stored as the type that is asked for; nil where it is not, and for null.

  @inline(__always)
  func text(_ place: Place) -> String? {
    guard case .text = place.storage else { return nil }
    return text(column: place.number)
  }

  /// The text of a column that is stored as text.
  func text(column: Int32) -> String? {
    if let row { return row.text(column) }
    if case .string(let text) = record[Int(column)] { return text }
    return nil
  }

  @inline(__always)
  func integer(_ place: Place) -> Int? {
    guard case .integer = place.storage else { return nil }
    if let row { return row.integer(place.number).flatMap { Int(exactly: $0) } }
    if case .int(let number) = record[Int(place.number)] { return Int(exactly: number) }
    return nil
  }

  @inline(__always)
  func number(_ place: Place) -> Double? {
    guard case .real = place.storage else { return nil }
    if let row { return row.real(place.number) }
    if case .double(let number) = record[Int(place.number)] { return number }
    return nil
  }

  @inline(__always)
  func flag(_ place: Place) -> Bool? {
    guard case .boolean = place.storage else { return nil }
    if let row { return row.integer(place.number).map { $0 != 0 } }
    if case .bool(let flag) = record[Int(place.number)] { return flag }
    return nil
  }

  /// The row taken out of the statement, for types that do not consist of fields.
  func decoder() throws -> RowDecoder {
    var record = record
    if let statement {
      for (column, storage) in model.columns.storages.enumerated() {
        record.values.append(try storage.read(statement, column))
      }
    }
    return RowDecoder(record: record, fields: model.rows, decoding: model.decoding)
  }
}
