internal import MartletJSON
internal import MartletModels
internal import MartletRuntime
internal import MartletStore
internal import MartletSyncEngine
internal import MartletVocabulary

/// Drives the sync engine of one store: carries out what it decides, and reports what happened.
///
/// `@unchecked Sendable` holds because everything that changes is used on the store's thread only, or is behind a lock
/// of its own.
final class SyncShell: @unchecked Sendable {
  let mappings: [ModelMapping]
  private let makeModels: @Sendable () throws -> [SyncModel]
  private let sync: DataStoreSync
  private let parents: [[Int]]
  weak var room: StoreRoom?
  let news = SyncNews()
  let spawner = ConcurrentSpawner()
  private let timer = SyncTimer()

  // On the store's thread.

  var engine: SyncEngine?
  var server: (any SyncServer)?
  private var events: [SyncEvent] = []
  private var isHandling = false
  /// Names the present engine: answers to an earlier one's requests are ignored.
  private(set) var epoch = 0
  var follower: FeedFollower?
  /// The changes of a transaction of which more is to come.
  var partial: [RemoteChange] = []
  /// The newest position that the server has named.
  var newestPosition: Int64 = 0
  /// Models that the server has refused to sync in this epoch.
  var refused: Set<Int> = []
  var handles: [Int64: WriteHandle] = [:]
  var status = DataStoreSyncStatus()

  init(
    _ mappings: [ModelMapping], parents: [[Int]], _ sync: DataStoreSync,
    _ makeModels: @escaping @Sendable () throws -> [SyncModel]
  ) {
    self.mappings = mappings
    self.parents = parents
    self.sync = sync
    self.makeModels = makeModels
    for mapping in mappings { status.models[mapping.name] = .init() }
  }

  var configuration: DataStoreConfiguration { sync.configuration }

  deinit { follower?.cancel() }

  // MARK: Events

  /// Whether an operation of the application starts the engine: at first, and after `stop`. From any thread.
  private let startsWithNext = Lock(true)

  /// Starts the engine with the first operation after its creation, or after a `stop`.
  func operationBegins() {
    let starts = startsWithNext.withLock { starts in
      defer { starts = false }
      return starts
    }
    if starts { room?.onThread { [weak self] writer in self?.start(writer) } }
  }

  func stop(_ writer: ClientWriter) {
    handle(.stop, writer)
    startsWithNext.withLock { $0 = true }
  }

  /// Starts the engine, unless it runs.
  func start(_ writer: ClientWriter) {
    startsWithNext.withLock { $0 = false }
    switch engine?.phase {
    case .subscribing?, .syncing?, .live?, .waiting?: return
    case .stopped?, .terminated?, nil: break
    }
    do {
      let models = try makeModels()
      engine = try makeEngine(models, writer)
      server = GraphQLSyncServer(
        transport: sync.transport, models: models, dialect: sync.dialect, pageSize: configuration.syncPageSize)
    } catch {
      return report(error as? DataStoreError ?? DataStoreError(.storage, "\(error)"))
    }
    epoch += 1
    partial = []
    refused = []
    handle(.start, writer)
  }

  private func makeEngine(_ models: [SyncModel], _ writer: ClientWriter) throws -> SyncEngine {
    var settings = SyncConfiguration(
      models: zip(models, parents).map { model, parents in
        let filter = model.predicate == .all ? [] : Array(model.predicate.canonicalText.utf8)
        return SyncConfiguration.Model(parents: parents, filter: filter)
      })
    settings.syncInterval = Int64(configuration.syncInterval) * 60_000
    settings.syncMaxRecords = configuration.syncMaxRecords
    let progress = try models.map { model in
      try writer.value(Self.progressName(model.shape)).flatMap { ModelProgress(text: $0) } ?? ModelProgress()
    }
    var chance = SystemChance.generator()
    return SyncEngine(
      settings, progress: progress, pending: try writer.outbox().map { ($0.number, $0.model) }, seed: chance.next())
  }

  static func progressName(_ shape: RecordShape) -> String { "sync." + shape.tableName }

  /// Handles an event, and those that follow from carrying it out.
  func handle(_ event: SyncEvent, _ writer: ClientWriter) {
    events.append(event)
    guard !isHandling else { return }
    isHandling = true
    while !events.isEmpty {
      let event = events.removeFirst()
      let wall = WallClock.sinceEpoch().wholeNanoseconds / 1_000_000
      let actions = engine?.handle(event, now: MonotonicClock.now(), wall: wall) ?? []
      for action in actions { carryOut(action, writer) }
    }
    isHandling = false
    publishStatus(writer)
  }

  private func carryOut(_ action: SyncAction, _ writer: ClientWriter) {
    do {
      try perform(action, writer)
    } catch {
      // The store cannot keep what the server says: nothing is followed until the application starts again.
      let failure = SyncFailure.refused(code: "STORE", message: "\(error)")
      events.append(.disconnected(generation: engine?.generation ?? 0, failure))
    }
  }

  /// An answer to a request of this epoch, from any thread.
  func answer(_ epoch: Int, _ event: @escaping @Sendable (SyncShell, ClientWriter) -> SyncEvent?) {
    room?.onThread { [weak self] writer in
      guard let self, self.epoch == epoch, let event = event(self, writer) else { return }
      self.handle(event, writer)
    }
  }

  /// Adds an event while others are handled.
  func follow(with event: SyncEvent) { events.append(event) }

  func wake(at time: Instant) {
    let epoch = epoch
    timer.set(time) { [weak self] in self?.answer(epoch) { _, _ in .timer } }
  }

  // MARK: Local writes

  /// A local transaction has been committed. Returns the handles of its writes.
  func committed(_ commit: ClientWriter.Commit, _ writer: ClientWriter) {
    for write in commit.outbox {
      if case .removed(let numbers) = write { for number in numbers { finish(number, nil) } }
      handle(.outbox(write), writer)
    }
    if engine == nil { publishStatus(writer) }
  }

  /// The handle of a write.
  func track(_ number: Int64) -> WriteHandle {
    if let known = handles[number] { return known }
    let handle = WriteHandle(number)
    if number == 0 { handle.end(nil) } else { handles[number] = handle }
    return handle
  }

  func finish(_ number: Int64, _ rejection: RejectedWrite.Reason?) {
    handles.removeValue(forKey: number)?.end(rejection)
  }

  // MARK: Status

  func report(_ error: DataStoreError) {
    status.lastError = error
    configuration.errorHandler(error)
    news.send(.failed(error))
  }

  func publishStatus(_ writer: ClientWriter) {
    for (number, mapping) in mappings.enumerated() {
      let isSynced = engine?.isSynced(model: number) ?? false
      guard status.models[mapping.name]?.isSynced != isSynced else { continue }
      status.models[mapping.name]?.isSynced = isSynced
      room?.syncChanged(model: number, isSynced: isSynced)
    }
    status.pendingCount = (try? writer.pendingCount()) ?? 0
    status.isSettled = engine?.isSettled ?? false
    news.publish(status)
  }
}

extension ModelProgress {
  /// As the store keeps it.
  var text: String {
    let digest = filter.map { JSONValue.int(Int64($0)) }
    return JSONValue.array([
      lastSync.map { .int($0) } ?? .null, completedAt.map { .int($0) } ?? .null, .array(digest),
    ]).description
  }

  init?(text: String) {
    guard let parts = try? JSONValue(parsing: Array(text.utf8)), parts.array?.count == 3 else { return nil }
    self.init(
      lastSync: parts[0]?.int, completedAt: parts[1]?.int,
      filter: (parts[2]?.array ?? []).compactMap { $0.int.flatMap(UInt8.init(exactly:)) })
  }
}
