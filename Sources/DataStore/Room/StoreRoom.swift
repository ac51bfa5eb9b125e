internal import MartletGraphQLClient
internal import MartletJSON
internal import MartletLiveQueries
internal import MartletModels
internal import MartletRuntime
internal import MartletSQLite
internal import MartletStore
internal import MartletSyncEngine
internal import MartletVocabulary

/// A store's thread and its file; beside it what follows its changes, and what keeps it and a server in step.
///
/// `@unchecked Sendable` holds because `writer` is used only by work that `thread` runs, one piece after the other;
/// everything else is immutable.
final class StoreRoom: @unchecked Sendable {
  let mappings: [ModelMapping]
  private let numbers: [String: Int]
  private let thread: any StoreLane
  private let writer: ClientWriter
  let streams: StoreStreams
  /// What keeps the store and a server in step; nil for a store without a server.
  let sync: SyncShell?
  /// The application's writes, and the server's answers, that are on the store's thread or wait for it.
  private let writes: Lock<Int>
  /// Where queries run meanwhile.
  private let queries: QueryLane

  init(
    _ plan: ModelPlan, _ storage: DataStoreStorage, sync: SyncShell? = nil, _ surroundings: StoreSurroundings = .system
  ) throws(DataStoreError) {
    let storage = try storage.resolved()
    self.sync = sync
    mappings = plan.mappings
    numbers = Dictionary(mappings.map { ($0.name, $0.shape.model) }) { first, _ in first }
    let files: MemoryFiles? = if case .memory = storage.place { surroundings.files ?? MemoryFiles() } else { nil }
    do {
      switch storage.place {
      case .file(let path, let key):
        writer = try ClientWriter(
          path: path, shapes: mappings.map(\.shape), references: plan.references, key: key,
          syncs: sync != nil)
      case .memory:
        writer = try ClientWriter(
          path: Self.pathInMemory, on: files, shapes: mappings.map(\.shape),
          references: plan.references, syncs: sync != nil,
          checkpointPages: surroundings.checkpointPages ?? ClientWriter.checkpointPages)
      }
    } catch {
      throw DataStoreError(error)
    }
    thread = surroundings.thread()
    let writes = Lock(0)
    self.writes = writes
    queries = Self.queryLane(storage, files, writer.layout, surroundings)
    streams = StoreStreams(
      mappings, thread, writer, beside: queries, isBusy: { writes.withLock { $0 } > 0 }, sync?.pace,
      now: surroundings.now)
    sync?.connect(self, storage)
    mappings.first?.link.connect(self)
    do throws(StoreError) {
      if let sync { try writer.beginSync(sync.order) }
      // Last: from here on another process may have the store's thread use the writer.
      if case .file(let path, _) = storage.place { try join(path) }
    } catch {
      throw DataStoreError(error)
    }
  }

  private static let pathInMemory = "/store"

  private static func queryLane(
    _ storage: DataStoreStorage, _ files: MemoryFiles?, _ layout: ClientLayout, _ surroundings: StoreSurroundings
  ) -> QueryLane {
    QueryLane(thread: surroundings.thread) { () throws(StoreError) in
      switch storage.place {
      case .file(let path, let key): try ClientReader(path: path, key: key, layout)
      case .memory: try ClientReader(path: pathInMemory, on: files, key: nil, layout)
      }
    }
  }

  /// Takes part with the other processes that have the file open.
  private func join(_ path: String) throws(StoreError) {
    var chance = SystemChance.generator()
    // The bell is the writer's, and ends with it.
    try writer.join(try ClientBell(path: path, id: "\(chance.next())") { [weak self] in self?.catchUp() })
    streams.joined()
  }

  /// Another process has changed the store.
  private func catchUp() {
    thread.execute { [self] in
      streams.publish(ClientWriter.Commit(), .local)
      if let sync { SyncProcesses(shell: sync, writer: writer).follow() }
    }
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
  ///
  /// - Parameter isWrite: whether it can take long, so that queries go another way.
  func perform<Value: Sendable>(
    isWrite: Bool = false, _ body: @escaping @Sendable (ClientWriter) throws -> Value
  ) async throws(DataStoreError) -> Value {
    if isWrite { writes.withLock { $0 += 1 } }
    let result: Result<Value, DataStoreError> = await withCheckedContinuation { continuation in
      thread.execute { [self] in
        let result = Result { try body(writer) }.mapError(Self.error)
        if isWrite { writes.withLock { $0 -= 1 } }
        continuation.resume(returning: result)
      }
    }
    return try result.get()
  }

  /// Runs `body` over everything that was committed when it was given: on the store's thread, or beside it while that
  /// has writes to do.
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (any ClientReading) throws -> Value
  ) async throws(DataStoreError) -> Value {
    if writes.withLock({ $0 }) > 0, let value = await queries.read(body) { return value }
    return try await perform { try body($0) }
  }

  /// Runs `body` in one durable transaction and passes its changes to the live queries before it returns.
  func commit<Value: Sendable>(
    _ body: @escaping @Sendable (ClientTransaction) throws -> Value
  ) async throws(DataStoreError) -> Value {
    try await perform(isWrite: true) { [self] writer in try transaction(writer, body) }
  }

  /// The same, on the store's thread.
  /// - Throws: what `body` throws, as it throws it.
  func transaction<Value>(_ writer: ClientWriter, _ body: (ClientTransaction) throws -> Value) throws -> Value {
    var result: Result<Value, any Error>?
    do {
      let commit = try write(writer) { transaction in
        result = Result { try body(transaction) }
        _ = try result?.get()
      }
      streams.publish(commit, .local)
      sync?.committed(commit, writer)
    } catch {
      if case .failure(let own)? = result { throw own }
      throw error
    }
    guard let result else { throw DataStoreError(.storage, "the transaction did not run") }
    return try result.get()
  }

  /// Commits a local transaction. A reader that finds its writes in the store finds a status that is not settled.
  func write(
    _ writer: ClientWriter, _ body: (ClientTransaction) throws -> Void
  ) throws(StoreError) -> ClientWriter.Commit {
    do throws(StoreError) {
      return try writer.transaction { transaction in
        try body(transaction)
        sync?.willCommit(transaction)
      }
    } catch {
      sync?.publishStatus(writer)
      throw error
    }
  }

  static func error(_ error: any Error) -> DataStoreError {
    switch error {
    case let error as DataStoreError: error
    case let error as StoreError: DataStoreError(error)
    default: DataStoreError(.storage, "\(error)")
    }
  }

  /// Runs `body` on the store's thread, after everything given before it, and does not wait for it.
  ///
  /// - Parameter isWrite: whether it can take long, so that queries go another way.
  func onThread(isWrite: Bool = false, _ body: @escaping @Sendable (ClientWriter) -> Void) {
    if isWrite { writes.withLock { $0 += 1 } }
    thread.execute { [self] in
      body(writer)
      if isWrite { writes.withLock { $0 -= 1 } }
    }
  }

  // MARK: Pauses

  /// An operation of the application: streams continue, and the sync runs.
  func resume() {
    sync?.operationBegins()
    streams.resume()
  }

  /// Deletes all rows. Streams stay connected, and are paused.
  ///
  /// - Parameter discardsPending: whether writes that the server does not have are deleted, too.
  func clear(discardsPending: Bool) async throws(DataStoreError) {
    try await perform { [self] writer in
      let pending = try writer.pendingCount()
      guard pending == 0 || discardsPending else {
        throw DataStoreError(.unsentWrites, "\(pending) writes have not reached the server")
      }
      streams.pause()
      if let sync {
        try sync.clear(writer)
      } else {
        _ = try writer.transaction { try $0.clear() }
      }
      try streams.reload()
    }
  }
}
