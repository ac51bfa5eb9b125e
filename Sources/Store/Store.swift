package import MartletChangeFeed
package import MartletModelSDL
internal import MartletModels
internal import MartletRuntime
internal import MartletSQLite
package import MartletVocabulary

/// The durable home of records and of the log of their changes.
///
/// A store is the fold of its log. An authority decides writes and logs what they did; a follower is fed the groups of
/// another store's log and answers reads, resumptions and resends as that store does.
///
/// One writer takes what has queued since its last commit into one durable transaction; then each destination is called
/// once, with the batch of changes and the completions of its own writes. Readers have connections and executors of
/// their own and never wait for the writer. From any thread, unless said otherwise.
package final class Store: Sendable {
  /// What was declared when the store was opened, by kind and name.
  package let definitionsAtOpening: [String: [(name: String, body: [UInt8])]]
  /// The models as the folder numbers them.
  package var shapes: [RecordShape] { served.withLock { $0 } }
  let served: Lock<[RecordShape]>
  private let drafter: Lock<RecordDrafter>
  package let limits: StoreLimits
  /// The newest batches, for members that catch up.
  package let recent: RecentBatches
  let place: StorePlace
  let clock: StoreClock
  private let measured = Lock(StoreMeasures())
  let state: Lock<StoreState>
  private let deliveries: Deliveries
  private let backups: BackupRequests
  private let seat: Confined<StoreSeat>
  /// On the writer's executor.
  var writer: StoreWriter { seat.value.writer }
  let executor: any StoreExecutor
  let readers: [StoreReader]
  private let checkpoints: Checkpoints
  private let lock: Lock<FolderLock?>
  let onFailure: @Sendable (StoreError) -> Void
  private let troubles: StoreTroubles
  /// Damage of the log that reads have met.
  package let damages: LogDamages

  /// Opens the data at `place` as its authority: creates or migrates it, and begins a new term.
  ///
  /// - Throws: `locked`, `newerFormat`, `migration` or `failed`, with the reason and the remedy in the message.
  package convenience init(_ place: StorePlace, shapes: [RecordShape], options: StoreOptions) throws(StoreError) {
    let opening = try StoreOpening(authority: place, shapes, options)
    do throws(SQLiteError) {
      let writer = try AuthorityWriter(
        opening.file, opening.ledger ?? EmbeddedLedger(opening.file), term: options.term, limits: options.limits,
        clock: options.clock)
      try self.init(place, opening, .authority(writer), opening.file.shapes, options)
    } catch {
      throw StoreError(error)
    }
  }

  /// Opens the data at `place`, creating it, to follow another store's log with `fold`. `shapes` are those of this
  /// process's own schema; reads are refused with `migration` while they do not fit the data.
  ///
  /// - Throws: `locked`, `newerFormat` or `failed`.
  package convenience init(
    following place: StorePlace, shapes: [RecordShape], options: StoreOptions
  ) throws(StoreError) {
    let opening = try StoreOpening(follower: place, options)
    let writer = FollowerWriter(opening.file, wanted: shapes, limits: options.limits)
    do throws(SQLiteError) {
      try self.init(place, opening, .follower(writer), shapes, options)
    } catch {
      throw StoreError(error)
    }
  }

  private init(
    _ place: StorePlace, _ opening: StoreOpening, _ writer: StoreWriter, _ shapes: [RecordShape],
    _ options: StoreOptions
  ) throws(SQLiteError) {
    self.place = place
    definitionsAtOpening = ["namespace": (try? opening.file.definitions.all("namespace")) ?? []]
    served = Lock(shapes)
    drafter = Lock(opening.file.drafter)
    (limits, clock) = (options.limits, options.clock)
    recent = RecentBatches(bytes: options.limits.ringBytes)
    (executor, onFailure, troubles) = (options.writer, options.onFailure, StoreTroubles(options.onTrouble))
    lock = Lock(opening.lock)
    seat = Confined(StoreSeat(writer, options.limits))
    state = Lock(StoreState(queue: WriteQueue(options.limits)))
    deliveries = Deliveries(opening.file)
    backups = BackupRequests(place)
    damages = LogDamages(reported: options.limits.reportedDamages, options.onDamage)
    readers = try StoreReader.open(place, shapes, options, damages, opening.file.stagings)
    checkpoints = try Checkpoints(place, options)
  }

  /// Opens the data of a schema's models.
  package convenience init(_ place: StorePlace, schema: ModelSchema, options: StoreOptions) throws(StoreError) {
    var options = options
    options.schemaName = String(schema.version, radix: 16)
    try self.init(place, shapes: RecordShape.shapes(of: schema), options: options)
  }

  // MARK: Writing

  /// Queues writes together, in order: the writer takes them into one group, or as few as a group's bound allows. A
  /// large write is a group of its own, and small ones can pass it (`WriteQueue`). Each completion runs where
  /// `destination` runs completions, after its write is durable and its batch has been delivered, or with the reason
  /// why nothing was changed.
  package func commit(_ writes: [StoreSubmission], to destination: any StoreDestination) {
    queue(writes.map { SubmittedWrite($0.request, destination, $0.completion) }, of: destination)
  }

  private func queue(_ writes: [SubmittedWrite], of destination: any StoreDestination) {
    var refused: [@Sendable () -> Void] = []
    let isDue: Bool = state.withLock { state in
      for write in writes {
        guard let error = state.take(write, limits) else { continue }
        refused.append { write.completion(.failure(error)) }
      }
      return state.schedule()
    }
    if isDue { executor.execute { [self] in drain() } }
    if !refused.isEmpty { destination.deliver(StoreDelivery(batch: nil, completions: refused)) }
  }

  /// Queues one write.
  package func commit(
    _ request: WriteRequest, to destination: any StoreDestination,
    completion: @escaping @Sendable (Result<Receipt, StoreError>) -> Void
  ) {
    queue([SubmittedWrite(request, destination, completion)], of: destination)
  }

  /// Queues one write whose completion runs on the writer.
  package func commit(
    _ request: WriteRequest, completion: @escaping @Sendable (Result<Receipt, StoreError>) -> Void
  ) {
    commit(request, to: DirectDestination(), completion: completion)
  }

  /// The same operation with all records that it creates checked and coded for the log, which the writer need not do
  /// then. For large writes, before they are queued. From any thread.
  package func drafted(_ operation: WriteOperation) -> WriteOperation {
    drafter.withLock { $0 }.drafted(operation)
  }

  /// Commits one group and asks for the next. On the writer.
  private func drain() {
    let isFree = writer.staging?.isWorking != true
    let group = state.withLock { $0.next(takesLarge: isFree) }
    if !group.isEmpty { write(group) }
    continueStaging()
    seat.value.retired.shed()
    checkpoint()
    let remains = writer.staging?.isWorking == true
    let continues = state.withLock { $0.schedule(remains) }
    if continues { executor.execute { [self] in drain() } }
  }

  private func write(_ group: [SubmittedWrite]) {
    switch writer {
    case .authority(let writer):
      if group.count == 1, writer.stage(group[0]) { return }
      let began = clock.now()
      deliver(writer.run(group), to: group, since: began)
    case .follower:
      handOut(AuthorityWriter.Outcome(results: group.map { _ in .failure(.following) }), to: group)
    }
  }

  /// Inserts a slice of a large write; with the last one it is committed. On the writer.
  private func continueStaging() {
    guard case .authority(let writer) = writer, let staged = writer.staging.staged else { return }
    let (write, began) = (staged.write, clock.now())
    guard let outcome = writer.continueStaging() else { return }
    deliver(outcome, to: outcome.results.isEmpty ? [] : write.map { [$0] } ?? [], since: began)
  }

  /// Follows the log from now on: another node may be its authority, or it may hold a group that is not here. On the
  /// writer.
  func resign() {
    let (file, write) = (writer.file, writer.staging?.abandon())
    if let write { deliver(AuthorityWriter.Outcome(results: [.failure(.following)]), to: [write]) }
    seat.value.writer = .follower(FollowerWriter(file, wanted: shapes, limits: limits))
    file.follow()
  }

  /// Why the last group was not written: a full disk, missing data files, a disk that failed. Nil when it was.
  package var trouble: StoreError? { troubles.present }

  /// What the writer has measured so far.
  package var measures: StoreMeasures { measured.withLock { $0 } }

  /// The present moment by the clock that commits are dated with.
  package var moment: Instant { clock.now() }

  /// The newest offset at which the log is known to be damaged, while cursors can lead to it.
  package var damagedOffset: Int64? { damages.newest(since: position.firstRetained) }

  /// Groups that a full disk refused.
  package var fullDisks: Int { troubles.fullDisks }

  func checkpoint() { checkpoints.run(writer.file, isFull: trouble?.code == .diskFull) }

  /// Hands out what an attempt to write came to, and measures one of writes, which began at `began`.
  func deliver(_ outcome: AuthorityWriter.Outcome, to group: [SubmittedWrite], since began: Instant? = nil) {
    if let began {
      let time = clock.now() - began
      measured.withLock { $0.note(writes: group.count, took: time) }
    }
    if outcome.hasResigned { resign() }
    troubles.note(outcome.trouble)
    handOut(outcome, to: group)
  }

  /// Makes the state of the writer's file the one that others see, and hands out one group.
  private func handOut(_ outcome: AuthorityWriter.Outcome, to group: [SubmittedWrite]) {
    if let failure = outcome.failure { onFailure(failure) }
    if let batch = outcome.batch { seat.value.retired.add(recent.append(batch)) }
    let file = writer.file
    drafter.withLock { if $0.generation != file.drafter.generation { $0 = file.drafter } }
    deliveries.handOut(outcome.batch, file.folded, group, outcome.results, clock)
  }

  // MARK: Another store's groups

  /// Folds the next group of the log that this store follows. `completion` runs on the writer, after the group is
  /// durable and its changes have been delivered.
  ///
  /// A group that has been folded before changes nothing. One that does not continue this log is refused as
  /// `diverged`, a damaged or incomplete one as `damaged`, and any for an authority as `invalid`.
  package func fold(
    _ group: [UInt8], completion: @escaping @Sendable (Result<LogPosition, StoreError>) -> Void
  ) {
    if state.withLock({ $0.isClosed }) { return completion(.failure(StoreError(.closed, "the store is closed"))) }
    executor.execute { [self] in
      guard case .follower(let writer) = writer else {
        return completion(.failure(StoreError(.invalid, "an authority folds no groups of others")))
      }
      do throws(StoreError) {
        let batch = try writer.fold(try LogGroup(bytes: group))
        deliver(AuthorityWriter.Outcome(batch: batch), to: [])
        checkpoint()
        completion(.success(position))
      } catch {
        if error.code == .failed { onFailure(error) }
        completion(.failure(error))
      }
    }
  }

  // MARK: Following

  /// Registers a destination for the batches of all later groups and answers the position they follow.
  ///
  /// Every batch from the answered head on reaches it, in order, without a hole.
  @discardableResult
  package func register(_ destination: any StoreDestination) -> LogPosition {
    deliveries.register(destination)
  }

  /// Ends a registration. A batch that is on its way may still arrive.
  package func unregister(_ destination: any StoreDestination) { deliveries.unregister(destination) }

  /// Where the log stands, as of the last delivered group.
  package var position: LogPosition { deliveries.position }

  /// The newest offset that anyone can know of: `position.head`, or that of a group which is being committed or handed
  /// out. A cursor up to here is one of this log.
  package var reachedOffset: Int64 { deliveries.reachedOffset }

  /// The terms of the log, as of the last delivered group.
  package var lineage: Lineage { deliveries.lineage }

  // MARK: Reading

  /// Runs a list of reads: the short ones in one snapshot with their completions handed over together, each list by
  /// itself, in slices and after short reads.
  package func read(_ requests: [ReadRequest], to destination: any StoreDestination) {
    let isClosed = state.withLock { $0.isClosed }
    StoreReader.dispatch(requests, among: isClosed ? [] : readers, until: clock.now() + limits.readTime, destination) {
      isClosed
        ? StoreError(.closed, "the store is closed")
        : StoreError(.overloaded, "more than \(limits.queuedReads) lists of reads are waiting")
    }
  }

  /// What the readers have done so far: lists of short reads, slices of lists, and rows that SQLite returned.
  package var readCounts: (reads: Int, slices: Int, rows: Int) {
    readers.reduce(into: (reads: 0, slices: 0, rows: 0)) { sum, reader in
      let counts = reader.counts
      sum = (sum.reads + counts.reads, sum.slices + counts.slices, sum.rows + counts.rows)
    }
  }

  // MARK: Care

  /// Changes that the writer has coded for the log, and statements that it has run. On the writer; for tests.
  package var writerCounts: (coded: Int, statements: Int) { writer.counts }

  /// Checkpoints that gave up waiting for a reader. On the writer; for tests.
  package var checkpointWaits: Int { writer.file.checkpointWaits }

  /// Deletes what is beyond retention, also when nothing is written. Call it from time to time.
  ///
  /// Deletes in parts, each a group of its own; writes that wait are committed between them.
  package func maintain() {
    executor.execute { [self] in forget() }
  }

  private func forget() {
    guard case .authority(let writer) = writer else { return }
    let outcome = writer.forgetNow(probing: trouble?.code == .diskFull)
    deliver(outcome, to: [])
    checkpoint()
    let isOpen = state.withLock { !$0.isClosed }
    if isOpen && !outcome.hasResigned && writer.isForgetting { executor.execute { [self] in forget() } }
    if writer.staging.isStuck { continueStaging() }
  }

  /// Copies the whole store, while reads and writes continue, into a folder or disk that holds no store yet.
  ///
  /// The copy ends under any load, takes no long snapshot, and is the state after the last group before its end.
  /// `isWanted` is asked between steps. `completion` runs on the writer; what it got is not yet synced to the disk. A
  /// store opened on the copy begins a term of its own: clients that have seen more than the copy holds get one gap.
  ///
  /// - Throws: nothing; fails with `alreadyExists` when there is a store at `target`, or with what failed.
  package func backup(
    to target: StorePlace, isWanted: @escaping @Sendable () -> Bool = { true },
    completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
  ) {
    executor.execute { [self] in
      let isOpen: @Sendable () -> Bool = { [self] in !state.withLock { $0.isClosed } && isWanted() }
      StoreCopy.begin(of: writer.file, in: target, limits, isWanted: isOpen, completion, on: executor)
    }
  }

  /// Serves a request of another process for a backup, if there is one. Call it about once a second.
  package func serveBackupRequest() {
    executor.execute { [self] in backups.serve { backup(to: $0, isWanted: $1, completion: $2) } }
  }

  /// Takes no more work, finishes what is queued and ends the executors. Not from one of them.
  package func close() {
    state.withLock { $0.isClosed = true }
    executor.stop()
    checkpoints.stop()
    for reader in readers { reader.stop() }
    lock.withLock { $0 = nil }
  }
}
