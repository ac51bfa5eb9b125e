internal import MartletJSON
internal import MartletModels
internal import MartletRuntime
internal import MartletStore
internal import MartletSyncEngine
internal import MartletVocabulary

/// Drives the sync engine of one store: carries out what it decides, and reports what happened. What the actions come
/// to is in `SyncDownloads`, `SyncUploads` and `SyncProcesses`.
///
/// `@unchecked Sendable` holds because everything that changes is used on the store's thread only, or is behind a lock
/// of its own; `room` is set before the store is handed out.
final class SyncShell: @unchecked Sendable {
  /// What an operation of the application does.
  private enum Begin {
    /// The store was just opened: every operation starts the engine.
    case open
    case started
    /// After `stop` and `clear`: queries, saves and deletes start the engine, observing does not.
    case stopped
  }

  let mappings: [ModelMapping]
  /// The numbers of the models, those that others belong to first.
  var order: [Int] { DependencyOrder.order(parents: parents) }
  private let makeModels: @Sendable () throws -> [SyncModel]
  let sync: DataStoreSync
  private let parents: [[Int]]
  private(set) weak var room: StoreRoom?
  let pace: SnapshotPace
  let surroundings: StoreSurroundings
  var spawner: any Spawner { surroundings.spawner }
  private let begin = Lock(Begin.open)

  // On the store's thread.

  private(set) var engine: SyncEngine?
  private(set) var server: (any SyncServer)?
  let report: SyncReport
  private var events: [SyncEvent] = []
  private var isHandling = false
  /// Names the present engine: answers to an earlier one's requests are ignored.
  private(set) var epoch = 0
  var downloads = DownloadState()
  var right = EngineRight()

  init(
    _ mappings: [ModelMapping], parents: [[Int]], _ sync: DataStoreSync, _ surroundings: StoreSurroundings,
    _ makeModels: @escaping @Sendable () throws -> [SyncModel]
  ) {
    self.mappings = mappings
    self.parents = parents
    self.sync = sync
    self.surroundings = surroundings
    self.makeModels = makeModels
    pace = SnapshotPace(
      interval: sync.configuration.snapshotInterval, changes: sync.configuration.snapshotChanges,
      timer: surroundings.timer())
    report = SyncReport(mappings, errorHandler: sync.configuration.errorHandler)
  }

  deinit { downloads.follower?.cancel() }

  /// The store that is synced.
  func connect(_ room: StoreRoom, _ storage: DataStoreStorage) {
    self.room = room
    if case .file(let path, _) = storage.place { right = EngineRight(path: path) }
  }

  var configuration: DataStoreConfiguration { sync.configuration }

  // MARK: Starting and stopping

  /// Starts the engine with an operation on records. From any thread.
  func operationBegins() { begins { $0 != .started } }

  /// Starts the engine with the first live query of a store. From any thread.
  func observationBegins() { begins { $0 == .open } }

  private func begins(_ starts: (Begin) -> Bool) {
    let isStarting = begin.withLock { begin in
      let isStarting = starts(begin)
      if isStarting { begin = .started }
      return isStarting
    }
    if isStarting { room?.onThread { [weak self] writer in self?.start(writer) } }
  }

  /// Starts the engine, unless it runs, here or in another process.
  func start(_ writer: ClientWriter) {
    begin.withLock { $0 = .started }
    switch engine?.phase {
    case .subscribing?, .syncing?, .live?, .waiting?: return
    case .stopped?, .terminated?, nil: break
    }
    do {
      let processes = SyncProcesses(shell: self, writer: writer)
      guard processes.hasAllFields() else { return }
      guard try processes.takeRight() else {
        // The engine of an earlier start is over: the process that has the right says what is synced.
        forget()
        return processes.follow()
      }
      let models = try makeModels()
      _ = try clientName(writer)
      downloads = DownloadState()
      downloads.history = try SyncHistory(writer)
      let earlier = engine
      engine = try SyncEngine(
        models, parents: parents, configuration, writer, heldChanges: surroundings.heldChanges, seed: chance())
      try followWrites(of: earlier, processes)
      server = GraphQLSyncServer(
        transport: sync.transport, models: models, documents: sync.documents, pageSize: configuration.syncPageSize,
        spawner: spawner)
    } catch {
      report.terminate(StoreRoom.error(error))
      return publishStatus(writer)
    }
    epoch += 1
    report.status.isElsewhere = false
    // As the original does: the first report of the network is that it is not reached yet.
    report.announce(.networkStatus(active: false))
    handle(.start, writer)
  }

  /// The engine waits for the feed to pass the writes that the server had before it: of an earlier engine, and of
  /// another process that has run the sync meanwhile.
  private func followWrites(of earlier: SyncEngine?, _ processes: SyncProcesses) throws {
    if let earlier { engine?.follow(earlier) }
    if report.places.isEmpty { return }
    let pending = Set(engine.map { Array($0.pendingNumbers) } ?? [])
    engine?.follow(try processes.settleWrites(pending: pending))
  }

  func stop(_ writer: ClientWriter) {
    if engine != nil { handle(.stop, writer) }
    right.giveUp()
    begin.withLock { $0 = .stopped }
  }

  /// Deletes everything, the outbox included, and stops.
  func clear(_ writer: ClientWriter) throws {
    let pending = try writer.outbox().map { write in (write.number, try writer.place(of: write.number)) }
    stop(writer)
    forget()
    _ = try writer.transaction { try $0.clear() }
    for case (let number, let place?) in pending { report.cleared(report.mutation(number, at: place)) }
    report.endAll(.cleared)
    publishStatus(writer)
  }

  /// The stopped engine is over, with the answers that it awaits.
  func forget() {
    engine = nil
    epoch += 1
  }

  /// This store's name for the server, kept over restarts.
  func clientName(_ writer: ClientWriter) throws -> String {
    if let known = try writer.value("client") { return known }
    // 128 bits, so that no two stores ever share a name.
    let name = String(chance(), radix: 16) + "-" + String(chance(), radix: 16)
    _ = try writer.transaction { try $0.set("client", name) }
    return name
  }

  // MARK: Events

  /// Handles an event, and those that follow from carrying it out.
  func handle(_ event: SyncEvent, _ writer: ClientWriter) {
    events.append(event)
    handleEvents(writer)
  }

  private func handleEvents(_ writer: ClientWriter) {
    guard !isHandling else { return }
    isHandling = true
    // Carrying out an action can add events.
    var next = 0
    while next < events.count {
      let event = events[next]
      next += 1
      let actions = engine?.handle(event, now: surroundings.now(), wall: surroundings.milliseconds()) ?? []
      // What follows an action builds on it: a model is not complete whose last page could not be stored.
      for action in actions { guard carryOut(action, writer) else { break } }
    }
    events = []
    isHandling = false
    publishStatus(writer)
  }

  private func chance() -> UInt64 {
    var generator = surroundings.chance()
    return generator.next()
  }

  /// Carries an action out; returns whether that succeeded.
  private func carryOut(_ action: SyncAction, _ writer: ClientWriter) -> Bool {
    do {
      try perform(action, writer)
      return true
    } catch {
      if !SyncProcesses(shell: self, writer: writer).hasAllFields() { return false }
      // The store cannot keep what the server sends: nothing is followed until the application starts again.
      follow(with: .storeFailed(.refused(code: "STORE", message: "\(StoreRoom.error(error))")))
      return false
    }
  }

  /// Asks something of the server, away from the store's thread; the answer is an event of this epoch.
  func ask<Answer: Sendable>(
    _ question: @escaping @Sendable () async -> Answer,
    _ event: @escaping @Sendable (Answer, SyncShell, ClientWriter) -> SyncEvent?
  ) {
    let epoch = epoch
    spawner.spawn { [weak self] in
      let answer = await question()
      self?.answer(epoch) { shell, writer in event(answer, shell, writer) }
    }
  }

  /// An answer to a request of this epoch, from any thread.
  func answer(_ epoch: Int, _ event: @escaping @Sendable (SyncShell, ClientWriter) -> SyncEvent?) {
    room?.onThread(isWrite: true) { [weak self] writer in
      guard let self, self.epoch == epoch, let event = event(self, writer) else { return }
      self.handle(event, writer)
    }
  }

  /// The same; returns when it has been handled, so that a feed is read no faster than its changes are stored.
  func answered(_ epoch: Int, _ event: @escaping @Sendable (SyncShell, ClientWriter) -> SyncEvent?) async {
    guard let room else { return }
    await withCheckedContinuation { continuation in
      room.onThread(isWrite: true) { [weak self] writer in
        if let self, self.epoch == epoch, let event = event(self, writer) { self.handle(event, writer) }
        continuation.resume()
      }
    }
  }

  /// Adds an event while others are handled.
  func follow(with event: SyncEvent) { events.append(event) }

  func wake(at time: Instant) {
    let epoch = epoch
    pace.timer.set(.engine, time) { [weak self] in self?.answer(epoch) { _, _ in .timer } }
  }

  // MARK: Local writes

  /// A local transaction is about to be committed. Readers beside the store's thread find its writes before the engine
  /// does.
  func willCommit(_ transaction: ClientTransaction) {
    guard report.status.isSettled, transaction.isQueueing else { return }
    report.status.isSettled = false
    report.publish()
  }

  /// A local transaction has been committed.
  func committed(_ commit: ClientWriter.Commit, _ writer: ClientWriter) {
    for write in commit.cancelled { report.supersede(write.number, at: (write.model, write.key)) }
    for write in commit.outbox { follow(with: .outbox(write)) }
    if engine == nil || !commit.outbox.isEmpty { handleEvents(writer) }
  }

  // MARK: Status

  func publishStatus(_ writer: ClientWriter) {
    // The engine counts what the store would have to count row by row.
    let pending = engine?.pendingNumbers.count ?? (try? writer.pendingCount())
    report.status.pendingCount = pending ?? 0
    if report.status.isElsewhere {
      // How far the sync is says the process with the engine; what waits for it is in the file.
      report.status.isSettled = report.status.isConnected && report.status.isSynced && pending == 0
    } else {
      for number in mappings.indices { setSynced(number, engine?.isSynced(model: number) ?? false) }
      report.status.isSettled = report.status.isConnected && engine?.isSettled ?? false
      SyncProcesses(shell: self, writer: writer).share()
    }
    report.publish()
  }

  func setSynced(_ model: Int, _ isSynced: Bool) {
    guard report.status.models[mappings[model].name]?.isSynced != isSynced else { return }
    report.status.models[mappings[model].name]?.isSynced = isSynced
    room?.streams.syncChanged(model: model, isSynced: isSynced)
  }
}
