internal import MartletChangeFeed
internal import MartletModels
package import MartletSQLite

/// Verifies a store that no process has open: SQLite's own structures, the log's rows, entries and running checksum,
/// and the records against the log. Reads only.
struct StoreCheck {
  private let database: Database
  /// The rows of a write that was not committed.
  private let hidden = HiddenRows()
  /// Entries of the log that have no rows yet.
  private var span: LogSpan?
  private var report = CheckReport()
  /// The newest change of each record in the log: its offset.
  private var newest: [RecordName: Int64] = [:]

  private struct RecordName: Hashable {
    var model: Int
    var key: RecordKey
  }

  private init(_ database: Database) {
    self.database = database
  }

  /// Looks at the store at `place`. `scratch` is an empty place for a second store, which is made from the log and
  /// compared; without one only the newest change of each record is.
  ///
  /// - Throws: `failed` or `newerFormat` when there is no store to look at.
  static func report(_ place: StorePlace, scratch: StorePlace?) throws(StoreError) -> CheckReport {
    do {
      var settings = Database.Options()
      settings.isReadOnly = true
      let database = try Database(path: place.databasePath, on: place.files, options: settings)
      try StoreOpening.checkFormat(database, place)
      var check = StoreCheck(database)
      // One state, even if another process ignores the lock.
      try database.execute("BEGIN")
      try check.run(scratch)
      return check.report
    } catch {
      throw StoreError(reading: error)
    }
  }

  private mutating func run(_ scratch: StorePlace?) throws {
    for problem in try database.problems(CheckReport.listed) { report.add(.database, problem) }
    do {
      let staging = try StagingTable.state(database)
      span = staging.span
      if case .inserting(let number) = staging { hidden.hide(number) }
      let catalogue = try Catalogue(reading: database)
      let isComplete = try checkLog(catalogue)
      try compareNewest(catalogue)
      if isComplete, report.isSound, let scratch { try compareFolded(catalogue, scratch) }
    } catch let error as SQLiteError {
      report.add(.database, "\(error)")
    } catch let error as StoreError {
      report.add(.database, error.message)
    }
  }

  // MARK: The log

  /// What the row before says about the next one. Sums wrap: the numbers may be damaged.
  private struct Before {
    var offset: Int64
    var at: Int64
    var total: Int64
    var head: Int64
    var endsTransaction: Bool
    var checksum: RunningChecksum
  }

  /// Reads the log from its first row to its last; true when it begins with the store's own first entry.
  private mutating func checkLog(_ catalogue: Catalogue) throws -> Bool {
    let coder = EntryCoder(catalogue.shapes, revision: catalogue.revision)
    var before: Before?
    var isComplete = false
    var rows = try LogRows(try database.prepare(LogRows.select), after: nil, span, database)
    while try rows.step() {
      let (offset, entry) = (rows.offset, rows.entry)
      if before == nil {
        // Rows before the horizon may have been deleted, and no others.
        let first = try LogTable(database).horizon().firstOffset
        if offset > first { report.add(.log, Self.missing(first, offset &- 1)) }
        report.offsets = offset...offset
        isComplete = offset == 1 && EntryCoder.isTerm(entry)
      }
      let (at, head) = (rows.time, rows.head)
      let total = rows.total ?? (before?.total ?? 0) &+ Int64(entry.count)
      var stored = rows.checksum
      checkRow(before, offset, at: at, total: total, head: head, entry)
      var expected = before?.checksum ?? (offset == 1 ? .empty : nil)
      if let previous = before, previous.offset &+ 1 != offset { expected = nil }
      if var checksum = expected {
        checksum.add(entry, offset: offset, head: head, time: at)
        if stored == nil { stored = checksum }
        if checksum != stored { report.add(.checksum, "the log's row \(offset) is not what was written") }
      }
      read(entry, offset, coder)
      before = Before(
        offset: offset, at: at, total: total, head: head, endsTransaction: EntryCoder.endsTransaction(entry),
        checksum: stored ?? .empty)
    }
    guard let before else {
      report.add(.log, "the log is empty, and a store always has its newest entry")
      return false
    }
    report.offsets = (report.offsets?.lowerBound ?? before.offset)...before.offset
    if !before.endsTransaction { report.add(.log, "the log ends within a transaction, at offset \(before.offset)") }
    return isComplete
  }

  private mutating func checkRow(
    _ before: Before?, _ offset: Int64, at: Int64, total: Int64, head: Int64, _ entry: [UInt8]
  ) {
    guard let before else {
      if total < Int64(entry.count) { report.add(.log, "the sum of bytes at offset \(offset) is too small") }
      return
    }
    guard before.offset &+ 1 == offset else {
      return report.add(.log, Self.missing(before.offset &+ 1, offset &- 1))
    }
    if at < before.at { report.add(.log, "the time at offset \(offset) is before that of the entry before it") }
    if total != before.total &+ Int64(entry.count) {
      report.add(.log, "the sum of bytes at offset \(offset) is not that of the entries")
    }
    if head != offset, head != before.head {
      report.add(.log, "the group of the entry at offset \(offset) has another beginning than the one before it")
    }
    if head == offset, !before.endsTransaction {
      report.add(.log, "the transaction that ends at offset \(before.offset) has no end")
    }
  }

  private static func missing(_ first: Int64, _ last: Int64) -> String {
    "\(first == last ? "offset \(first) is" : "offsets \(first) to \(last) are") missing from the log"
  }

  private mutating func read(_ entry: [UInt8], _ offset: Int64, _ coder: EntryCoder) {
    do throws(StoreError) {
      guard case .change(.record(let change))? = try coder.entry(entry, offset: offset)?.body else { return }
      newest[RecordName(model: change.model, key: change.key)] = offset
    } catch {
      report.add(.entry, "the entry at offset \(offset) cannot be read: \(error.message)")
    }
  }

  // MARK: Records

  /// Compares each record with its newest change in the log.
  private mutating func compareNewest(_ catalogue: Catalogue) throws {
    let shapes = catalogue.shapes
    let coder = EntryCoder(shapes, revision: catalogue.revision)
    let records = Records(shapes, on: database, hidden)
    let tombstones = try TombstoneTable(database)
    let horizon = try LogTable(database).horizon()
    try compareEnd(records)
    let statement = try database.prepare(LogRows.select)
    for (name, offset) in newest.sorted(by: { $0.value < $1.value }) {
      var rows = try LogRows(statement, after: offset - 1, span, database)
      guard try rows.step(), rows.offset == offset else { continue }
      let (at, entry) = (rows.time, rows.entry)
      rows.end()
      guard case .change(.record(let change))? = try coder.entry(entry, offset: offset)?.body else { continue }
      let table = try records.table(name.model)
      let stored = try table.get(name.key)
      report.records += 1
      let what = table.shape.describe(name.key)
      guard change.kind != .delete else {
        if stored != nil { report.add(.records, "\(what) is there, and the log deletes it at offset \(offset)") }
        let version = try tombstones.version(name.model, name.key, horizon)
        if at >= horizon.tombstonesBefore, version != change.version {
          report.add(.records, "the deletion of \(what) at offset \(offset) left another tombstone, or none")
        }
        continue
      }
      guard let stored else {
        report.add(.records, "\(what) is missing, which the log has at offset \(offset)")
        continue
      }
      if stored.record != change.image || stored.version != change.version || stored.changed != at {
        report.add(.records, "\(what) is not what the log has at offset \(offset)")
      }
    }
  }

  /// A record that was changed later than the log's last group: the entry of that change is missing.
  private mutating func compareEnd(_ records: Records) throws {
    let end = try LogTable(database).position().time
    for table in records.tables {
      let rows = try database.prepare(
        "SELECT count(*) FROM \(table.shape.table) WHERE \"#changed\" > ?\(hidden.and())")
      try rows.bind(1, end)
      guard try rows.step(), rows.int64(0) > 0 else { continue }
      report.add(.records, "the log ends before the newest changes of \(rows.int64(0)) rows of \(table.shape.table)")
    }
  }

  // MARK: The fold

  /// Makes a second store from the log and compares all tables.
  private mutating func compareFolded(_ catalogue: Catalogue, _ scratch: StorePlace) throws {
    let second = try StoreOpening.scratch(scratch)
    let follower = FollowerWriter(second, wanted: [], limits: StoreLimits())
    let log = try LogTable(database)
    log.span = span
    let head = try log.position().head
    while second.folded.position.head < head {
      guard let groups = try log.groups(after: second.folded.position.head, bytes: 1 << 20), !groups.isEmpty else {
        return report.add(.records, "the log cannot be folded again from offset \(second.folded.position.head) on")
      }
      for group in groups {
        do throws(StoreError) {
          _ = try follower.fold(group)
        } catch {
          return report.add(.records, "the group at offset \(group.first) cannot be folded again: \(error.message)")
        }
      }
    }
    report.wasFolded = true
    let horizon = second.folded.horizon
    for table in TableComparison.tables(catalogue, horizon, hidden) {
      if let difference = try table.difference(database, second.database) { report.add(.records, difference) }
    }
  }
}

extension Store {
  /// Verifies the store in `folder`, which no process may have open. The folder is left as it was found. `scratch` is
  /// an empty folder that may be written to.
  ///
  /// - Throws: `notFound` when there is no store, `locked` while it is in use, or what kept it from being read. Damage
  ///   is not an error but a finding.
  package static func check(folder: String, scratch: String) throws(StoreError) -> CheckReport {
    let place = StorePlace.folder(folder)
    guard place.holdsDatabase else { throw StoreError(.notFound, "there is no store at \(place.databasePath)") }
    let lock = try FolderLock(folder: folder)
    defer { lock.leaveAsFound() }
    return try StoreCheck.report(place, scratch: .folder(scratch))
  }

  /// Verifies a store on an imaginary disk.
  package static func check(_ files: MemoryFiles) throws(StoreError) -> CheckReport {
    try StoreCheck.report(.memory(files), scratch: .emptyMemory)
  }
}
