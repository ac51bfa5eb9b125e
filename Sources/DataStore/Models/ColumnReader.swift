internal import MartletJSON
internal import MartletModels
internal import MartletSQLite
internal import MartletStore

/// What the rows of a statement are read from. Not generic, because generic code is what costs most here. Confined to
/// the statement's thread.
final class ColumnReader {
  /// Where a field's value is, without its name: copying it counts no references.
  struct Place {
    var column: Int32
    var storage: ColumnStorage
  }

  let statement: Statement
  let fields: FieldColumns
  let rows: RowFields
  let decoding: JSONDecoding

  init(_ statement: Statement, _ fields: FieldColumns, _ rows: RowFields, _ decoding: JSONDecoding) {
    self.statement = statement
    self.fields = fields
    self.rows = rows
    self.decoding = decoding
  }

  func place(named name: String) -> Place? {
    guard let column = fields.columns.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { return nil }
    return Self.place(of: column)
  }

  static func place(of column: FieldColumns.Column) -> Place {
    Place(column: Int32(truncatingIfNeeded: column.position), storage: column.storage)
  }

  /// The field's value as JSON; null for a field without one.
  func json(_ place: Place) throws -> JSONValue { try place.storage.read(statement, Int(place.column)) }

  func isNull(_ place: Place) -> Bool { statement.isNull(Int(place.column)) }

  // The value where it is stored as the type that is asked for; nil where it is not, and for null.

  func text(_ place: Place) -> String? {
    if case .text = place.storage { statement.textIfAny(Int(place.column)) } else { nil }
  }

  func integer(_ place: Place) -> Int? {
    guard case .integer = place.storage, let number = statement.int64IfAny(Int(place.column)) else { return nil }
    return Int(exactly: number)
  }

  func number(_ place: Place) -> Double? {
    if case .real = place.storage { statement.doubleIfAny(Int(place.column)) } else { nil }
  }

  func flag(_ place: Place) -> Bool? {
    guard case .boolean = place.storage, let number = statement.int64IfAny(Int(place.column)) else { return nil }
    return number != 0
  }

  /// The row taken out of the statement, for types that do not consist of fields.
  func decoder() throws -> RowDecoder {
    var record = Record(values: Array(repeating: .null, count: fields.columns.count))
    for column in fields.columns { record.values[column.position] = try json(Self.place(of: column)) }
    return RowDecoder(record: record, fields: rows, decoding: decoding)
  }
}
