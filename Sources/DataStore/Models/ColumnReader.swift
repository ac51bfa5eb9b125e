internal import MartletJSON
internal import MartletLiveQueries
internal import MartletModels
internal import MartletSQLite
internal import MartletStore

/// What the fields of a row are read from: the row that a statement stands on, or a live query's. Not generic, because
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
  /// Nil for a live query's rows.
  let statement: Statement?
  /// The row that the statement stands on; nil for a live query's rows.
  private let row: StatementRow?
  /// The statement, not counted: `statement` holds it as long as this object lives.
  private let cursor: Unmanaged<Statement>?
  /// The live query's row; nil for a statement's.
  private var live: UncountedRow?

  init(_ statement: Statement, _ model: Model) {
    self.model = model
    self.statement = statement
    row = StatementRow(of: statement)
    unsafe cursor = .passUnretained(statement)
  }

  /// A reader of a live query's rows, one after the other.
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

  /// Stands on a row of a live query, which the caller holds until it stands on another one.
  func read(_ row: UncountedRow) { live = row }

  /// Rows that the statement had when it ran last, with whatever values were bound then.
  var expected: Int { statement?.lastCount ?? 0 }

  /// The field's value as JSON; null for a field without one.
  func json(_ place: Place) throws -> JSONValue {
    let number = Int(place.number)
    if place.isRelation { return try model.columns.relations[number].json(self) }
    return try json(FieldColumns.Source(position: number, storage: place.storage))
  }

  func json(_ source: FieldColumns.Source) throws -> JSONValue {
    guard let statement else { return live?.value(source.position) ?? .null }
    return try source.storage.read(statement, source.position)
  }

  func isNull(_ place: Place) -> Bool {
    let number = Int(place.number)
    return place.isRelation ? model.columns.relations[number].isNull(self) : isNull(number)
  }

  func isNull(_ column: Int) -> Bool {
    if let row { return row.isNull(Int32(truncatingIfNeeded: column)) }
    return live?.isNull(column) ?? true
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
    return live?.text(Int(column))
  }

  @inline(__always)
  func integer(_ place: Place) -> Int? {
    guard case .integer = place.storage else { return nil }
    if let row { return row.integer(place.number).flatMap { Int(exactly: $0) } }
    return live?.integer(Int(place.number)).flatMap { Int(exactly: $0) }
  }

  @inline(__always)
  func number(_ place: Place) -> Double? {
    guard case .real = place.storage else { return nil }
    if let row { return row.real(place.number) }
    return live?.number(Int(place.number))
  }

  @inline(__always)
  func flag(_ place: Place) -> Bool? {
    guard case .boolean = place.storage else { return nil }
    if let row { return row.integer(place.number).map { $0 != 0 } }
    return live?.flag(Int(place.number))
  }

  /// The row taken out of the statement, for types that do not consist of fields.
  func decoder() throws -> RowDecoder {
    let record = Record(
      values: try model.columns.storages.enumerated().map { column, storage in
        try statement.map { try storage.read($0, column) } ?? live?.value(column) ?? .null
      })
    return RowDecoder(record: record, fields: model.rows, decoding: model.decoding)
  }
}
