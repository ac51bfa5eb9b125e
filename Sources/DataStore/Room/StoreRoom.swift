internal import MartletGraphQLClient
internal import MartletJSON
internal import MartletLiveQueries
internal import MartletModels
internal import MartletRuntime
internal import MartletSQLite
internal import MartletStore
internal import MartletVocabulary

/// A store's thread, its file, and the live queries over it.
///
/// `@unchecked Sendable` holds because `writer` is used only by work that `thread` runs, one piece after the other;
/// everything else is immutable or behind `live`.
final class StoreRoom: @unchecked Sendable {
  let mappings: [ModelMapping]
  private let numbers: [String: Int]
  private let thread: StoreThread
  private let writer: ClientWriter
  let live = Lock(LiveState())

  init(_ plan: ModelPlan, _ storage: DataStoreStorage) throws(DataStoreError) {
    mappings = plan.mappings
    numbers = Dictionary(mappings.map { ($0.name, $0.shape.model) }) { first, _ in first }
    do {
      switch storage.place {
      case .file(let path, let key):
        writer = try ClientWriter(
          path: path, shapes: mappings.map(\.shape), references: plan.references, key: key, syncs: false)
      case .memory:
        writer = try ClientWriter(
          path: "/store", on: MemoryFiles(), shapes: mappings.map(\.shape), references: plan.references, syncs: false)
      }
    } catch {
      throw DataStoreError(error)
    }
    thread = StoreThread()
    mappings.first?.link.connect(self)
    guard case .file(let path, _) = storage.place else { return }
    var chance = SystemChance.generator()
    do throws(StoreError) {
      let id = "\(chance.next())"
      // The bell is the writer's, and ends with it.
      let bell = try ClientBell(path: path, id: id) { [weak self] in self?.catchUp() }
      try writer.join(bell)
    } catch {
      throw DataStoreError(error)
    }
  }

  /// Another process has changed the store.
  private func catchUp() {
    thread.execute { [self] in publish(ClientWriter.Commit(), .local) }
  }

  deinit {
    thread.end()
  }

  /// The mapping of a model's type.
  func mapping(_ type: (some Model).Type) throws(DataStoreError) -> ModelMapping {
    guard let number = numbers[type.modelName] else {
      throw DataStoreError(.invalidModel, "\(type.modelName) is not one of the store's models")
    }
    return mappings[number]
  }

  // MARK: Work

  /// Runs `body` on the store's thread, after everything given before it.
  func perform<Value: Sendable>(
    _ body: @escaping @Sendable (ClientWriter) throws -> Value
  ) async throws(DataStoreError) -> Value {
    let result: Result<Value, DataStoreError> = await withCheckedContinuation { continuation in
      thread.execute { [self] in
        let result = Result { try body(writer) }.mapError(Self.error)
        continuation.resume(returning: result)
      }
    }
    return try result.get()
  }

  /// Runs `body` in one durable transaction and passes its changes to the live queries before it returns.
  func commit<Value: Sendable>(
    _ body: @escaping @Sendable (ClientTransaction) throws -> Value
  ) async throws(DataStoreError) -> Value {
    try await perform { [self] writer in try transaction(writer, body) }
  }

  /// The same, on the store's thread.
  /// - Throws: what `body` throws, as it throws it.
  func transaction<Value>(_ writer: ClientWriter, _ body: (ClientTransaction) throws -> Value) throws -> Value {
    var result: Result<Value, any Error>?
    do {
      let commit = try writer.transaction { transaction in
        result = Result { try body(transaction) }
        _ = try result?.get()
      }
      publish(commit, .local)
    } catch {
      if case .failure(let own)? = result { throw own }
      throw error
    }
    guard let result else { throw DataStoreError(.storage, "the transaction did not run") }
    return try result.get()
  }

  private static func error(_ error: any Error) -> DataStoreError {
    switch error {
    case let error as DataStoreError: error
    case let error as StoreError: DataStoreError(error)
    default: DataStoreError(.storage, "\(error)")
    }
  }

  // MARK: Streams

  /// Events to hand out, outside the lock.
  typealias Delivery = (core: SubscriptionCore, event: SubscriptionEvent)

  /// Adds a live query. Its first snapshot is announced as soon as its rows have been read.
  func observe(_ query: WindowQuery, _ core: SubscriptionCore) -> Int {
    observe(core) { $0.add(query) }
  }

  /// Adds a live aggregate.
  func observe(_ query: AggregateQuery, _ core: SubscriptionCore) -> Int {
    observe(core) { $0.add(query) }
  }

  private func observe(
    _ core: SubscriptionCore, _ add: @escaping @Sendable (inout LiveQuerySet) -> LiveQueryID
  ) -> Int {
    let begin = MonotonicClock.now()
    let consumer = live.withLock { $0.newConsumer() }
    core.connect(
      onCancel: { [weak self] in self?.leave(consumer) }, onRoom: {})
    thread.execute { [self] in
      guard !core.state.isFinished else { return }
      // What other processes have done is taken first, so that all queries are of one state.
      var failure: DataStoreError?
      publish(ClientWriter.Commit(), .local) {
        failure = live.withLock { live -> DataStoreError? in
          let id = add(&live.set)
          live.watchers[consumer] = LiveState.Watcher(query: id, core: core, begin: begin)
          return fill([id], &live)
        }
      }
      // The consumer may have left in between.
      if core.state.isFinished { return leave(consumer) }
      if let failure { return core.leave(.error(failure)) }
      core.move(to: .active)
      announce()
    }
    return consumer
  }

  /// Adds a consumer of a model's changes.
  func observe(model: Int, _ condition: (predicate: Predicate, related: RelatedTerms), _ core: SubscriptionCore) {
    let consumer = live.withLock { $0.newConsumer() }
    core.connect(onCancel: { [weak self] in self?.leave(consumer) }, onRoom: {})
    thread.execute { [self] in
      guard !core.state.isFinished else { return }
      live.withLock {
        $0.observers[consumer] = LiveState.Observer(
          model: model, predicate: condition.predicate, related: condition.related, core: core)
      }
      if core.state.isFinished { return leave(consumer) }
      core.move(to: .active)
    }
  }

  private func leave(_ consumer: Int) {
    live.withLock { live in
      live.observers[consumer] = nil
      if let watcher = live.watchers.removeValue(forKey: consumer) { live.set.remove(watcher.query) }
    }
  }

  /// The changes of a consumer's rows since it last asked; nil when there are none.
  func take(_ consumer: Int) -> WindowSnapshot? {
    live.withLock { live in
      guard let watcher = live.watchers[consumer] else { return nil }
      live.watchers[consumer]?.isAnnounced = false
      var snapshot: WindowSnapshot?
      live.set.update(watcher.query, window: { snapshot = $0.take() })
      return snapshot
    }
  }

  /// The values of a consumer's aggregate.
  func takeValues(_ consumer: Int) -> [JSONValue] {
    live.withLock { live in
      guard let watcher = live.watchers[consumer] else { return [] }
      live.watchers[consumer]?.isAnnounced = false
      live.set.update(watcher.query, aggregate: { _ = $0.take() })
      return live.set.aggregate(watcher.query)?.values ?? []
    }
  }

  /// Passes a commit's changes on, and what other processes have done meanwhile. On the store's thread.
  ///
  /// - Parameter then: reads the same state of the store after that.
  private func publish(
    _ commit: ClientWriter.Commit, _ source: MutationEvent.Source, then: () -> Void = {}
  ) {
    do {
      try writer.reading { entries in
        var changes = commit.isJournaled ? [] : commit.changes.map { ($0, source) }
        for entry in entries ?? [] {
          guard let change = entry.change else { continue }
          changes.append((change, MutationEvent.Source(rawValue: entry.source) ?? .local))
        }
        let isWhole = entries?.allSatisfy { $0.change != nil || $0.isForeign } ?? false
        deliver(changes, isWhole: isWhole)
        then()
      }
    } catch {
      let failure = DataStoreError(error)
      live.withLock { $0.failure = failure }
    }
    announce()
  }

  /// Applies changes to the live queries, which read the store as it is after the last of them.
  ///
  /// - Parameter isWhole: whether these are all changes; otherwise the queries read everything again.
  private func deliver(_ changes: [(RowChange, MutationEvent.Source)], isWhole: Bool) {
    let deliveries = live.withLock { live -> [Delivery] in
      let lookup: CommitRows.Lookup = { [writer] in try writer.related($0, $1, $2) }
      let rows = CommitRows(changes.map(\.0), lookup: lookup)
      let met = isWhole ? live.set.apply(changes.map(\.0), lookup: lookup) : live.set.reload()
      let failure = fill(met, &live)
      if let failure { live.failure = failure }
      var deliveries: [Delivery] = []
      for (change, source) in changes where !live.observers.isEmpty {
        live.events += 1
        guard let image = change.after ?? change.before else { continue }
        let observers = live.observers.sorted { $0.key < $1.key }.map(\.value)
        let state: CommitRows.State = change.after == nil ? .before : .after
        let wanted = observers.filter { observer in
          guard observer.model == change.model else { return false }
          // A related record that cannot be read is a failure of the store, which the live queries report.
          return (try? rows.matches(observer.predicate, image.record, observer.related, state)) ?? false
        }
        guard !wanted.isEmpty else { continue }
        let payload = event(change, image, number: live.events, source).serialized()
        deliveries += wanted.map { ($0.core, SubscriptionEvent(payload: payload)) }
      }
      // Streams are silent while the store is stopped; what happened meanwhile follows in its order.
      live.held += deliveries
      if live.isPaused { return [] }
      defer { live.held = [] }
      return live.held
    }
    for delivery in deliveries { _ = delivery.core.deliver(delivery.event) }
  }

  private func event(
    _ change: RowChange, _ image: LiveRow, number: Int, _ source: MutationEvent.Source
  ) -> JSONValue {
    let mapping = mappings[change.model]
    let type: MutationEvent.MutationType = change.before == nil ? .create : change.after == nil ? .delete : .update
    return [
      "id": .string(String(number)), "modelId": .string(mapping.text(image.key)), "modelName": .string(mapping.name),
      "json": .string(mapping.json(image.record).description), "mutationType": .string(type.rawValue),
      "version": .null, "source": .string(source.rawValue), "isAcknowledged": .bool(!image.isPending),
    ]
  }

  /// Gives windows the rows they ask for. On the store's thread: the rows are those of the last commit.
  private func fill(_ queries: [LiveQueryID], _ live: inout LiveState) -> DataStoreError? {
    var failure: DataStoreError?
    for id in queries {
      live.set.update(
        id,
        window: { window in
          while failure == nil, let request = window.request {
            do { window.fill(try writer.rows(window.query, request), for: request) } catch {
              failure = Self.error(error)
            }
          }
        },
        aggregate: { aggregate in
          do { try Self.fill(&aggregate, writer) } catch { failure = Self.error(error) }
        })
    }
    return failure
  }

  /// Gives an aggregate what it asks for.
  static func fill(_ aggregate: inout LiveAggregate, _ writer: ClientWriter) throws(StoreError) {
    while !aggregate.requests.isEmpty {
      for request in aggregate.requests {
        switch request {
        case .totals: aggregate.fill(try writer.totals(aggregate.query))
        case .rows(let function, let query, let rows):
          aggregate.fill(try writer.rows(query, rows), for: function, rows)
        }
      }
    }
  }

  /// Puts one token into the stream of every consumer whose rows have changed, unless one is there already: the
  /// snapshot is made when the consumer takes it, so that a slow consumer skips what it has missed.
  private func announce() {
    let now = MonotonicClock.now()
    let (cores, failed) = live.withLock { live -> ([SubscriptionCore], DataStoreError?) in
      guard !live.isPaused else { return ([], nil) }
      var cores: [SubscriptionCore] = []
      for (consumer, watcher) in live.watchers.sorted(by: { $0.key < $1.key }) where !watcher.isAnnounced {
        guard live.set.isDue(watcher.query) else { continue }
        live.watchers[consumer]?.isAnnounced = true
        if watcher.first == nil { live.watchers[consumer]?.first = now }
        live.watchers[consumer]?.last = now
        cores.append(watcher.core)
      }
      defer { live.failure = nil }
      return (live.failure == nil ? cores : live.watchers.values.map(\.core), live.failure)
    }
    for core in cores {
      if let failed { core.leave(.error(failed)) } else { _ = core.deliver(SubscriptionEvent(payload: [])) }
    }
  }

  // MARK: Pauses

  /// Streams stay connected and give nothing until `resume`.
  func pause() { live.withLock { $0.isPaused = true } }

  /// Streams continue; a live query whose rows have changed meanwhile gives one snapshot.
  func resume() {
    let wasPaused = live.withLock { live in
      defer { live.isPaused = false }
      return live.isPaused
    }
    if wasPaused { thread.execute { [self] in publish(ClientWriter.Commit(), .local) } }
  }

  /// Deletes all rows. Streams stay connected, and are paused.
  func clear() async throws(DataStoreError) {
    pause()
    try await perform { [self] writer in
      _ = try writer.transaction { try $0.clear() }
      let failure = live.withLock { live in fill(live.set.reload(), &live) }
      if let failure { throw failure }
    }
  }
}

/// The live queries of a store, and who consumes them.
struct LiveState {
  struct Watcher {
    var query: LiveQueryID
    var core: SubscriptionCore
    /// When it began, and when its result was there first and has changed last.
    var begin: Instant
    var first: Instant?
    var last: Instant?
    /// Whether a token waits in its stream.
    var isAnnounced = false
  }

  struct Observer {
    var model: Int
    var predicate: Predicate
    var related: RelatedTerms
    var core: SubscriptionCore
  }

  var set = LiveQuerySet()
  var watchers: [Int: Watcher] = [:]
  var observers: [Int: Observer] = [:]
  var isPaused = false
  /// Events of the time in which the store was stopped. A stream that they overflow ends as one whose consumer is slow.
  var held: [StoreRoom.Delivery] = []
  var events = 0
  var failure: DataStoreError?
  private var consumers = 0

  mutating func newConsumer() -> Int {
    consumers += 1
    return consumers
  }
}
