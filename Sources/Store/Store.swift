package import MartletChangeFeed
package import MartletModelSchema
internal import MartletRuntime
internal import MartletSQLite
package import MartletVocabulary

/// The durable home of records and of the log of their changes.
///
/// One writer takes what has queued since its last commit into one durable transaction; then each destination is called
/// once, with the batch of changes and the completions of its own writes. Readers have connections and executors of
/// their own and never wait for the writer. From any thread, unless said otherwise.
package final class Store: Sendable {
  struct PendingWrite: Sendable {
    var request: WriteRequest
    var destination: any StoreDestination
    var completion: @Sendable (Result<Receipt, StoreError>) -> Void
  }

  struct State {
    var queue: [PendingWrite] = []
    /// Whether a drain was given to the writer and has not begun.
    var isScheduled = false
    var isClosed = false
    /// Whether a backup that another process asked for is running.
    var isCopying = false
    /// Why the last group was not written.
    var trouble: StoreError?
    /// Groups that a full disk refused.
    var fullDisks = 0
    var destinations: [any StoreDestination] = []
    var position: LogPosition
  }

  /// The folder's models and the revision of its catalogue.
  struct Catalogued: Sendable {
    var shapes: [RecordShape]
    var revision: Int64
  }

  /// The models as the folder numbers them.
  package var shapes: [RecordShape] { catalogued.withLock { $0.shapes } }
  let catalogued: Lock<Catalogued>
  package let lineage: Lineage
  package let limits: StoreLimits
  /// The newest batches, for members that catch up.
  package let recent: RecentBatches
  let place: StorePlace
  let clock: StoreClock
  let state: Lock<State>
  let writer: Confined<Writer>
  let executor: any StoreExecutor
  let readers: [Reader]
  private let lock: Lock<FolderLock?>
  private let onFailure: @Sendable (StoreError) -> Void
  private let onTrouble: @Sendable (StoreError?) -> Void

  /// Opens the data at `place`, creates or migrates it, and begins a new term.
  ///
  /// - Throws: `locked`, `newerFormat`, `migration` or `failed`, with the reason and the remedy in the message.
  package init(_ place: StorePlace, shapes: [RecordShape], options: StoreOptions) throws(StoreError) {
    let opening = try StoreOpening(place, shapes, options)
    self.place = place
    catalogued = Lock(Catalogued(shapes: opening.shapes, revision: opening.revision))
    lineage = opening.lineage
    limits = options.limits
    clock = options.clock
    recent = RecentBatches(bytes: options.limits.ringBytes)
    executor = options.writer
    onFailure = options.onFailure
    onTrouble = options.onTrouble
    lock = Lock(opening.lock)
    do throws(SQLiteError) {
      let writer = try Writer(
        opening.database, opening.shapes, revision: opening.revision, term: options.term, limits: options.limits,
        clock: options.clock, files: DataFiles(place))
      self.writer = Confined(writer)
      state = Lock(
        State(
          position: LogPosition(
            term: options.term, head: writer.position.head, firstRetained: writer.position.first,
            bytes: writer.position.bytes)))
      var readers: [Reader] = []
      for executor in options.readers {
        var settings = Database.Options()
        settings.isReadOnly = true
        settings.cacheKiB = options.limits.cacheKiB
        let database = try Database(path: place.databasePath, on: place.files, options: settings)
        let snapshot = try ReadSnapshot(
          database, opening.shapes, revision: opening.revision, limits: options.limits)
        readers.append(
          Reader(snapshot, executor: executor, clock: options.clock, limits: options.limits))
      }
      self.readers = readers
    } catch {
      throw StoreError(error)
    }
  }

  /// Opens the data of a schema's models.
  package convenience init(_ place: StorePlace, schema: ModelSchema, options: StoreOptions) throws(StoreError) {
    var options = options
    options.schemaName = String(schema.version, radix: 16)
    try self.init(place, shapes: RecordShape.shapes(of: schema), options: options)
  }

  // MARK: Writing

  /// A write, and what runs with its outcome.
  package struct Submission: Sendable {
    package let request: WriteRequest
    package let completion: @Sendable (Result<Receipt, StoreError>) -> Void

    package init(_ request: WriteRequest, completion: @escaping @Sendable (Result<Receipt, StoreError>) -> Void) {
      self.request = request
      self.completion = completion
    }
  }

  /// Queues writes together, in order: the writer takes them into one group, or as few as a group's bound allows. Each
  /// completion runs where `destination` runs completions, after its write is durable and its batch has been delivered,
  /// or with the reason why nothing was changed.
  package func commit(_ writes: [Submission], to destination: any StoreDestination) {
    var refused: [@Sendable () -> Void] = []
    let isDue: Bool = state.withLock { state in
      for write in writes {
        let completion = write.completion
        if state.isClosed {
          refused.append { completion(.failure(StoreError(.closed, "the store is closed"))) }
        } else if state.queue.count >= limits.queuedWrites {
          let error = StoreError(.overloaded, "more than \(limits.queuedWrites) writes are waiting")
          refused.append { completion(.failure(error)) }
        } else {
          state.queue.append(PendingWrite(request: write.request, destination: destination, completion: completion))
        }
      }
      if state.isScheduled || state.queue.isEmpty { return false }
      state.isScheduled = true
      return true
    }
    if isDue { executor.execute { [self] in drain() } }
    if !refused.isEmpty { destination.deliver(StoreDelivery(batch: nil, completions: refused)) }
  }

  /// Queues one write.
  package func commit(
    _ request: WriteRequest, to destination: any StoreDestination,
    completion: @escaping @Sendable (Result<Receipt, StoreError>) -> Void
  ) {
    commit([Submission(request, completion: completion)], to: destination)
  }

  /// Queues one write whose completion runs on the writer.
  package func commit(
    _ request: WriteRequest, completion: @escaping @Sendable (Result<Receipt, StoreError>) -> Void
  ) {
    commit(request, to: DirectDestination(), completion: completion)
  }

  /// Commits one group and asks for the next. On the writer.
  private func drain() {
    let group = state.withLock { state in
      let count = min(state.queue.count, limits.groupOperations)
      let group = Array(state.queue.prefix(count))
      state.queue.removeFirst(count)
      state.isScheduled = false
      return group
    }
    guard !group.isEmpty else { return }
    let outcome = writer.value.run(group.map(\.request))
    note(outcome.trouble)
    deliver(outcome, to: group)
    if let failure = writer.value.checkpointIfDue() { onFailure(failure) }
    let goesOn = state.withLock { state in
      guard !state.queue.isEmpty, !state.isScheduled else { return false }
      state.isScheduled = true
      return true
    }
    if goesOn { executor.execute { [self] in drain() } }
  }

  /// Keeps why a group was not written, and reports a change of it.
  private func note(_ trouble: StoreError?) {
    let isNew = state.withLock { state in
      if trouble?.code == .diskFull { state.fullDisks += 1 }
      defer { state.trouble = trouble }
      return state.trouble?.code != trouble?.code
    }
    if isNew { onTrouble(trouble) }
  }

  /// Why the last group was not written: a full disk, missing data files, a disk that failed. Nil when it was.
  package var trouble: StoreError? { state.withLock { $0.trouble } }

  /// Groups that a full disk refused.
  package var fullDisks: Int { state.withLock { $0.fullDisks } }

  /// Hands out one group: to each destination the batch, if it is registered, and its own completions.
  private func deliver(_ outcome: Writer.Outcome, to group: [PendingWrite]) {
    if let failure = outcome.failure { onFailure(failure) }
    let position = writer.value.position
    if let batch = outcome.batch { recent.append(batch) }
    var destinations = state.withLock { state in
      state.position.head = position.head
      state.position.firstRetained = position.first
      state.position.bytes = position.bytes
      return state.destinations
    }
    let registered = destinations.count
    var completions: [[@Sendable () -> Void]] = destinations.map { _ in [] }
    var places = Dictionary(destinations.indices.map { (ObjectIdentifier(destinations[$0]), $0) }) { first, _ in first }
    for (write, result) in zip(group, outcome.results) {
      let completion = write.completion
      let work: @Sendable () -> Void = { completion(result) }
      let id = ObjectIdentifier(write.destination)
      if let place = places[id] {
        completions[place].append(work)
      } else {
        places[id] = destinations.count
        destinations.append(write.destination)
        completions.append([work])
      }
    }
    for (index, destination) in destinations.enumerated() {
      let batch = index < registered ? outcome.batch : nil
      if batch == nil && completions[index].isEmpty { continue }
      destination.deliver(StoreDelivery(batch: batch, completions: completions[index]))
    }
  }

  // MARK: Following

  /// Registers a destination for the batches of all later groups and answers the position they follow.
  ///
  /// Every batch from the answered head on reaches it, in order, without a hole.
  @discardableResult
  package func register(_ destination: any StoreDestination) -> LogPosition {
    state.withLock { state in
      state.destinations.append(destination)
      return state.position
    }
  }

  /// Ends a registration. A batch that is on its way may still arrive.
  package func unregister(_ destination: any StoreDestination) {
    state.withLock { state in state.destinations.removeAll { $0 === destination } }
  }

  /// Where the log stands, as of the last delivered group.
  package var position: LogPosition { state.withLock { $0.position } }

  // MARK: Reading

  /// Runs a list of reads: the short ones in one snapshot with their completions handed over together, each list by
  /// itself, in slices and after short reads.
  package func read(_ requests: [ReadRequest], to destination: any StoreDestination) {
    let isClosed = state.withLock { $0.isClosed }
    let short = requests.filter { !$0.isScan }
    let lists = (short.isEmpty ? [] : [short]) + requests.filter(\.isScan).map { [$0] }
    let deadline = clock.now() + limits.readTime
    for list in lists {
      let reader = readers.min { $0.waiting < $1.waiting }
      let work = Reader.Work(
        requests: list, destination: destination, deadline: deadline, isScan: list.contains(where: \.isScan))
      if !isClosed, let reader, reader.submit(work) { continue }
      let error =
        isClosed
        ? StoreError(.closed, "the store is closed")
        : StoreError(.overloaded, "more than \(limits.queuedReads) lists of reads are waiting")
      destination.deliver(
        StoreDelivery(batch: nil, completions: list.map { $0.begin()(.failure(error), 0) ?? {} }))
    }
  }

  /// What the readers have done so far: lists of short reads, slices of lists, and rows that SQLite returned.
  package var readCounts: (reads: Int, slices: Int, rows: Int) {
    readers.map(\.counts).reduce((0, 0, 0)) { ($0.0 + $1.reads, $0.1 + $1.slices, $0.2 + $1.rows) }
  }

  // MARK: Care

  /// Checkpoints that gave up waiting for a reader. On the writer; for tests.
  package var checkpointWaits: Int { writer.value.checkpointWaits }

  /// Deletes what is beyond retention, also when nothing is written. Call it from time to time.
  ///
  /// Deletes in parts, each a group of its own; writes that wait are committed between them.
  package func maintain() {
    executor.execute { [self] in forget() }
  }

  private func forget() {
    let outcome = writer.value.forgetNow()
    note(outcome.trouble)
    if let failure = outcome.failure ?? writer.value.checkpointIfDue() { onFailure(failure) }
    let position = writer.value.position
    let goesOn = state.withLock { state in
      state.position.firstRetained = position.first
      state.position.bytes = position.bytes
      return !state.isClosed
    }
    if goesOn && writer.value.isForgetting { executor.execute { [self] in forget() } }
  }

  /// Takes no more work, finishes what is queued and ends the executors. Not from one of them.
  package func close() {
    state.withLock { $0.isClosed = true }
    executor.stop()
    for reader in readers { reader.stop() }
    lock.withLock { $0 = nil }
  }
}

/// Where the log stands.
package struct LogPosition: Sendable, Equatable {
  /// This run's term.
  package var term: UInt64
  /// The newest durable offset; 0 before the first.
  package var head: Int64
  /// The oldest offset that is kept; one past the head of an empty log.
  package var firstRetained: Int64
  /// Bytes of the entries that are kept.
  package var bytes: Int64

  /// A cursor behind everything durable.
  package var cursor: Cursor { Cursor(term: term, offset: head) }
}
