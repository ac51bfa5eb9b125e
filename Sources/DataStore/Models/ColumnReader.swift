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
  /// Nil for a record.
  let statement: Statement?
  /// The same, not counted: counting takes as long as reading a field.
  private let quick: Unmanaged<Statement>?
  private let record: Record

  init(_ statement: Statement, _ model: Model) {
    self.model = model
    self.statement = statement
    unsafe quick = Unmanaged.passUnretained(statement)
    record = Record(values: [])
  }

  init(_ record: Record, _ model: Model) {
    self.model = model
    statement = nil
    unsafe quick = nil
    self.record = record
  }

  /// Stands on the next row; false when there is none.
  func step() throws -> Bool { try statement?.step() ?? false }

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

  func isNull(_ column: Int) -> Bool { statement?.isNull(column) ?? record[column].isNull }

  // The value where it is stored as the type that is asked for; nil where it is not, and for null.

  func text(_ place: Place) -> String? {
    guard case .text = place.storage else { return nil }
    if let quick = unsafe quick { return unsafe quick._withUnsafeGuaranteedRef { $0.textIfAny(Int(place.number)) } }
    if case .string(let text) = record[Int(place.number)] { return text }
    return nil
  }

  func integer(_ place: Place) -> Int? {
    guard case .integer = place.storage else { return nil }
    if let quick = unsafe quick {
      guard let number = unsafe quick._withUnsafeGuaranteedRef({ $0.int64IfAny(Int(place.number)) }) else { return nil }
      return Int(exactly: number)
    }
    if case .int(let number) = record[Int(place.number)] { return Int(exactly: number) }
    return nil
  }

  func number(_ place: Place) -> Double? {
    guard case .real = place.storage else { return nil }
    if let quick = unsafe quick { return unsafe quick._withUnsafeGuaranteedRef { $0.doubleIfAny(Int(place.number)) } }
    if case .double(let number) = record[Int(place.number)] { return number }
    return nil
  }

  func flag(_ place: Place) -> Bool? {
    guard case .boolean = place.storage else { return nil }
    if let quick = unsafe quick {
      guard let number = unsafe quick._withUnsafeGuaranteedRef({ $0.int64IfAny(Int(place.number)) }) else { return nil }
      return number != 0
    }
    if case .bool(let flag) = record[Int(place.number)] { return flag }
    return nil
  }

  /// The relation at a place; nil for another field.
  func relation(_ place: Place) -> FieldColumns.Relation? {
    place.isRelation ? model.columns.relations[Int(place.number)] : nil
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
