internal import MartletChangeFeed
internal import MartletModels
internal import MartletSQLite

/// Applies changes of records as they are: an authority has just decided them, another store has read them in the log.
/// Both get the same rows. Confined to the connection's thread.
struct RecordFold {
  let records: Records
  let tombstones: TombstoneTable
  private let coder: RecordCoder
  private let hidden: HiddenRows

  init(_ records: Records, _ tombstones: TombstoneTable, _ coder: RecordCoder, _ hidden: HiddenRows) {
    self.records = records
    self.hidden = hidden
    self.tombstones = tombstones
    self.coder = coder
  }

  /// Applies one change, made at `time`. A failed constraint is SQLite's error.
  func apply(_ change: RecordChange, at time: Int64) throws {
    let table = try records.table(change.model)
    let model = table.storedNumber
    switch change.kind {
    case .create:
      let stored = StoredRecord(record: change.image, version: change.version, created: time, changed: time)
      try givingPlace(to: change.image, table) { try table.insert(stored) }
      // Version 1 is a key without a tombstone, or with an expired one that housekeeping deletes.
      if change.version > 1 { try tombstones.remove(model, change.key) }
    case .update:
      let stored = StoredRecord(record: change.image, version: change.version, created: 0, changed: time)
      let isThere = try givingPlace(to: change.image, table) {
        try table.update(change.key, change.old.map(\.field).sorted(), of: stored)
      }
      guard isThere else { throw missing(table) }
    case .delete:
      guard try table.delete(change.key) else { throw missing(table) }
      var writer = EntryWriter()
      try coder.write(change, into: &writer)
      try tombstones.put(model, change.key, version: change.version, at: time, image: writer.bytes)
    }
  }

  /// Applies creations in one model, made at `time`: all of them, or none when a constraint fails, which is SQLite's
  /// error. There are as many as the model's table takes at once.
  func apply(creations: [RecordChange], of table: RecordTable, at time: Int64) throws {
    try table.insert(
      all: creations.map {
        StoredRecord(record: $0.image, version: $0.version, created: time, changed: time)
      })
    for change in creations where change.version > 1 { try tombstones.remove(table.shape.storedNumber, change.key) }
  }

  /// Runs a statement that writes a record. Hidden rows in its place go: what is not committed has no place yet.
  private func givingPlace<Value>(
    to record: Record, _ table: RecordTable, _ body: () throws -> Value
  ) throws -> Value {
    do {
      return try body()
    } catch {
      guard (error as? SQLiteError)?.code == .unique, let version = hidden.version, let remove = hidden.remove,
        try table.isTaken(record, by: version)
      else { throw error }
      try remove()
      return try body()
    }
  }

  /// The deletion of a record of the folder's model `model`.
  func tombstone(_ model: Int, _ key: RecordKey, _ horizon: Horizon) throws -> Tombstone? {
    try tombstones.read(model, key, horizon, coder)
  }

  private func missing(_ table: RecordTable) -> StoreError {
    StoreError(.diverged, "the log changes a \(table.shape.name) that is not there")
  }
}
