internal import MartletJSON
internal import MartletRuntime

/// Results of a client's operations, taken apart into records, so that each object is kept once and every query that
/// shows it sees its changes.
///
/// ```swift
/// var configuration = GraphQLStoreConfiguration()
/// configuration.keyFields["Airport"] = ["code"]
/// let store = GraphQLStore(cache: InMemoryNormalizedCache(), configuration: configuration)
/// ```
///
/// Calls do their work on the calling thread, one at a time.
public final class GraphQLStore: Sendable {
  /// How the store was set up.
  public let configuration: GraphQLStoreConfiguration
  private let core: Lock<StoreCore>

  /// What can be read and notified while the lock is held.
  private struct Gate {
    /// The thread that is inside; a call of the store from there is refused, since it would wait for itself.
    var inside: ThreadMark?
    /// Watchers that are gone and not yet taken out; a sequence may end anywhere.
    var forgotten: [Int] = []
    var usage = CacheUsage(records: 0, bytes: 0)
    var generation = 0
  }
  private let gate: Lock<Gate>

  /// A store in memory with the defaults.
  public convenience init() {
    self.init(cache: InMemoryNormalizedCache())
  }

  /// A store over a cache, which is the store's alone from now on.
  public init(
    cache: sending any NormalizedCache, configuration: GraphQLStoreConfiguration = GraphQLStoreConfiguration()
  ) {
    self.configuration = configuration
    gate = Lock(Gate(usage: cache.usage))
    core = Lock(StoreCore(cache: cache, configuration: configuration))
  }

  /// Runs `body` alone, and wakes watchers afterwards.
  func exclusively<Answer: Sendable>(
    _ body: (StoreCore) throws -> Answer
  ) throws(GraphQLStoreError) -> Answer {
    do {
      return try anyhow(body)
    } catch let error as GraphQLStoreError {
      throw error
    } catch {
      throw GraphQLStoreError(.backend, "the cache failed", underlying: error)
    }
  }

  private func anyhow<Answer: Sendable>(_ body: (StoreCore) throws -> Answer) throws -> Answer {
    let thread = ThreadMark.current
    if gate.withLock({ $0.inside == thread }) {
      throw GraphQLStoreError(.insideTransaction, "use the transaction's methods inside a transaction")
    }
    var waking: [CheckedContinuation<Void, Never>] = []
    defer { for waiter in waking { waiter.resume() } }
    return try core.withLock { core in
      let forgotten = gate.withLock { gate in
        gate.inside = thread
        defer { gate.forgotten = [] }
        return gate.forgotten
      }
      for number in forgotten { core.watchers.remove(number) }
      defer {
        waking = core.takeWaking()
        let usage = core.cache.usage
        gate.withLock { gate in
          gate.inside = nil
          gate.usage = usage
          gate.generation = core.generation
        }
      }
      return try body(core)
    }
  }

  /// The watcher is gone. Also from inside a transaction, where a sequence may end.
  func forget(watcher number: Int) {
    gate.withLock { $0.forgotten.append(number) }
    // Refused inside a transaction; the next call of the store takes it along.
    try? exclusively { _ in }
  }

  /// What the store has done so far; nothing from inside a transaction.
  package var counters: StoreCounters {
    let now = try? exclusively { core in
      var counters = core.counters
      counters.documentsParsed = core.shelf.parsed
      counters.watchersAsked = core.watchers.asked
      counters.watchers = core.watchers.count
      return counters
    }
    return now ?? StoreCounters()
  }

  /// How much the cache holds, as of the last call.
  public var usage: CacheUsage { gate.withLock { $0.usage } }

  /// Grows when everything is removed: an answer that was asked for before is not written after it.
  package var generation: Int { gate.withLock { $0.generation } }

  // MARK: Transactions

  /// Runs `body` with a view of the store that does not change meanwhile.
  /// - Throws: what `body` throws; `insideTransaction` from inside another.
  public func withinReadTransaction<Answer: Sendable>(
    _ body: (ReadTransaction) throws -> Answer
  ) async throws -> Answer {
    try anyhow { core in
      let transaction = ReadTransaction(core)
      defer { transaction.finish() }
      return try body(transaction)
    }
  }

  /// Runs `body` and makes its changes all at once; when it throws, none.
  /// - Throws: what `body` throws; `insideTransaction` from inside another; `backend`.
  public func withinReadWriteTransaction<Answer: Sendable>(
    _ body: (ReadWriteTransaction) throws -> Answer
  ) async throws -> Answer {
    try anyhow { core in
      // Over the cache alone: what is only hoped for must not get into it.
      let transaction = ReadWriteTransaction(core, layers: 0)
      defer { transaction.finish() }
      let answer = try body(transaction)
      if !transaction.overlay.isEmpty { try core.commit(transaction.overlay.changes) }
      return answer
    }
  }

  /// Shows an expected change until it is rolled back or the server's answer takes its place. `body` runs again
  /// whenever something that it read changes; it must not do anything else.
  ///
  /// ```swift
  /// let update = try store.updateOptimistically { try $0.setFields(["gate": "B12"], of: CacheKey("Flight:OS 87")) }
  /// ```
  /// - Throws: what `body` throws; `insideTransaction` from inside a transaction.
  public func updateOptimistically(
    _ body: @escaping @Sendable (ReadWriteTransaction) throws -> Void
  ) throws -> OptimisticUpdate {
    try anyhow { core in
      let update = OptimisticUpdate(number: core.nextLayer(), store: self)
      try core.add(layer: update, body)
      return update
    }
  }

  func rollBack(_ update: OptimisticUpdate) throws(GraphQLStoreError) {
    try exclusively { $0.tell($0.remove(layer: update.number)) }
  }

  // MARK: Bounds

  /// Removes records that no field of a root type leads to, nor a watcher, an optimistic update or `kept`.
  /// - Returns: how many records were removed.
  @discardableResult
  public func collectGarbage(keeping kept: [CacheKey] = []) throws(GraphQLStoreError) -> Int {
    try exclusively { try $0.collectGarbage(keeping: kept) }
  }

  /// Removes a record; a field of a root type is one, such as `QUERY_ROOT.hero`. Watchers that show it are notified,
  /// and ask the server again unless they are `cacheOnly`. Lists keep their reference to the record.
  public func evict(_ key: CacheKey) throws(GraphQLStoreError) {
    try exclusively { try $0.commit([.remove(key)]) }
  }

  /// Removes everything, optimistic updates as well. Watchers are notified.
  public func clear() throws(GraphQLStoreError) {
    try exclusively { try $0.clear() }
  }
}
