internal import MartletChangeFeed
internal import MartletModelSchema
internal import MartletSQLite
internal import MartletVocabulary

/// The one writer of a store: takes a group of writes into one durable transaction.
///
/// Confined to the writer's executor. Each write has a savepoint of its own, so that one failure does not fail its
/// group; what fails the disk fails the whole group, and nothing of it was acknowledged.
final class Writer {
  /// What one group became.
  struct Outcome {
    var results: [Result<Receipt, StoreError>] = []
    /// The group's changes; nil when nothing was changed.
    var batch: ChangeBatch?
    /// The store cannot go on.
    var failure: StoreError?
    /// Why nothing of the group was written, when that is no fault of its writes.
    var trouble: StoreError?
  }

  private let database: Database
  private var records: Records
  private let log: LogTable
  private let trimmer: LogTrimmer
  private var numbers: WriteNumbers
  private var coder: EntryCoder
  private let limits: StoreLimits
  private let clock: StoreClock
  private let files: DataFiles
  private let term: UInt64
  private let begin: Statement
  private let commit: Statement
  private let savepoint: Statement
  private let release: Statement
  private let rollbackTo: Statement

  private(set) var position: LogTable.Position
  private var entry = EntryWriter()
  /// Pages that were in the write-ahead log when the last checkpoint ended.
  private var checkpointedPages = 0
  /// Checkpoints that waited for a reader and gave up.
  private(set) var checkpointWaits = 0
  /// Set for good once the disk failed.
  private(set) var failure: StoreError?

  init(
    _ database: Database, _ shapes: [RecordShape], revision: Int64, term: UInt64, limits: StoreLimits,
    clock: StoreClock,
    files: DataFiles
  ) throws(SQLiteError) {
    self.database = database
    self.files = files
    self.limits = limits
    self.clock = clock
    self.term = term
    records = Records(shapes, on: database)
    log = try LogTable(database)
    numbers = try WriteNumbers(database, shapes)
    coder = EntryCoder(shapes, revision: revision)
    begin = try database.prepare("BEGIN IMMEDIATE")
    commit = try database.prepare("COMMIT")
    savepoint = try database.prepare("SAVEPOINT write")
    release = try database.prepare("RELEASE write")
    rollbackTo = try database.prepare("ROLLBACK TO write")
    position = try log.position()
    trimmer = try LogTrimmer(database, position, limits: limits)
  }

  /// Changes the folder to other models, in one durable transaction, and writes by them from then on. Nothing is dropped.
  func migrate(to wanted: [RecordShape], schema name: String) throws(StoreError) -> Store.Catalogued {
    if let failure { throw failure }
    do {
      try begin.run()
      let before = try Catalogue(reading: database)
      let plan = try MigrationPlan(from: before, to: wanted, dropping: false)
      if !plan.steps.isEmpty {
        var migrator = Migrator(database, before)
        try migrator.run(plan, schema: name, at: clock.milliseconds())
      }
      let catalogue = try Catalogue(reading: database)
      var shapes = wanted
      catalogue.number(&shapes)
      let numbers = try WriteNumbers(database, shapes)
      try commit.run()
      records = Records(shapes, on: database)
      self.numbers = numbers
      coder = EntryCoder(shapes, revision: catalogue.revision)
      return Store.Catalogued(shapes: shapes, revision: catalogue.revision)
    } catch {
      rollBack(to: position)
      throw (error as? StoreError) ?? Self.groupError(error)
    }
  }

  /// Runs the writes in order and makes them durable together.
  func run(_ requests: [WriteRequest]) -> Outcome {
    var outcome = Outcome()
    if let failure = failure ?? files.trouble() {
      outcome.results = requests.map { _ in .failure(failure) }
      outcome.trouble = failure
      return outcome
    }
    let before = position
    var changes: [Change] = []
    changes.reserveCapacity(requests.count)
    outcome.results.reserveCapacity(requests.count)
    let at = clock.milliseconds()
    do {
      try begin.run()
      for request in requests { outcome.results.append(try perform(request, at, &changes)) }
      try forget(at)
      try commit.run()
    } catch {
      rollBack(to: before)
      let failure = Self.groupError(error)
      outcome.results = requests.map { _ in .failure(failure) }
      outcome.trouble = failure
      if failure.code == .failed {
        self.failure = failure
        outcome.failure = failure
      }
      return outcome
    }
    if let first = changes.first, let last = changes.last {
      outcome.batch = ChangeBatch(
        changes: changes, firstOffset: first.offset, lastOffset: last.offset, term: term,
        byteCount: Int(position.total - before.total))
    }
    return outcome
  }

  // MARK: One write

  /// Runs one write inside its savepoint. Throws only what fails the whole group.
  private func perform(
    _ request: WriteRequest, _ at: Int64, _ changes: inout [Change]
  ) throws -> Result<Receipt, StoreError> {
    if let id = request.writeID, let known = try numbers.outcome(of: id) {
      switch known {
      case .success(let receipt): return .success(try filled(receipt))
      case .failure: return known
      }
    }
    try savepoint.run()
    let before = position
    let count = changes.count
    var outcome: Result<Receipt, StoreError>
    do {
      let transaction = openTransaction(request.operation, at)
      try apply(request.operation, transaction)
      outcome = .success(try seal(transaction, request.writeID, &changes))
    } catch {
      if let failure = error as? SQLiteError, failure.endsGroup { throw failure }
      position = before
      changes.removeLast(changes.count - count)
      try rollbackTo.run()
      outcome = .failure(Self.refusal(error))
    }
    if let id = request.writeID { try remember(outcome, id, at) }
    try release.run()
    return outcome
  }

  private func openTransaction(_ operation: WriteOperation, _ at: Int64) -> OpenTransaction {
    guard case .transaction = operation else {
      return OpenTransaction(at: at, largest: limits.transactionChanges)
    }
    let now = clock.now
    let deadline = now() + limits.transactionTime
    return OpenTransaction(at: at, largest: limits.transactionChanges) { now() > deadline }
  }

  private func apply(_ operation: WriteOperation, _ transaction: OpenTransaction) throws {
    switch operation {
    case .create(let model, let record):
      try records.create(model, record, in: transaction)
    case .update(let update):
      try records.update(update, in: transaction)
    case .delete(let model, let key, let condition, let version):
      try records.delete(model, key, condition: condition, expectedVersion: version, in: transaction)
    case .event(let topic, let payload):
      try transaction.append(.event(TopicEvent(topic: topic, payload: payload)))
    case .batch(let operations):
      for operation in operations { try apply(operation, transaction) }
    case .transaction(let body):
      let handle = WriteTransaction(records, transaction, database)
      let result = Result { try body(handle) }
      // The disk's failure counts even when the application's code has swallowed it.
      if let failure = handle.groupFailure { throw failure }
      try result.get()
      try transaction.checkTime()
    }
  }

  /// Gives the changes of a write their offsets, writes them to the log and makes the receipt.
  private func seal(
    _ transaction: OpenTransaction, _ id: WriteID?, _ changes: inout [Change]
  ) throws -> Receipt {
    let bodies = transaction.changes
    let first = position.head + 1
    var receipt = Receipt(writeID: id, outcomes: [], offsets: nil)
    receipt.outcomes.reserveCapacity(bodies.count)
    for (index, body) in bodies.enumerated() {
      let ends = index == bodies.count - 1
      let offset = position.head + 1
      entry.bytes.removeAll(keepingCapacity: true)
      try coder.write(body, endsTransaction: ends, into: &entry)
      let size = entry.bytes.count
      guard size <= limits.recordBytes else {
        throw StoreError(.invalid, "a change of \(size) bytes is larger than the limit of \(limits.recordBytes)")
      }
      position.total += Int64(size)
      try log.append(offset, at: transaction.at, total: position.total, entry: entry.bytes)
      position.head = offset
      changes.append(Change(offset: offset, endsTransaction: ends, body: body))
      receipt.outcomes.append(Receipt.Outcome(of: body))
    }
    if !bodies.isEmpty { receipt.offsets = first...position.head }
    return receipt
  }

  // MARK: Numbered writes

  private func remember(_ outcome: Result<Receipt, StoreError>, _ id: WriteID, _ at: Int64) throws {
    switch outcome {
    case .success: try numbers.remember(outcome, of: id, at: at)
    case .failure(let error): if error.code.isFinalRefusal { try numbers.remember(outcome, of: id, at: at) }
    }
  }

  /// A remembered receipt with the records' values, from the log while it has them.
  private func filled(_ receipt: Receipt) throws -> Receipt {
    guard let offsets = receipt.offsets, offsets.lowerBound >= position.first else { return receipt }
    var receipt = receipt
    var images: [Record] = []
    try log.read(after: offsets.lowerBound - 1) { offset, bytes in
      guard offset <= offsets.upperBound else { return false }
      if case .change(let change) = try coder.read(bytes, offset: offset), let record = change.record {
        images.append(record.image)
      }
      return true
    }
    receipt.fill(images)
    return receipt
  }

  // MARK: Forgetting and checkpoints

  /// Deletes a part of what is beyond retention, at least as much as the group wrote.
  private func forget(_ at: Int64) throws {
    try trimmer.trim(&position, at: at)
    try numbers.forgetIfDue(at: at, limits)
  }

  /// Whether something beyond retention is left for the next groups.
  var isForgetting: Bool { failure == nil && (trimmer.isBehind(position) || numbers.isBehind) }

  /// Looks for what is beyond retention and deletes a part of it, in a group without a write.
  func forgetNow() -> Outcome {
    trimmer.lookNow()
    numbers.lookNow()
    return run([])
  }

  /// Moves pages from the write-ahead log into the database once there are enough. Answers a failure of the disk.
  func checkpointIfDue() -> StoreError? {
    let pages = database.logPages
    if pages < checkpointedPages { checkpointedPages = 0 }  // the log has started over
    guard failure == nil, pages - checkpointedPages >= limits.checkpointPages else { return nil }
    return checkpoint(pages >= limits.largestLogPages ? .restart : .passive)
  }

  func checkpoint(_ mode: Database.CheckpointMode) -> StoreError? {
    do {
      let wait = Int32(clamping: limits.checkpointWait.wholeNanoseconds / 1_000_000)
      checkpointedPages = try database.checkpoint(mode, waiting: wait).logPages
      return nil
    } catch {
      // A full disk and a busy reader pass. A failed sync does not: what the system still holds is unknown.
      if error.code == .busy {
        // The next attempt comes after as many pages again, so that not every group waits for the same reader.
        checkpointWaits += 1
        checkpointedPages = database.logPages
        return nil
      }
      guard error.code != .diskFull else { return nil }
      failure = StoreError(.failed, "the disk failed during a checkpoint: \(error)")
      return failure
    }
  }

  /// Begins a copy that this connection's commits go into as well.
  func copy(into target: Database) throws(SQLiteError) -> DatabaseCopy {
    try DatabaseCopy(of: database, into: target)
  }

  // MARK: Failures

  private func rollBack(to before: LogTable.Position) {
    position = before
    trimmer.rollBack(to: before)
    if database.isInTransaction {
      // When even this fails the connection is of no more use, and the caller is about to learn it.
      do { try database.execute("ROLLBACK") } catch { failure = StoreError(error) }
    }
  }

  private static func groupError(_ error: any Error) -> StoreError {
    if let error = error as? SQLiteError {
      return error.code == .diskFull
        ? StoreError(error) : StoreError(.failed, "the disk failed during a commit: \(error)")
    }
    return StoreError(.failed, "\(error)")
  }

  private static func refusal(_ error: any Error) -> StoreError {
    if let error = error as? StoreError { return error }
    if let error = error as? SQLiteError { return StoreError(error) }
    return StoreError(.aborted, "\(error)")
  }
}
