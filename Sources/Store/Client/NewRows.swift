internal import MartletModels
internal import MartletSyncEngine

/// New rows on their way into the file: several are written by one statement, which takes half the time of as many
/// statements. They are written before the tables are read.
struct NewRows {
  /// A new write of the outbox.
  struct Write {
    var write: PendingWrite
    var shape: RecordShape
    var key: RecordKey
  }

  /// The table of `records`.
  private var table: RecordTable?
  private var records: [StoredRecord] = []
  private var writes: [Write] = []

  /// Adds a record that its table does not have.
  mutating func add(_ stored: StoredRecord, to table: RecordTable) throws {
    if self.table !== table { try writeRecords() }
    self.table = table
    records.append(stored)
    if records.count == table.rowsAtOnce { try writeRecords() }
  }

  /// Adds a write whose number the outbox does not have.
  mutating func add(_ write: Write, to tables: ClientTables) throws {
    writes.append(write)
    if writes.count == ClientTables.writesAtOnce { try writeWrites(tables) }
  }

  /// Writes what waits.
  mutating func write(_ tables: ClientTables) throws {
    if !records.isEmpty { try writeRecords() }
    if !writes.isEmpty { try writeWrites(tables) }
  }

  private mutating func writeRecords() throws {
    guard let table else { return }
    if records.count == table.rowsAtOnce {
      try table.insert(all: records)
    } else {
      for record in records { try table.insert(record) }
    }
    records.removeAll(keepingCapacity: true)
  }

  private mutating func writeWrites(_ tables: ClientTables) throws {
    if writes.count == ClientTables.writesAtOnce {
      try tables.insert(all: writes)
    } else {
      for write in writes { try tables.put(write.write, write.shape, write.key) }
    }
    writes.removeAll(keepingCapacity: true)
  }
}
