internal import MartletGraphQLClient
internal import MartletJSON
internal import MartletLiveQueries
internal import MartletModels
internal import MartletRuntime
internal import MartletStore
internal import MartletVocabulary

/// The live queries and observers of a store. A commit's changes go to all of them before the next one is made.
///
/// `@unchecked Sendable` holds because `writer` is used only by work that `thread` runs, one piece after the other;
/// everything else is immutable or behind `live`.
final class StoreStreams: @unchecked Sendable {
  private let mappings: [ModelMapping]
  let thread: any StoreLane
  let writer: ClientWriter
  let live = Lock(LiveState())
  /// An observer's consumer that takes nothing keeps 10,000 events, some megabytes, and then learns that it lost some.
  static let observerPolicy = BufferPolicy(.fail, events: 10_000, bytes: 64 << 20)
  /// The rows that live queries share, by the model's type.
  private let decoded = Lock<[ObjectIdentifier: DecodedRows]>([:])
  /// How snapshots are held back while a model is synced; nil for a store without a server.
  private let pace: SnapshotPace?
  /// A page up to this long is decoded by its consumer: what the store's thread could save is some microseconds.
  private static let fewRows = 256
  private let now: @Sendable () -> Instant
  /// Where first rows are read while the store's thread has writes to do.
  let lane: QueryLane
  private let isBusy: @Sendable () -> Bool
  /// How often first rows are read there, while commits come in between, before they wait for the store's thread.
  private static let attemptsBeside = 8

  init(
    _ mappings: [ModelMapping], _ thread: any StoreLane, _ writer: ClientWriter, beside lane: QueryLane,
    isBusy: @escaping @Sendable () -> Bool, _ pace: SnapshotPace?, now: @escaping @Sendable () -> Instant
  ) {
    self.now = now
    self.lane = lane
    self.isBusy = isBusy
    self.mappings = mappings
    self.thread = thread
    self.writer = writer
    self.pace = pace
    writer.onCommit = { [weak self] begins in self?.commitBegins(begins) }
  }

  // MARK: Consumers

  /// Adds a live query. Its first snapshot is announced as soon as its rows have been read.
  func observe(_ query: WindowQuery, _ decoded: DecodedRows, _ core: SubscriptionCore) -> LiveState.Watcher {
    observe(core, model: query.model) { store throws(StoreError) in
      let window = QueryWindow(query)
      guard let request = window.request else { return { $0.add(query) } }
      // A page's few rows are left to its consumer: only a limit says that there are few.
      let isLong = query.limit.map { $0 > Self.fewRows } ?? true
      let rows = try store.rows(query, request) { piece in if isLong { decoded.prepareAhead(piece) } }
      return { set in
        let id = set.add(query)
        set.update(id, window: { $0.fill(rows, for: request) })
        return id
      }
    }
  }

  /// Adds a live aggregate.
  func observe(_ query: AggregateQuery, _ core: SubscriptionCore) -> LiveState.Watcher {
    observe(core, model: query.model) { store throws(StoreError) in
      var filled = LiveAggregate(query)
      try Self.fill(&filled, store)
      return { [filled] set in
        let id = set.add(query)
        set.update(id, aggregate: { $0 = filled })
        return id
      }
    }
  }

  /// - Parameter read: reads what the query shows first, and returns what adds the query with it. The rows are read
  ///   while consumers of other queries take theirs.
  private func observe(
    _ core: SubscriptionCore, model: Int, _ read: @escaping LiveQueryStart.FirstRows
  ) -> LiveState.Watcher {
    let begin = now()
    let number = live.withLock { $0.newConsumer() }
    let watcher = LiveState.Watcher(number, model: model, core, self, begin: begin)
    core.connect(onCancel: { watcher.leave() }, onRoom: {})
    let start = LiveQueryStart(streams: self, watcher: watcher, read: read)
    if isBusy() { start.beside(attempts: Self.attemptsBeside) } else { start.inTurn() }
    return watcher
  }

  /// A commit is about to be visible to other connections; or it has failed.
  private func commitBegins(_ begins: Bool) {
    let waiting = live.withLock { live in
      live.front.move(begins)
      return live.front.takeWaiting()
    }
    for work in waiting { work() }
  }

  /// The store takes part with other processes, whose changes up to now its first rows have.
  func joined() { live.withLock { [writer] in $0.front.arrive(at: writer.readEntry) } }

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

  private func leave(_ observer: Int) { live.withLock { $0.observers[observer] = nil } }

  func leave(_ watcher: LiveState.Watcher) { live.withLock { $0.remove(watcher) } }

  /// A consumer's rows and how they have changed since it last asked, and whether its model was synced then. Nil when
  /// it has them already and is not owed a snapshot, while streams are silent, and for a consumer that has left.
  func take(_ watcher: LiveState.Watcher) -> (rows: WindowSnapshot, isSynced: Bool)? {
    live.withLock { live in
      guard let query = watcher.query else { return nil }
      let isOwed = watcher.takeToken()
      // All are owed a snapshot when streams continue.
      guard !live.isPaused else { return nil }
      var snapshot: WindowSnapshot?
      live.set.update(
        query, window: { snapshot = $0.take() ?? (isOwed ? WindowSnapshot(rows: $0.takenRows) : nil) })
      return snapshot.map { ($0, pace == nil || live.synced.contains(Int(watcher.model))) }
    }
  }

  /// The values of a consumer's aggregate; nil as for snapshots.
  func takeValues(_ watcher: LiveState.Watcher) -> [JSONValue]? {
    live.withLock { live in
      guard let query = watcher.query else { return nil }
      let isOwed = watcher.takeToken()
      guard !live.isPaused else { return nil }
      var values: [JSONValue]?
      live.set.update(query, aggregate: { values = $0.take() ?? (isOwed ? $0.values : nil) })
      return values
    }
  }

  /// What the live queries of a model share.
  func decodedRows<M: Model>(_ type: M.Type, _ mapping: ModelMapping) -> DecodedRows {
    decoded.withLock { decoded in
      if let known = decoded[ObjectIdentifier(type)] { return known }
      // A row holds what one type has made of it.
      let isFirst = !decoded.values.contains { $0.model == mapping.shape.model }
      let rows = DecodedRows(type, mapping, isShared: isFirst && mapping.relations.isEmpty)
      decoded[ObjectIdentifier(type)] = rows
      return rows
    }
  }

  // MARK: Commits

  /// Passes a commit's changes on, and what other processes have done meanwhile. On the store's thread.
  ///
  /// - Parameter then: reads the same state of the store after that.
  /// - Returns: why that state could not be read.
  @discardableResult
  func publish(
    _ commit: ClientWriter.Commit, _ source: MutationEvent.Source, then: () -> Void = {}
  ) -> DataStoreError? {
    var unread: DataStoreError?
    // A sync's pages, whichever process stored them, and what brings nothing new do not end the pause of what waits.
    var isPaced = false
    do {
      try writer.reading { entries in
        let own = commit.isJournaled ? [] : commit.changes.map { ($0, source) }
        var (changes, later): ([(RowChange, MutationEvent.Source)], [(RowChange, MutationEvent.Source)]) = ([], [])
        for entry in entries ?? [] {
          guard let change = entry.change else { continue }
          let known = (change, MutationEvent.Source(rawValue: entry.source) ?? .local)
          if entry.position <= commit.followedEntry { changes.append(known) } else { later.append(known) }
        }
        changes += own + later
        let isWhole = entries?.allSatisfy { $0.change != nil && !$0.isPartial || $0.isForeign } ?? false
        isPaced = isWhole && changes.allSatisfy { $0.1 == .syncPage }
        deliver(changes, isWhole: isWhole, isLost: entries == nil)
        then()
      }
    } catch {
      let failure = DataStoreError(error)
      unread = failure
      live.withLock { $0.failure = failure }
    }
    announce(isPaced: isPaced)
    return unread
  }

  /// Applies changes to the live queries, which read the store as it is after the last of them.
  ///
  /// - Parameters:
  ///   - isWhole: whether these are all changes; otherwise the queries read everything again.
  ///   - isLost: whether others are no longer known; observers end then.
  private func deliver(_ changes: [(RowChange, MutationEvent.Source)], isWhole: Bool, isLost: Bool) {
    let (deliveries, waiting) = live.withLock { live -> ([LiveState.Delivery], [@Sendable () -> Void]) in
      let lookup: CommitRows.Lookup = { [writer] in try writer.related($0, $1, $2) }
      let met = isWhole ? live.set.apply(changes.map(\.0), lookup: lookup) : live.set.reload()
      live.meet(met)
      let failure = fill(live.set.asking, &live, writer)
      live.front.arrive(at: writer.readEntry)
      if let failure { live.failure = failure }
      // Streams are silent while the store is stopped; what happened meanwhile follows in its order.
      let found = events(of: changes, &live, lookup)
      return (live.pass(found, isLost: isLost), live.front.takeWaiting())
    }
    for work in waiting { work() }
    for (core, event) in deliveries {
      if let event {
        _ = core.deliver(event)
      } else {
        core.leave(
          .error(GraphQLClientError(.slowConsumer, "more has changed than is kept for an observer that is behind")))
      }
    }
  }

  /// The events that observers get for a commit.
  private func events(
    of changes: [(RowChange, MutationEvent.Source)], _ live: inout LiveState, _ lookup: @escaping CommitRows.Lookup
  ) -> [(observer: Int, event: SubscriptionEvent)] {
    guard !live.observers.isEmpty else { return [] }
    let rows = CommitRows(changes.map(\.0), lookup: lookup)
    let observers = live.observers.sorted { $0.key < $1.key }
    var found: [(observer: Int, event: SubscriptionEvent)] = []
    for (change, source) in changes {
      live.events += 1
      guard let image = change.after ?? change.before else { continue }
      let state: CommitRows.State = change.after == nil ? .before : .after
      let wanted = observers.filter { _, observer in
        guard observer.model == change.model else { return false }
        // A related record that cannot be read is a failure of the store, which the live queries report.
        return (try? rows.matches(observer.predicate, image.record, observer.related, state)) ?? false
      }
      guard !wanted.isEmpty else { continue }
      let payload = event(change, image, number: live.events, source).serialized()
      found += wanted.map { ($0.key, SubscriptionEvent(payload: payload)) }
    }
    return found
  }

  private func event(
    _ change: RowChange, _ image: LiveRow, number: Int, _ source: MutationEvent.Source
  ) -> JSONValue {
    let mapping = mappings[change.model]
    let type: MutationEvent.MutationType = change.before == nil ? .create : change.after == nil ? .delete : .update
    return [
      "id": .string(String(number)), "modelId": .string(mapping.text(image.key)), "modelName": .string(mapping.name),
      "json": .string(mapping.json(image.record).description), "mutationType": .string(type.rawValue),
      // Only a server gives versions.
      "version": pace == nil || image.version == 0 ? .null : .int(image.version),
      "source": .string(source.rawValue), "isAcknowledged": .bool(!isWaiting(change, image)),
    ]
  }

  /// Whether a write of the record waits to be acknowledged. The row says so; of a deleted one only the outbox does.
  private func isWaiting(_ change: RowChange, _ image: LiveRow) -> Bool {
    guard change.after == nil, pace != nil else { return image.isPending }
    // A failure to read is the store's, which the live queries report.
    return (try? writer.pending(model: change.model, image.key).isEmpty) == false
  }

  // MARK: Rows

  /// Gives windows the rows they ask for, from a state of the store that all of them have.
  func fill(
    _ queries: [LiveQueryID], _ live: inout LiveState, _ store: any ClientReading
  ) -> DataStoreError? {
    var failure: DataStoreError?
    for id in queries {
      live.set.update(
        id,
        window: { window in
          while failure == nil, let request = window.request {
            do { window.fill(try store.rows(window.query, request), for: request) } catch {
              failure = StoreRoom.error(error)
            }
          }
        },
        aggregate: { aggregate in
          do { try Self.fill(&aggregate, store) } catch { failure = StoreRoom.error(error) }
        })
    }
    return failure
  }

  /// Gives an aggregate what it asks for.
  static func fill(_ aggregate: inout LiveAggregate, _ store: any ClientReading) throws(StoreError) {
    while !aggregate.requests.isEmpty {
      for request in aggregate.requests {
        switch request {
        case .totals: aggregate.fill(try store.totals(aggregate.query))
        case .rows(let function, let query, let rows):
          aggregate.fill(try store.rows(query, rows), for: function, rows)
        }
      }
    }
  }

  /// Reads all rows again, after everything was deleted at once. On the store's thread.
  func reload() throws(DataStoreError) {
    let failure = live.withLock { live -> DataStoreError? in
      let met = live.set.reload()
      live.meet(met)
      live.front.arrive(at: writer.readEntry)
      return fill(met, &live, writer)
    }
    if let failure { throw failure }
  }

  // MARK: Announcements

  /// Puts one token into the stream of every consumer whose rows have changed, unless one is there already: the
  /// snapshot is made when the consumer takes it, so that a slow consumer skips what it has missed.
  ///
  /// - Parameter isPaced: whether the changes are a sync's: those are shown together.
  func announce(isPaced: Bool = false) {
    let now = self.now()
    var wake: Instant?
    let (cores, failed) = live.withLock { live -> ([SubscriptionCore], DataStoreError?) in
      guard !live.isPaused else { return ([], nil) }
      if let failure = live.failure {
        live.failure = nil
        // Observers miss nothing by a disk that cannot be read now. A store whose models are others has no events.
        let observers = failure.code == .migration ? live.observers.sorted { $0.key < $1.key }.map(\.value.core) : []
        return (live.allWatchers.map(\.core) + observers, failure)
      }
      var cores: [SubscriptionCore] = []
      for watcher in live.takeDue() {
        if isPaced, let pace, let time = live.hold(watcher, pace, now) {
          live.wait(watcher)
          wake = min(wake ?? time, time)
        } else if live.announces(watcher, now) {
          cores.append(watcher.core)
        }
      }
      return (cores, nil)
    }
    for core in cores {
      if let failed { core.leave(.error(failed)) } else { core.signal() }
    }
    guard let wake else { return }
    pace?.timer.set(.snapshots, wake) { [weak self] in
      guard let self else { return }
      thread.execute { [self] in announce(isPaced: true) }
    }
  }

  /// A model's sync has finished, or is owed again. Live queries of the model give a snapshot when it has finished.
  func syncChanged(model: Int, isSynced: Bool) {
    live.withLock { live in
      if isSynced {
        live.synced.insert(model)
        live.owe(model: model)
      } else {
        live.synced.remove(model)
      }
    }
    if isSynced { announce() }
  }

  // MARK: Pauses

  /// How many events wait for the store to be started.
  var heldCount: Int { live.withLock { $0.observers.values.reduce(0) { $0 + $1.held.count } } }

  /// Streams stay connected and give nothing until `resume`.
  func pause() { live.withLock { $0.isPaused = true } }

  /// Streams continue. Each live query gives one snapshot, whether its rows have changed meanwhile or not.
  func resume() {
    let wasPaused = live.withLock { live in
      defer { live.isPaused = false }
      if live.isPaused { live.owe() }
      return live.isPaused
    }
    if wasPaused { thread.execute { [self] in publish(ClientWriter.Commit(), .local) } }
  }
}

/// How long snapshots of a model that is being synced are held back.
struct SnapshotPace: Sendable {
  let interval: Duration
  let changes: Int
  let timer: any SyncTiming
}
