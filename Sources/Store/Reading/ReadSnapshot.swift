package import MartletChangeFeed
package import MartletJSON
package import MartletModels
internal import MartletRuntime
internal import MartletSQLite

/// What a read sees: records and log at one moment, however long it looks. Valid during the read only.
package final class ReadSnapshot {
  let database: Database
  private var shapes: [RecordShape]
  private(set) var records: Records
  let log: LogTable
  let trees: TreeTable
  private(set) var coder: EntryCoder
  let limits: StoreLimits
  private let damages: LogDamages
  private let stagings: Lock<Stagings>
  /// The rows of a large write that has not been committed yet.
  let hidden = HiddenRows()
  /// By the number of a model that was dropped, the model of the same name that is there again.
  private var successors: [Int: Int] = [:]
  /// The catalogue's revision that `records` and `coder` are made for; nil before the first read.
  private var revision: Int64?

  init(
    _ database: Database, _ shapes: [RecordShape], limits: StoreLimits, _ damages: LogDamages,
    _ stagings: Lock<Stagings>
  ) throws(SQLiteError) {
    self.damages = damages
    self.stagings = stagings
    self.database = database
    self.shapes = shapes
    self.limits = limits
    records = Records(shapes, on: database, hidden)
    log = try LogTable(database)
    trees = TreeTable(database)
    coder = EntryCoder(shapes, revision: 0)
  }

  /// Reads with the catalogue of the transaction that has begun. Its first query also takes the snapshot: a deferred
  /// transaction has none before.
  private func follow() throws {
    let rows = try database.statement("SELECT max(revision) FROM martlet_revisions")
    defer { rows.reset() }
    let newest = try rows.step() ? rows.int64(0) : 0
    guard newest != revision else { return }
    let catalogue = try Catalogue(reading: database)
    if let misfit = catalogue.misfit(shapes) {
      revision = nil
      throw StoreError(.migration, "the schema does not fit the data yet: \(misfit)")
    }
    var shapes = shapes
    catalogue.number(&shapes)
    records = Records(shapes, on: database, hidden)
    coder = EntryCoder(shapes, revision: newest)
    successors = catalogue.dropped.compactMapValues { name in
      shapes.first { $0.name.utf8.elementsEqual(name.utf8) }?.model
    }
    revision = newest
  }

  /// Hides the rows of a large write that is not committed in the snapshot that was taken, and finds the entries of one
  /// that is.
  private func followStaging(_ before: Stagings) throws {
    let isPossible = before.isPending || stagings.withLock { $0 } != before
    let state = isPossible ? try StagingTable.state(database) : .none
    if case .inserting(let number) = state { hidden.hide(number) } else { hidden.show() }
    log.span = state.span
  }

  /// Reads by other models from now on.
  func adopt(_ shapes: [RecordShape]) {
    self.shapes = shapes
    revision = nil
  }

  // MARK: Records

  /// The record with a key, if there is one.
  package func get(_ model: Int, _ key: RecordKey) throws(StoreError) -> StoredRecord? {
    try typed { try records.table(model).get(key) }
  }

  /// The records with these keys in one statement, in the keys' order; nil where there is none.
  package func get(_ model: Int, keys: [RecordKey]) throws(StoreError) -> [StoredRecord?] {
    try typed { try ListReader(records, database).get(model, keys) }
  }

  /// A page of records.
  package func list(_ query: ListQuery) throws(StoreError) -> ListPage {
    try typed { try lists.list(query) }
  }

  /// The first page of children of each parent, in the parents' order; in one statement for 64 parents when an index
  /// has the order and there is no filter.
  package func children(_ query: ChildrenQuery) throws(StoreError) -> [ListPage] {
    try typed {
      var scan = try lists.scan(query)
      while !scan.isFinished { try scan.advance(.max / 2, on: database) }
      return scan.pages
    }
  }

  private var lists: ListReader {
    ListReader(records, database, ListBounds(limits))
  }

  // MARK: Slices

  /// Begins a list that is read in slices, each in a snapshot of its own.
  func scan(_ query: ListQuery) throws(StoreError) -> ListScan { try typed { try lists.scan(query) } }

  func scan(_ query: ChildrenQuery) throws(StoreError) -> ChildrenScan { try typed { try lists.scan(query) } }

  /// Reads a slice of a list.
  func advance(_ scan: inout ListScan, rows: Int) throws(StoreError) {
    _ = try typed { try scan.advance(rows, on: database) }
  }

  func advance(_ scan: inout ChildrenScan, rows: Int) throws(StoreError) {
    try typed { try scan.advance(rows, on: database) }
  }

  // MARK: The log

  /// The newest offset this snapshot contains: changes after it are not in the records it shows.
  package func head() throws(StoreError) -> Int64 {
    try typed { try log.position().head }
  }

  /// The oldest offset that is kept; one past the head of an empty log.
  package func firstRetained() throws(StoreError) -> Int64 {
    try typed { try log.position().first }
  }

  /// The changes after `offset`, in whole transactions, until `changes` or `bytes` is reached.
  ///
  /// Changes of models that are gone are left out: they have no subscribers, unless a model of that name is there
  /// again, which the range says. An entry that cannot be read, is not what was written or is missing ends the range
  /// before its transaction. `written` is an offset that the caller knows to
  /// have been written, so that a log without its end is not taken for one without news.
  package func log(
    after offset: Int64, changes largest: Int = 1_024, bytes: Int = 1 << 20, written: Int64 = 0
  ) throws(StoreError) -> LogRange {
    do throws(StoreError) {
      let range = try range(after: offset, changes: largest, bytes: bytes, written)
      if case .damaged(let place, let reason) = range { damages.note(LogDamage(offset: place, reason: reason)) }
      return range
    } catch {
      // What cannot be read at all will not be readable later either.
      if !error.isRetryable { damages.note(LogDamage(offset: offset &+ 1, reason: error.message)) }
      throw error
    }
  }

  private func range(
    after offset: Int64, changes largest: Int, bytes: Int, _ written: Int64
  ) throws(StoreError) -> LogRange {
    try typed {
      let position = try log.position()
      // The offset may be one that a caller made up: nothing is added to it before it is known to be in the log.
      guard offset <= position.head || offset < written else { return .gap(.beyondTerm) }
      guard offset + 1 >= position.first else { return .gap(.retention) }
      var found: [Change] = []
      var size = 0
      var next = offset + 1
      var last = (offset: offset, count: 0)
      var (lost, losing): ([Int: Int64], [Int: Int64]) = ([:], [:])
      var damage: String?
      try log.read(after: offset) { row in
        let entry = row.entry
        do {
          guard row.offset == next else {
            throw StoreError(.failed, Self.missing(next, row.offset - 1))
          }
          // The reader's reason comes first: it is what an operator can look for.
          let body = try coder.read(entry, offset: row.offset, at: row.time)
          guard row.isIntact else { throw StoreError(.damaged, "log entry \(row.offset) is not what was written") }
          switch body {
          case .change(let change): found.append(change)
          case .rest(let rest):
            try found.join(rest, offset: row.offset, endsTransaction: EntryCoder.endsTransaction(entry))
          case .unknownModel(let number): if let model = successors[number] { losing[model] = row.offset }
          // Entries that only the fold sees match no subscription.
          case .invisible: break
          }
        } catch {
          damage = "\(error)"
          return false
        }
        next += 1
        size += entry.count
        let isEnd = EntryCoder.endsTransaction(entry)
        if isEnd {
          // The transaction's last entries may be ones that subscribers cannot see.
          if found.count > last.count { found[found.count - 1] = found[found.count - 1].marked(endsTransaction: true) }
          last = (row.offset, found.count)
          lost = losing
        }
        return !(isEnd && (found.count >= largest || size >= bytes))
      }
      if damage == nil, position.head < written { damage = Self.missing(next, written) }
      if let damage, last.offset == offset { return .damaged(at: next, damage) }
      return .changes(Array(found.prefix(last.count)), through: last.offset, head: position.head, lost: lost)
    }
  }

  private static func missing(_ first: Int64, _ last: Int64) -> String {
    "log entries \(first) to \(last) are missing"
  }

  // MARK: Counters and plans

  /// Statements started on this connection so far; tests count with it.
  package var startedStatements: Int { database.startedStatements }
  /// Rows read on this connection so far; tests count with it.
  package var readRows: Int { database.readRows }

  /// SQLite's plan for each statement that a page may need: the first page, or the one after `values`.
  package func plan(_ query: ListQuery, behind values: [JSONValue]? = nil) throws(StoreError) -> [[String]] {
    try typed {
      let table = try records.table(query.model)
      return try ListScan.statements(query, behind: values, table).map { try database.queryPlan($0) }
    }
  }

  func typed<Value>(_ body: () throws -> Value) throws(StoreError) -> Value {
    do {
      return try body()
    } catch {
      if let error = error as? SQLiteError { throw StoreError(error) }
      throw (error as? StoreError) ?? StoreError(.failed, "\(error)")
    }
  }

  /// Runs one list of reads in one read transaction.
  func transaction(_ body: () -> Void) throws(StoreError) {
    defer { database.releaseLargeValues() }
    do {
      // Before the snapshot and after it: when none was under way at both times, and it is the same one that was last,
      // nothing of a large write is in the snapshot that is not in its place.
      let before = stagings.withLock { $0 }
      try database.statement("BEGIN").run()
      try follow()
      try followStaging(before)
      body()
      try database.statement("COMMIT").run()
    } catch {
      if database.isInTransaction { try? database.execute("ROLLBACK") }
      throw (error as? SQLiteError).map { StoreError($0) } ?? (error as? StoreError) ?? StoreError(.failed, "\(error)")
    }
  }

  /// Runs one read under its deadline.
  func withDeadline<Value>(_ expired: @escaping () -> Bool, _ body: () -> Value) -> Value {
    database.withDeadline(expired, body)
  }
}

/// What the log has after an offset.
package enum LogRange: Sendable {
  /// Changes in order, in whole transactions; the last offset that was read for them, which may be an entry that
  /// subscribers do not see; and the snapshot's head. Empty when there is nothing new to see. `lost` has the models
  /// that were dropped and are there again, with the newest offset of a change of theirs from before.
  case changes([Change], through: Int64, head: Int64, lost: [Int: Int64])
  /// The transaction after the offset has an entry that cannot be read, or lacks one: which, and what was wrong.
  case damaged(at: Int64, String)
  /// What came after the offset is no longer known.
  case gap(GapReason)
}
