internal import MartletModels
package import MartletVocabulary

/// The DataStore's engine: decides when to subscribe, to query, to upload and to wait. It performs nothing.
///
/// Order of a start: subscribe and hold back what the feed brings; sync the models that need it, parents first; apply
/// what was held back; live. Uploads begin as soon as the models they write to have been synced once. Everything that
/// must survive is in the store; a new engine over the same store continues.
package struct SyncEngine: Sendable {
  /// Where the engine is.
  package enum Phase: Sendable, Hashable {
    case stopped
    /// Next: `syncing` or `live` when subscribed, `waiting` on failure.
    case subscribing
    /// Next: `live` after the last page, `waiting` on failure.
    case syncing
    case live
    /// Until the retry time, a reachable network or new credentials.
    case waiting
    /// A refusal that no retry changes. Only `start` leaves it.
    case terminated
  }

  let configuration: SyncConfiguration
  package internal(set) var phase = Phase.stopped
  /// Names the present attempt; answers to earlier ones are ignored.
  package internal(set) var generation = 0
  var random: SeededRandom
  var progress: [ModelProgress]
  /// Models that are synced in this attempt, in order; the first is being queried.
  var queue: [SyncRun] = []
  /// Changes of the feed that wait for the syncs before them.
  var held = HeldChanges()
  /// Models whose sync has finished since `start`, or that a resumed feed has kept whole.
  var synced: Set<Int> = []
  /// Models that a sync has finished with since the engine was live: with each more of them there is progress.
  var finished: Set<Int> = []
  /// Models of which the server has more records than the cap allows: they are known as far as they will be.
  var truncated: Set<Int> = []
  var outbox = OutboxQueue()
  var beginning = FeedBeginning()
  /// Position up to which the feed has passed.
  var position: Int64 = 0
  var reconnection = Reconnection()
  var actions: [SyncAction] = []

  /// An engine over a store.
  ///
  /// - Parameters:
  ///   - progress: how far each model has been synced, by position.
  ///   - pending: the outbox: number and model of each write, in order.
  ///   - position: up to where the feed has passed.
  package init(
    _ configuration: SyncConfiguration, progress: [ModelProgress], pending: [(number: Int64, model: Int)],
    position: Int64 = 0, seed: UInt64
  ) {
    self.configuration = configuration
    self.progress = progress
    self.position = position
    random = SeededRandom(seed: seed)
    outbox.reserve(pending.count)
    for write in pending { outbox.append(write.number, model: write.model) }
  }

  /// Takes over the writes for which an engine that has stopped waited for the feed.
  package mutating func follow(_ earlier: SyncEngine) { outbox.follow(earlier.outbox) }

  /// Waits for the feed to pass writes that the server has.
  package mutating func follow(_ durable: [(number: Int64, position: Int64)]) { outbox.follow(durable) }

  /// Whether this model's sync has finished since `start`: the original's `isSynced`.
  package func isSynced(model: Int) -> Bool { synced.contains(model) }

  /// How many changes of the feed wait for the syncs before them.
  package var heldCount: Int { held.count }

  /// Models whose pages are still awaited, in order.
  package var queuedModels: [Int] { queue.map(\.model) }

  /// The writes that wait for the server, in order.
  package var pendingNumbers: some RandomAccessCollection<Int64> { outbox.items.lazy.map(\.number) }

  /// Whether the replica has everything and the server has everything: nothing is pending, and no sync is owed.
  package var isSettled: Bool { phase == .live && outbox.isEmpty && synced.count == configuration.models.count }

  // MARK: Events

  /// Handles an event.
  ///
  /// - Parameters:
  ///   - now: a monotonic clock.
  ///   - wall: this client's wall clock in milliseconds.
  package mutating func handle(_ event: SyncEvent, now: Instant, wall: Int64) -> [SyncAction] {
    actions.removeAll(keepingCapacity: true)
    switch event {
    case .start: if phase == .stopped || phase == .terminated { start() }
    case .stop: halt()
    case .clear: clear()
    case .outbox(let write): enqueued(write)
    case .timer: timer(now)
    case .reachable: reachable()
    case .resolved(let number, let resolution, let newNumber): resolved(number, resolution, newNumber)
    case .credentials(let generation, let isRefreshed):
      if generation == self.generation { credentials(isRefreshed, now) }
    case .settled(let number, let settlement): settled(number, settlement, now)
    case .subscribed(let generation, let resumed, let cursor):
      if generation == self.generation, phase == .subscribing { subscribed(resumed, cursor, wall) }
    case .feed(let generation, let changes, let cursor, let position):
      if generation == self.generation { feed(changes, cursor, position) }
    case .feedReset(let generation, _):
      if generation == self.generation, phase != .stopped { reset() }
    case .otherHistory(let generation):
      if generation == self.generation, phase != .stopped { beginAnew() }
    case .disconnected(let generation, let failure):
      if generation == self.generation { failed(failure, now) }
    case .storeFailed(let failure): if phase != .stopped, phase != .terminated { storeFailed(failure) }
    case .withdrawn(let generation):
      guard generation == self.generation, phase != .stopped else { break }
      (progress, synced) = (progress.map { _ in ModelProgress() }, [])
      failed(.unauthorized, now)
    case .page(let generation, let model, let page):
      if generation == self.generation, phase == .syncing, queue.first?.model == model { receive(page, wall) }
    case .queryFailed(let generation, _, let failure):
      if generation == self.generation, phase == .syncing { failed(failure, now) }
    case .uploaded(let generation, let number, let image, let position):
      if generation == self.generation { uploaded(number, image, position) }
    case .uploadFailed(let generation, let number, let failure):
      if generation == self.generation { uploadFailed(number, failure, now) }
    }
    upload()
    if let time = reconnection.nextWake(besides: outbox.retryAt) { actions.append(.wake(at: time)) }
    return actions
  }

  // MARK: Starting and stopping

  private mutating func start() {
    reconnection.succeeded()
    (synced, finished, truncated) = ([], [], [])
    subscribe()
  }

  mutating func subscribe() {
    generation += 1
    phase = .subscribing
    reconnection.at = nil
    queue = []
    held = HeldChanges(limit: configuration.heldChanges)
    outbox.interrupt()
    actions.append(.subscribe(generation: generation))
  }

  private mutating func halt() {
    guard phase != .stopped else { return }
    leave(.stopped)
  }

  /// What is under way is over.
  private mutating func leave(_ next: Phase) {
    generation += 1
    phase = next
    reconnection.at = nil
    (queue, held) = ([], HeldChanges())
    outbox.interrupt()
    actions += [.disconnect, .hub(.networkStatus(active: false))]
  }

  private mutating func clear() {
    halt()
    outbox = OutboxQueue()
    (progress, synced) = (progress.map { _ in ModelProgress() }, [])
    position = 0
    actions.append(.clearStore)
  }

  // MARK: Failures

  mutating func failed(_ failure: SyncFailure, _ now: Instant) {
    guard phase == .subscribing || phase == .syncing || phase == .live else { return }
    leave(.waiting)
    switch failure {
    case .unauthorized where !reconnection.hasRefreshed, .forbidden where !reconnection.hasRefreshed:
      actions += [.hub(.failed(failure)), .refreshCredentials(generation: generation)]
    case .refused:
      phase = .terminated
      actions.append(.hub(.terminated(failure)))
    case .network, .overloaded, .faulted, .unauthorized, .forbidden, .conditionFailed, .conflict:
      reconnection.failed(at: now, configuration.retry, retryAfter: failure.retryAfter, &random)
      actions.append(.hub(.failed(failure)))
    }
  }

  private mutating func storeFailed(_ failure: SyncFailure) {
    leave(.terminated)
    // What was counted as stored may not be. The next engine reads what is.
    (progress, synced) = (progress.map { _ in ModelProgress() }, [])
    actions.append(.hub(.terminated(failure)))
  }

  private mutating func credentials(_ isRefreshed: Bool, _ now: Instant) {
    if phase == .waiting, isRefreshed {
      reconnection.refreshed()
      return subscribe()
    }
    if phase != .waiting, isRefreshed { return outbox.retry() }
    // Without credentials the engine waits: nothing is dropped because a token service is away.
    let time = reconnection.counted(at: now, configuration.retry, &random)
    if phase == .waiting { reconnection.at = time } else { outbox.refreshFailed(until: time) }
  }

  private mutating func timer(_ now: Instant) {
    if let time = reconnection.at, time <= now { subscribe() }
    outbox.timer(now)
  }

  private mutating func reachable() {
    if phase == .waiting, reconnection.at != nil { subscribe() }
    outbox.retry()
  }

  private mutating func reset() {
    // What the cursor stood for is void: every model is owed a full sync.
    (progress, synced) = (progress.map { _ in ModelProgress() }, [])
    actions.append(.disconnect)
    subscribe()
  }

  private mutating func beginAnew() {
    position = 0
    let abandoned = outbox.abandon()
    if !abandoned.isEmpty { actions.append(.abandon(abandoned)) }
    reset()
  }
}

extension SyncFailure {
  var retryAfter: Duration? {
    if case .overloaded(let time) = self { time } else { nil }
  }
}
