internal import MartletLiveQueries
internal import MartletModels
internal import MartletSyncEngine

/// The rows that a transaction has met: as they were before it and as they are. New ones wait until several can be
/// written by one statement, or until the tables are read.
final class TransactionRows {
  private struct Name: Hashable {
    var model: Int
    var key: RecordKey
  }

  private struct Entry {
    let model: Int
    let before: StoredRecord?
    var current: StoredRecord?
  }

  let records: Records
  private let file: ClientTables
  private let fileQueries: ClientQueries
  /// Whether writes go to a server.
  private let syncs: Bool
  /// The entries of the records that were met, and these in the order of their meeting.
  private var places: [Name: Int] = [:]
  private var entries: [Entry] = []
  /// The record that was met last, which mostly is the one that is asked for next.
  private var last: (name: Name, place: Int)?
  /// What the file does not have yet.
  private var newRows = NewRows()
  private var mayHide: Bool?
  /// Beyond it nothing is in the file that was not met.
  private var end = TableEnd()

  init(_ tables: ClientTables, _ records: Records, _ queries: ClientQueries, syncs: Bool) {
    self.records = records
    self.syncs = syncs
    file = tables
    fileQueries = queries
  }

  /// So many records more will be met.
  func expect(_ count: Int) {
    places.reserveCapacity(places.count + count)
    entries.reserveCapacity(entries.count + count)
  }

  // MARK: Reading

  /// The tables beside those of the records, with everything that the transaction has written.
  var tables: ClientTables {
    get throws {
      try newRows.write(file)
      return file
    }
  }

  /// Queries that find everything that the transaction has written.
  var queries: ClientQueries {
    get throws {
      try newRows.write(file)
      return fileQueries
    }
  }

  /// The record as it is, which the commit reports if it changes.
  @discardableResult
  func note(_ table: RecordTable, _ key: RecordKey) throws -> StoredRecord? {
    entries[try meet(table, key).place].current
  }

  /// The place of a record's entry, and whether the transaction meets the record here first.
  private func meet(_ table: RecordTable, _ key: RecordKey) throws -> (place: Int, isFirst: Bool) {
    if let place = lastPlace(table, key) { return (place, false) }
    let name = Name(model: table.shape.model, key: key)
    // Looks for the name once, whether it is there or not.
    let place = Self.value(of: &places[name, default: entries.count])
    if place == entries.count {
      do {
        let stored = try end.isBefore(key, in: table) ? nil : table.get(key)
        entries.append(Entry(model: name.model, before: stored, current: stored))
      } catch {
        places[name] = nil
        throw error
      }
      last = (name, place)
      return (place, true)
    }
    last = (name, place)
    return (place, false)
  }

  private static func value(of place: inout Int) -> Int { place }

  private func lastPlace(_ table: RecordTable, _ key: RecordKey) -> Int? {
    guard let last, last.name.model == table.shape.model, last.name.key == key else { return nil }
    return last.place
  }

  /// The record as it is.
  func current(_ table: RecordTable, _ key: RecordKey) throws -> StoredRecord? {
    if let known = place(table, key) { return entries[known].current }
    return try table.get(key)
  }

  /// Whether the transaction has met a record.
  func hasMet(_ table: RecordTable, _ key: RecordKey) -> Bool { place(table, key) != nil }

  private func place(_ table: RecordTable, _ key: RecordKey) -> Int? {
    lastPlace(table, key) ?? places[Name(model: table.shape.model, key: key)]
  }

  /// A stored record as queries show it.
  func row(_ stored: StoredRecord, _ table: RecordTable) -> LiveRow { fileQueries.row(stored, table) }

  /// What differs from before the transaction.
  var changes: [RowChange] {
    get throws {
      var changes: [RowChange] = []
      changes.reserveCapacity(entries.count)
      for entry in entries {
        let table = try records.table(entry.model)
        let before = entry.before.map { row($0, table) }
        let after = entry.current.map { row($0, table) }
        if before != after { changes.append(RowChange(model: entry.model, before: before, after: after)) }
      }
      return changes
    }
  }

  // MARK: Writing

  /// The transaction has written a record that it has met.
  func set(_ stored: StoredRecord?, _ table: RecordTable, _ key: RecordKey) {
    if let known = place(table, key) { entries[known].current = stored }
  }

  /// Whether the store has nothing at all about a record that the transaction meets here first: no row, no write that
  /// waits, and no image.
  func isNew(_ table: RecordTable, _ key: RecordKey) throws -> Bool {
    let (place, isFirst) = try meet(table, key)
    guard isFirst, entries[place].current == nil else { return false }
    return try !hidesRecords
  }

  /// Whether something was kept, before the transaction's own writes, about records that no row shows.
  var hidesRecords: Bool {
    get throws {
      if let known = mayHide { return known }
      let found = try syncs && file.mayHide()
      mayHide = found
      return found
    }
  }

  /// Adds a record that is new, and its write where writes go to a server.
  func insert(_ stored: StoredRecord, _ table: RecordTable, _ key: RecordKey, _ write: PendingWrite? = nil) throws {
    try newRows.add(stored, to: table)
    if let write { try newRows.add(NewRows.Write(write: write, shape: table.shape, key: key), to: file) }
    set(stored, table, key)
  }

  /// The value of a name, which no new row has.
  func value(_ name: String) throws -> String? { try file.value(name) }

  /// Writes what waits.
  func write() throws { try newRows.write(file) }

  /// Everything was deleted.
  func forget() {
    places = [:]
    entries = []
    last = nil
    mayHide = nil
  }
}
