internal import MartletJSON
internal import MartletModels
internal import MartletSQLite

/// The rows that a statement stands on, one after the other, as records. It holds what the rows share, so that reading
/// one of thousands counts no reference to it. Confined to the statement's thread.
struct RecordRows {
  private let statement: Statement
  private let row: StatementRow
  private let storages: [ColumnStorage]
  private let first: Int

  /// Rows whose columns from `first` on are `RecordTable.columns`, of fields that are stored like this.
  init(_ statement: Statement, _ storages: [ColumnStorage], first: Int = 0) {
    self.statement = statement
    self.storages = storages
    self.first = first
    row = StatementRow(of: statement)
  }

  /// The record in the row that the statement stands on.
  func record() throws -> StoredRecord {
    let count = storages.count
    var values: [JSONValue] = []
    values.reserveCapacity(count)
    for (field, storage) in storages.enumerated() {
      values.append(try storage.read(row, of: statement, at: first + field))
    }
    let rest = Int32(truncatingIfNeeded: first + count)
    return StoredRecord(
      record: Record(values: values), version: HiddenRows.version(stored: row.count(rest)),
      created: row.count(rest + 1),
      changed: row.count(rest + 2))
  }
}
