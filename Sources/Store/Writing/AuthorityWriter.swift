internal import MartletChangeFeed
internal import MartletModels
internal import MartletSQLite
internal import MartletVocabulary

/// Decides writes: conditions, conflicts, cascades, versions, offsets and what expires. Takes a group of writes into
/// one durable transaction over the store's file. Confined to the writer's executor.
///
/// Each write has a savepoint of its own, so that one failure does not fail its group; what fails the disk fails the
/// whole group, and nothing of it was acknowledged.
final class AuthorityWriter {
  /// The result of one group.
  struct Outcome {
    var results: [Result<Receipt, StoreError>] = []
    /// The group's changes; nil when it has no entries.
    var batch: ChangeBatch?
    /// The store cannot continue.
    var failure: StoreError?
    /// Why nothing of the group was written, when its writes are not the cause.
    var trouble: StoreError?
    /// Whether the store is no longer the log's authority and must follow it.
    var hasResigned = false
  }

  let file: StoreFile
  private let limits: StoreLimits
  private let clock: StoreClock
  private let term: UInt64
  private let ledger: any Ledger
  private var planner: RecordPlanner
  private var outcomeCoder: OutcomeCoder
  private let retention: Retention
  private let savepoint: Statement
  private let release: Statement
  private let rollbackTo: Statement
  private var builder: GroupBuilder
  /// The large write that is made in slices.
  let staging: Staging
  /// Changes that the writer has coded for the log, because no draft was given or it did not hold.
  private(set) var codedChanges = 0

  /// A writer over a file in which `term` has begun, as it has in `ledger`.
  init(
    _ file: StoreFile, _ ledger: any Ledger, term: UInt64, limits: StoreLimits, clock: StoreClock
  ) throws(SQLiteError) {
    self.file = file
    self.ledger = ledger
    self.limits = limits
    self.clock = clock
    self.term = term
    planner = RecordPlanner(file)
    outcomeCoder = OutcomeCoder(file.shapes)
    retention = Retention(file, limits)
    staging = Staging(file, limits)
    savepoint = try file.database.prepare("SAVEPOINT write")
    release = try file.database.prepare("RELEASE write")
    rollbackTo = try file.database.prepare("ROLLBACK TO write")
    builder = Self.builder(file, term, clock.milliseconds())
  }

  /// The next group of `term`. Its time is never before the last group's, whatever the clock says.
  private static func builder(_ file: StoreFile, _ term: UInt64, _ milliseconds: Int64) -> GroupBuilder {
    let position = file.folded.position
    return GroupBuilder(
      first: position.head + 1, term: term, time: max(milliseconds, position.time),
      checksumBefore: position.checksum.value)
  }

  /// Runs the writes in order and makes them durable together.
  func run(_ writes: [SubmittedWrite], probing: Bool = false) -> Outcome {
    if let failure = file.failure {
      return Outcome(results: writes.map { _ in .failure(failure) }, trouble: failure)
    }
    return group(of: writes.count) { outcome in
      outcome.results.reserveCapacity(writes.count)
      if probing { try file.probe() }
      builder.reserve(writes.count)
      for write in writes { outcome.results.append(try perform(write.request)) }
    }
  }

  /// Makes one group of what `body` appends, and says what it came to.
  private func group(of count: Int, _ body: (inout Outcome) throws -> Void) -> Outcome {
    var outcome = Outcome()
    let before = file.folded.position
    do throws(StoreError) {
      try commit {
        try body(&outcome)
        if file.log.span == nil, builder.coded.isEmpty, let horizon = try retention.next(at: builder.time) {
          try append(.horizon(horizon), endsTransaction: true)
        }
      }
    } catch {
      retention.lookAgain()
      outcome.hasResigned = error.code == .notAuthority || error.code == .outcomeUnknown
      outcome.results = Array(repeating: .failure(error), count: count)
      outcome.trouble = error
      if error.code == .failed { outcome.failure = error }
      return outcome
    }
    if !builder.isEmpty {
      outcome.batch = ChangeBatch(
        changes: builder.changes, firstOffset: builder.first, lastOffset: builder.next - 1, term: term,
        byteCount: Int(file.folded.position.total - before.total))
    }
    return outcome
  }

  /// Runs `body`, which fills the group in progress, and makes the group durable: in the ledger first, then here.
  ///
  /// - Throws: what `body` threw, `notAuthority` or `outcomeUnknown` from the ledger, or what failed here. Nothing was
  ///   changed here.
  private func commit(_ body: () throws -> Void) throws(StoreError) {
    let before = file.folded.position
    builder = Self.builder(file, term, staging.time ?? clock.milliseconds())
    var isInLedger = false
    do throws(StoreError) {
      try file.transaction {
        try body()
        if let group = builder.group(isWhole: false) { try file.append(group, builder.coded) }
        try file.sweep(since: before, limits)
        if let group = builder.group(isWhole: !ledger.isEmbedded) {
          // The last step before the commit: what fails from here on is in the ledger and not in the folder.
          try ledger.append(group, after: before.point, in: term).check()
          isInLedger = !ledger.isEmbedded
        }
      }
    } catch {
      guard isInLedger else { throw error }
      let failure = StoreError(.failed, "a group that is in the ledger could not be committed: \(error)")
      file.fail(failure)
      throw failure
    }
  }

  /// Changes the folder to other models with a group of its own, and writes by them from then on. Nothing is dropped.
  ///
  /// - Returns: the group, without visible changes, or nil when nothing differs but the models' positions; and what an
  ///   operator should repair.
  func migrate(
    to wanted: [RecordShape], schema name: String, text: String, allowsDuplicates: Bool
  ) throws(StoreError) -> (batch: ChangeBatch?, warnings: [String]) {
    // It is run again by the new models, in one piece.
    try staging.takeBack()
    let before = file.folded.position
    var warnings: [String] = []
    // Also after a failure, which brings the catalogue of before back.
    defer {
      planner = RecordPlanner(file)
      outcomeCoder = OutcomeCoder(file.shapes)
    }
    try commit {
      let check = RecordCheck(file.database, file.catalogue)
      try check.checkValues(wanted, since: file.wanted)
      let settled = try check.settleUniqueness(wanted, allowsDuplicates: allowsDuplicates)
      let wanted = settled.shapes
      warnings = settled.warnings
      let plan = try MigrationPlan(from: file.catalogue, to: wanted, dropping: false)
      if plan.steps.isEmpty, name.isEmpty || name == file.catalogue.schemaName {
        return file.migrated(to: file.catalogue, wanted: wanted)
      }
      var migrator = Migrator(file.database, file.catalogue)
      let (change, catalogue) = try migrator.run(plan, name: name, text: text, at: builder.time)
      try builder.append(.schema(change), endsTransaction: true, file.coder, limits)
      file.migrated(to: catalogue, wanted: wanted)
    }
    guard !builder.isEmpty else { return (nil, warnings) }
    let batch = ChangeBatch(
      changes: [], firstOffset: builder.first, lastOffset: builder.next - 1, term: term,
      byteCount: Int(file.folded.position.total - before.total))
    return (batch, warnings)
  }

  /// Appends an entry for the fold and folds it.
  private func append(_ body: EntryBody, endsTransaction: Bool) throws {
    let entry = try builder.append(body, endsTransaction: endsTransaction, file.coder, limits)
    try file.fold(entry, at: builder.time)
  }

  // MARK: A write in slices

  /// Begins to make a large write in slices; false for a write that has to be run in one piece.
  func stage(_ write: SubmittedWrite) -> Bool {
    guard write.request.size > limits.wholeWrite else { return false }
    return staging.begin(write, at: max(clock.milliseconds(), file.folded.position.time))
  }

  /// Inserts a slice, or commits the write when it was the last; nil while more is to be done.
  func continueStaging() -> Outcome? {
    guard let staged = staging.staged else { return nil }
    guard staging.isActive else {
      // Rows that a full disk kept from being removed.
      try? staging.end()
      return nil
    }
    do throws(StoreError) {
      if staged.isMoving {
        try staging.move()
        return nil
      }
      if !staged.isDoomed, !staged.isInserted {
        try staged.insertSlice()
        return nil
      }
      if staged.isDoomed {
        try staging.end()
        return run(staged.write.map { [$0] } ?? [])
      }
    } catch {
      let isRefused = !staged.isMoving
      if isRefused { staging.giveUp() }
      return Outcome(
        results: isRefused ? [.failure(error)] : [], failure: error.code == .failed ? error : nil, trouble: error)
    }
    let outcome = group(of: 1) { outcome in
      let outcomes = staged.complete(&builder)
      var receipt = Receipt(writeNumber: nil, outcomes: outcomes, offsets: builder.first...(builder.next - 1))
      receipt.time = builder.time
      outcome.results = [.success(receipt)]
    }
    staged.isOver = true
    if outcome.trouble == nil { staged.hasCommitted() } else { staging.giveUp() }
    return outcome
  }

  // MARK: One write

  /// Runs one write inside its savepoint. Throws only what fails the whole group.
  private func perform(_ request: WriteRequest) throws -> Result<Receipt, StoreError> {
    var acknowledged: Int64?
    if let id = request.writeNumber {
      switch try WriteJudge(file: file, limits: limits).judge(id, request, outcomeCoder) {
      case .answered(let receipt): return .success(try filled(receipt))
      case .refused(let error): return .failure(error)
      case .new(let number): acknowledged = number
      }
    }
    try savepoint.run()
    let mark = builder.mark
    let clients = file.outcomes.countedClients
    var outcome: Result<Receipt, StoreError>
    do {
      let transaction = openTransaction(request.operation)
      try apply(request.operation, transaction)
      outcome = .success(try seal(transaction, request.writeNumber, acknowledged))
    } catch {
      if let failure = error as? SQLiteError, failure.endsGroup { throw failure }
      builder.truncate(to: mark)
      try rollbackTo.run()
      file.outcomes.countedClients = clients
      let refusal = Self.refusal(error)
      outcome = .failure(refusal)
      if let id = request.writeNumber, let acknowledged,
        let result = outcomeCoder.refused(refusal, largestMessage: limits.refusalMessageBytes)
      {
        try append(WriteOutcome(id: id, acknowledged: acknowledged, result: result), endsTransaction: true)
      }
    }
    try release.run()
    return outcome
  }

  private func openTransaction(_ operation: WriteOperation) -> OpenTransaction {
    if case .series = operation { return OpenTransaction(at: builder.time, largest: .max, largestCascade: .max) }
    guard case .transaction = operation else {
      return OpenTransaction(
        at: builder.time, largest: limits.transactionChanges, largestCascade: limits.cascadeChanges)
    }
    let now = clock.now
    let deadline = now() + limits.transactionTime
    return OpenTransaction(
      at: builder.time, largest: limits.transactionChanges, largestCascade: limits.cascadeChanges
    ) { now() > deadline }
  }

  private func apply(_ operation: WriteOperation, _ transaction: OpenTransaction) throws {
    switch operation {
    case .create(let model, let record, let draft):
      try planner.create(model, record, draft, in: transaction)
    case .update(let update):
      try planner.update(update, in: transaction)
    case .delete(let model, let key, let condition, let version):
      try planner.delete(model, key, condition: condition, expectedVersion: version, in: transaction)
    case .event(let topic, let payload):
      try transaction.reserve()
      transaction.append(.event(TopicEvent(topic: topic, payload: payload)))
    case .batch(let operations):
      try apply(operations, transaction)
    case .transaction(let body), .work(let body), .series(let body):
      let handle = WriteTransaction(planner, transaction, file)
      let result = Result { try body(handle) }
      // The disk's failure counts even when the application's code has swallowed it.
      if let failure = handle.groupFailure { throw failure }
      try result.get()
      try transaction.checkTime()
    }
  }

  /// Applies operations in their order, records of one model that are created one after the other together.
  private func apply(_ operations: [WriteOperation], _ transaction: OpenTransaction) throws {
    var rest = operations[...]
    while let first = rest.first {
      let count = planner.countTogether(rest)
      if count > 1 {
        try planner.create(rest.prefix(count).compactMap(\.draft), in: transaction)
      } else {
        try apply(first, transaction)
      }
      rest = rest.dropFirst(max(1, count))
    }
  }

  /// Appends the entries of a write, its outcome first when it is numbered, and makes the receipt.
  private func seal(
    _ transaction: OpenTransaction, _ id: WriteNumber?, _ acknowledged: Int64?
  ) throws -> Receipt {
    let steps = transaction.steps
    var entries: [PreparedEntries] = []
    var outcomes: [Receipt.Outcome] = []
    entries.reserveCapacity(steps.count)
    outcomes.reserveCapacity(steps.count)
    for (index, step) in steps.enumerated() {
      if step.entry == nil { codedChanges += 1 }
      let prepared = try file.coder.prepared(
        step.body, coded: step.entry, endsTransaction: step.endsTransaction || index == steps.count - 1, limits)
      if case .change(let body) = step.body {
        for _ in 0..<prepared.count { outcomes.append(Receipt.Outcome(of: body)) }
      }
      entries.append(prepared)
    }
    var receipt = Receipt(writeNumber: id, outcomes: outcomes, offsets: nil)
    if let id, let acknowledged {
      let result = outcomeCoder.applied(receipt.outcomes)
      try append(
        WriteOutcome(id: id, acknowledged: acknowledged, result: result), endsTransaction: steps.isEmpty)
    }
    let first = builder.next
    for (index, step) in steps.enumerated() {
      try builder.append(
        step.body, as: entries[index], endsTransaction: step.endsTransaction || index == steps.count - 1, file.coder,
        limits)
    }
    if !steps.isEmpty { receipt.offsets = first...(builder.next - 1) }
    receipt.time = builder.time
    return receipt
  }

  // MARK: Numbered writes

  /// Appends the outcome of a numbered write, in as many entries as it takes: it names every changed record, or the key
  /// of the record that stood in the way.
  private func append(_ outcome: WriteOutcome, endsTransaction: Bool) throws {
    // Each entry has the write's names and numbers as well.
    let names = outcome.id.identity.utf8.count + outcome.id.client.utf8.count + 64
    let parts = outcome.split(max(1, limits.outcomeBytes - names))
    for (index, part) in parts.enumerated() {
      try append(part, endsTransaction: endsTransaction && index == parts.count - 1)
    }
  }

  /// A remembered receipt with the records' values, from the log while it has them.
  private func filled(_ receipt: Receipt) throws -> Receipt {
    guard let offsets = receipt.offsets, offsets.lowerBound >= file.folded.position.first else { return receipt }
    var receipt = receipt
    var images: [Record] = []
    func add(_ bytes: [UInt8], _ offset: Int64, _ time: Int64) throws {
      receipt.time = time
      if case .change(let change) = try file.coder.read(bytes, offset: offset, at: time), let record = change.record {
        images.append(record.image)
      }
    }
    if offsets.lowerBound >= builder.first {
      // The write and its resend are in one group, whose rows are not written yet.
      for offset in offsets { if let bytes = builder.bytes(at: offset) { try add(bytes, offset, builder.time) } }
    } else {
      try file.log.read(after: offsets.lowerBound - 1) { row in
        guard row.offset <= offsets.upperBound else { return false }
        try add(row.entry, row.offset, row.time)
        return true
      }
    }
    receipt.fill(images)
    return receipt
  }

  // MARK: Care

  /// Whether rows have expired that are still there.
  var isForgetting: Bool { file.failure == nil && file.holdsExpiredEntries }

  /// Looks for what is beyond retention and deletes a part of it, without a write.
  ///
  /// - Parameter probing: Whether something is written in any case, because the last group found a full disk.
  func forgetNow(probing: Bool) -> Outcome {
    retention.lookAgain()
    return run([], probing: probing)
  }

  private static func refusal(_ error: any Error) -> StoreError {
    if let error = error as? StoreError { return error }
    if let error = error as? SQLiteError { return StoreError(error) }
    return StoreError(.aborted, "\(error)")
  }
}
