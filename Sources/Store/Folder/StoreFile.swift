internal import MartletChangeFeed
internal import MartletModels
internal import MartletRuntime
internal import MartletSQLite
internal import MartletVocabulary

/// The tables of an open store, and how an entry of the log changes them: the part that an authority and a follower
/// share. Confined to the writer's executor.
///
/// Everything that must survive or be seen by another store is changed here and by an entry only, so that a store is
/// the fold of its log.
final class StoreFile {
  /// What the log's entries have made so far, besides the tables; restored when a group fails.
  struct Folded: Equatable {
    var position: LogTable.Position
    var horizon: Horizon
    var lineage: Lineage
  }

  let database: Database
  let log: LogTable
  let outcomes: OutcomeTable
  let tombstones: TombstoneTable
  let tree: TreeTable
  let deferred: DeferredTable
  let definitions: DefinitionTable
  /// Whether readers have to look for hidden rows.
  let stagings = Lock(Stagings())
  /// The rows of a large write that is being inserted.
  let hidden = HiddenRows()
  /// The models the tables are folded with.
  private(set) var shapes: [RecordShape] = []
  private(set) var catalogue: Catalogue
  private(set) var coder: EntryCoder
  /// Prepares records of the models that the tables are folded with.
  private(set) var drafter: RecordDrafter
  private(set) var records: RecordFold
  private(set) var folded: Folded
  /// The newest offset that may be in the file, from any thread. It is here before the commit that writes it, so that
  /// nothing that another connection reads, or a ring holds, is beyond it.
  let reached: Lock<Int64>
  /// The shapes of a schema of the store's own; nil folds with the catalogue's.
  private(set) var wanted: [RecordShape]?
  private let files: DataFiles
  private let begin: Statement
  private let commitStatement: Statement
  /// The horizon up to which no client and no tombstone has a row; nil when one may have.
  private var swept: Horizon?
  /// Pages that were in the write-ahead log when the last checkpoint ended.
  private var checkpointedPages = 0
  /// Checkpoints that waited for a reader and gave up.
  private(set) var checkpointWaits = 0
  /// Set for good once the disk failed.
  private(set) var failure: StoreError?

  /// The tables of a database that has been brought to the present format.
  init(_ database: Database, _ files: DataFiles, wanted: [RecordShape]?) throws {
    self.database = database
    self.files = files
    self.wanted = wanted
    log = try LogTable(database)
    outcomes = try OutcomeTable(database)
    tombstones = try TombstoneTable(database)
    tree = TreeTable(database)
    deferred = DeferredTable(database)
    definitions = DefinitionTable(database)
    catalogue = try Catalogue(reading: database)
    coder = EntryCoder([], revision: 0)
    drafter = RecordDrafter(generation: 0, [], coder)
    records = RecordFold(Records([], on: database), tombstones, coder.records, hidden)
    begin = try database.prepare("BEGIN IMMEDIATE")
    commitStatement = try database.prepare("COMMIT")
    folded = Folded(
      position: try log.position(), horizon: try log.horizon(), lineage: try LineageTable.read(database))
    reached = Lock(folded.position.head)
    use(catalogue)
  }

  /// Reads and writes with a catalogue from now on.
  private func use(_ catalogue: Catalogue) {
    self.catalogue = catalogue
    shapes = wanted ?? catalogue.shapes
    catalogue.number(&shapes)
    coder = EntryCoder(shapes, revision: catalogue.revision)
    drafter = RecordDrafter(generation: drafter.generation + 1, shapes, coder)
    records = RecordFold(Records(shapes, on: database, hidden), tombstones, coder.records, hidden)
  }

  // MARK: Transactions

  /// Begins a copy that this connection's commits go into as well.
  func copy(into target: Database) throws(SQLiteError) -> DatabaseCopy {
    try DatabaseCopy(of: database, into: target)
  }

  /// Runs `body` in one durable transaction, or takes everything back.
  ///
  /// - Throws: `filesGone`, `diskFull`, the error that `body` threw as a `StoreError`, or `failed` when the disk
  ///   failed; then the store takes no more.
  func transaction<Value>(_ body: () throws -> Value) throws(StoreError) -> Value {
    if let trouble = failure ?? files.trouble() { throw trouble }
    let before = folded
    let (catalogueBefore, wantedBefore, clientsBefore) = (catalogue, wanted, outcomes.countedClients)
    let spanBefore = log.span
    defer { database.releaseLargeValues() }
    do {
      try begin.run()
      let value = try body()
      try commitStatement.run()
      return value
    } catch {
      folded = before
      log.span = spanBefore
      swept = nil
      outcomes.countedClients = clientsBefore
      if catalogue != catalogueBefore { migrated(to: catalogueBefore, wanted: wantedBefore) }
      let failure = Self.groupError(error)
      if failure.code == .failed { self.failure = failure }
      rollBack()
      throw failure
    }
  }

  private func rollBack() {
    guard database.isInTransaction else { return }
    // When even this fails the connection is of no more use.
    do { try database.execute("ROLLBACK") } catch { failure = StoreError(error) }
  }

  private static func groupError(_ error: any Error) -> StoreError {
    switch error {
    case let error as SQLiteError where error.code == .diskFull: StoreError(error)
    case let error as SQLiteError where !error.endsGroup:
      StoreError(.diverged, "the log does not fit the records: \(error)")
    case let error as SQLiteError: StoreError(.failed, "the disk failed during a commit: \(error)")
    case let error as StoreError: error
    default: StoreError(.failed, "\(error)")
    }
  }

  /// Ends all writing: what was committed here and what others know of it may differ.
  func fail(_ error: StoreError) {
    failure = error
  }

  // MARK: Folding

  /// Folds one entry of a group written at `time`. An entry for the fold changes its tables; a change of a record is
  /// applied unless `applied` says that it has been.
  func fold(_ entry: LogEntry, at time: Int64) throws {
    switch entry.body {
    case .change(.record(let change)): try records.apply(change, at: time)
    case .change(.event): break
    case .change(.tree(let change)): try tree.apply(change)
    case .treeRest(let rest): try tree.add(rest)
    case .deferred(let entry): try deferred.fold(entry)
    case .definition(let definition): try definitions.fold(definition)
    case .outcome(let outcome):
      try outcomes.fold(outcome, offset: entry.offset, time: time, folded.horizon)
    case .outcomeRest(let rest): try outcomes.fold(rest, offset: entry.offset)
    case .term(let term):
      try LineageTable.fold(term, offset: entry.offset, on: database)
      folded.lineage = try LineageTable.read(database)
    case .schema(let change):
      var tables = CatalogueTables(database, catalogue)
      for step in change.steps { try tables.run(step, revision: change.revision) }
      try tables.finish(change, at: time)
      use(tables.catalogue)
    case .horizon(let horizon):
      try log.set(horizon)
      folded.horizon = horizon
    }
  }

  /// Takes over the catalogue of a migration that has been carried out on the tables.
  func migrated(to catalogue: Catalogue, wanted: [RecordShape]?) {
    self.wanted = wanted
    use(catalogue)
  }

  /// Folds with the catalogue's models from now on, as a store without decisions of its own does.
  func follow() {
    migrated(to: catalogue, wanted: nil)
  }

  /// Appends a group whose entries have been folded. Those of `coded`, when there are any, wait for their rows.
  func append(_ group: LogGroup, _ coded: CodedEntries = CodedEntries()) throws(SQLiteError) {
    if coded.isEmpty {
      try log.append(group, &folded.position)
    } else {
      let span = try log.append(coded, group, &folded.position)
      try StagingTable.commit(span, database)
      log.span = span
    }
    let head = folded.position.head
    reached.withLock { $0 = max($0, head) }
    // A horizon among the entries moves the beginning, which needs their rows.
    if folded.horizon.firstOffset > folded.position.first {
      try log.expire(before: folded.horizon.firstOffset, &folded.position)
    }
  }

  /// Writes a page of the write-ahead log and changes nothing by it.
  func probe() throws(SQLiteError) {
    // SQLite writes no page for a row that is replaced by an equal one.
    var other = folded.horizon
    other.firstOffset += 1
    try log.set(other)
    try log.set(folded.horizon)
  }

  // MARK: Housekeeping

  /// Whether the log has rows that have expired and can be deleted.
  var holdsExpiredEntries: Bool { log.span == nil && folded.position.firstRow < folded.position.firstKeptRow }

  /// Deletes a part of what has expired: as much as `limits` says, or twice what was written since `before`.
  func sweep(since before: LogTable.Position, _ limits: StoreLimits) throws(SQLiteError) {
    try sweep(beside: Int(folded.position.head - before.head), folded.position.total - before.total, limits)
  }

  /// Deletes a part of what has expired: as much as `limits` says, or twice what is written with it. It looks for
  /// clients and tombstones until none is left, and again once the horizon has moved.
  func sweep(beside entries: Int, _ written: Int64, _ limits: StoreLimits) throws(SQLiteError) {
    if log.span != nil { return }  // rows are missing that are counted on
    let count = Int64(max(limits.forgottenAtOnce, 2 * entries))
    let bytes = max(limits.forgottenBytesAtOnce, 2 * written)
    if holdsExpiredEntries { try log.sweep(&folded.position, count: count, bytes: bytes) }
    let horizon = folded.horizon
    if let swept, swept.clientsBefore == horizon.clientsBefore, swept.tombstonesBefore == horizon.tombstonesBefore,
      // What the group has written is as old as the group.
      folded.position.time >= max(horizon.clientsBefore, horizon.tombstonesBefore)
    {
      return
    }
    let clients = try outcomes.sweep(horizon, count: count)
    let deletions = try tombstones.sweep(horizon, count: count)
    swept = max(clients, deletions) < count ? horizon : nil
  }

  /// How far a checkpoint should go that is due now; nil while the write-ahead log has few pages.
  func dueCheckpoint(_ limits: StoreLimits) -> Database.CheckpointMode? {
    let pages = database.logPages
    if pages < checkpointedPages { checkpointedPages = 0 }  // the log has started over
    guard failure == nil, pages - checkpointedPages >= limits.checkpointPages else { return nil }
    return pages >= limits.largestLogPages ? .restart : .passive
  }

  /// Whether pages have been written to the write-ahead log since the last checkpoint.
  var holdsLogPages: Bool { failure == nil && database.logPages != checkpointedPages }

  /// A checkpoint of all pages so far begins on another connection.
  func checkpointBegins() {
    checkpointedPages = database.logPages
  }

  /// Moves pages from the write-ahead log into the database. Returns a failure of the disk.
  func checkpoint(_ mode: Database.CheckpointMode, _ limits: StoreLimits) -> StoreError? {
    do throws(SQLiteError) {
      let wait = Int32(clamping: limits.checkpointWait.wholeNanoseconds / 1_000_000)
      checkpointedPages = try database.checkpoint(mode, waiting: wait).logPages
      return nil
    } catch {
      if error.code == .busy {
        // The next attempt comes after as many pages again, so that not every group waits for the same reader.
        checkpointWaits += 1
        checkpointedPages = database.logPages
      }
      return checkpointFailed(error)
    }
  }

  /// Takes the failure of a checkpoint. A full disk and a busy reader pass. A failed sync does not, which is returned:
  /// what the system still holds is unknown.
  func checkpointFailed(_ error: SQLiteError) -> StoreError? {
    guard error.code != .busy, error.code != .diskFull else { return nil }
    failure = StoreError(.failed, "the disk failed during a checkpoint: \(error)")
    return failure
  }
}
