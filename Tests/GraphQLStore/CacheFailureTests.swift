import MartletGraphQLStore
import MartletJSON
import MartletRuntime
import Testing

/// A cache in memory that fails when a test says so.
final class FailingCache: NormalizedCache {
  struct Full: Error {}
  /// Shared with the test; the cache itself is its store's alone.
  final class Switch: Sendable {
    private let state = Lock((writes: false, reads: false, tries: 0))
    func fail(writes: Bool, reads: Bool = false) { state.withLock { ($0.writes, $0.reads) = (writes, reads) } }
    var tries: Int { state.withLock { $0.tries } }
    func checkWrite() throws {
      let fails = state.withLock { state in
        state.tries += 1
        return state.writes
      }
      if fails { throw Full() }
    }
    func checkRead() throws { if state.withLock({ $0.reads }) { throw Full() } }
  }

  private let memory = InMemoryNormalizedCache()
  private let control: Switch

  init(_ control: Switch) { self.control = control }

  func record(for key: CacheKey) throws -> CacheEntry? {
    try control.checkRead()
    return try memory.record(for: key)
  }
  func apply(_ changes: [CacheChange], at time: Duration) throws -> CacheDifference {
    try control.checkWrite()
    return try memory.apply(changes, at: time)
  }
  func keys() throws -> [CacheKey] { try memory.keys() }
  var usage: CacheUsage { memory.usage }
  func evict(
    toRecords: Int, bytes: Int, expiry: Duration?, isSpared: (CacheKey) -> Bool
  ) throws -> [CacheKey] { try memory.evict(toRecords: toRecords, bytes: bytes, expiry: expiry, isSpared: isSpared) }
  func removeAll() throws {
    try control.checkWrite()
    try memory.removeAll()
  }
}

@Suite struct CacheFailureTests {
  private let control = FailingCache.Switch()
  private let clock = TestClock()
  private let store: GraphQLStore

  init() {
    var configuration = GraphQLStoreConfiguration()
    configuration.clock = { [clock] in clock.now }
    configuration.limits.cacheRetryPause = .seconds(1)
    store = GraphQLStore(cache: FailingCache(control), configuration: configuration)
  }

  private func first(_ policy: CachePolicy, _ network: Network) async throws -> StoreResult? {
    for try await result in store.results(for: PolicyTests.operation, policy: policy, fetch: network.fetch) {
      return result
    }
    return nil
  }

  private func code(_ result: StoreResult?) -> GraphQLStoreError.Code? { result?.storeError?.code }

  @Test(arguments: [CachePolicy.cacheFirst, .networkFirst, .networkOnly, .cacheAndNetwork])
  func `a result of the server is returned when it cannot be written, with the failure once`(
    policy: CachePolicy
  ) async throws {
    control.fail(writes: true)
    let network = Network(PolicyTests.sent("1"), PolicyTests.sent("2"), PolicyTests.sent("3"))
    let one = try await first(policy, network)
    #expect(one?.data == PolicyTests.seen("1") && code(one) == .backend)
    #expect(one?.storeError?.underlying is FailingCache.Full)
    let two = try await first(policy, network)
    #expect(two?.data == PolicyTests.seen("2") && two?.storeError == nil)
    // Off: a second passes before the cache is tried again.
    #expect(control.tries == 1)
    clock.advance(1)
    #expect(try await first(policy, network)?.data == PolicyTests.seen("3"))
    #expect(control.tries == 2)
  }

  @Test func `a cache that works again has nothing older than what was shown`() async throws {
    let network = Network(PolicyTests.sent("old"), PolicyTests.sent("missed"))
    _ = try await first(.cacheFirst, network)
    control.fail(writes: true)
    #expect(try await first(.networkOnly, network)?.data == PolicyTests.seen("missed"))
    control.fail(writes: false)
    // Another write turns it on; the record whose change was missed is gone, and the server is asked for it.
    clock.advance(1)
    try store.publish(
      StorePayload(data: ["other": ["__typename": "Flight", "id": "2"]]),
      of: StoreOperation(document: "{ other { id } }"))
    #expect(store.cacheFailure == nil)
    #expect(try store.read(PolicyTests.operation) == nil)
    network.then(PolicyTests.sent("new"))
    #expect(try await first(.cacheFirst, network)?.data == PolicyTests.seen("new"))
    #expect(try await first(.cacheFirst, network)?.source == .cache)
    // The next failure is reported again.
    control.fail(writes: true)
    network.then(PolicyTests.sent("newer"))
    #expect(code(try await first(.networkOnly, network)) == .backend)
  }

  @Test func `a cache that cannot be read sends the question to the server, and cacheOnly says why`() async throws {
    let network = Network(PolicyTests.sent("1"), PolicyTests.sent("2"))
    _ = try await first(.cacheFirst, network)
    control.fail(writes: true, reads: true)
    let answer = try await first(.cacheFirst, network)
    #expect(answer?.data == PolicyTests.seen("2") && answer?.source == .server && code(answer) == .backend)
    let error = await #expect(throws: GraphQLStoreError.self) { _ = try await first(.cacheOnly, network) }
    #expect(error?.code == .backend)
  }

  @Test func `an optimistic update ends with its result when that cannot be written`() async throws {
    let network = Network(PolicyTests.sent("1"))
    _ = try await first(.cacheFirst, network)
    let update = try store.updateOptimistically { try $0.setFields(["gate": "O"], of: CacheKey("Flight:1")) }
    control.fail(writes: true)
    let prepared = try store.prepare(PolicyTests.operation)
    #expect(prepared.keep(StorePayload(data: PolicyTests.sent("2")), ending: update)?.code == .backend)
    #expect(!update.isActive)
  }

  @Test func `a watcher shows the server's results while the cache is off`() async throws {
    control.fail(writes: true, reads: true)
    let network = Network(PolicyTests.sent("1"))
    var watch = store.watch(PolicyTests.operation, policy: .cacheFirst, fetch: network.fetch).makeAsyncIterator()
    let shown = try await watch.next()
    #expect(shown?.data == PolicyTests.seen("1") && code(shown) == .backend)
  }

  @Test func `data that do not fit the document are returned with the reason, each time`() async throws {
    let wrong: JSONValue = ["flight": "text"]
    let network = Network(wrong, wrong)
    for _ in 1...2 { #expect(code(try await first(.networkOnly, network)) == .unexpectedData) }
    #expect(store.cacheFailure == nil)
  }

  @Test func `more missed changes than are remembered empty the cache when it works again`() throws {
    func write(_ ids: Range<Int>) throws {
      try store.publish(
        StorePayload(data: ["all": .array(ids.map { ["__typename": "Flight", "id": .string("\($0)")] })]),
        of: StoreOperation(document: "{ all { id } }"))
    }
    try write(0..<3)
    control.fail(writes: true)
    #expect(throws: GraphQLStoreError.self) { try write(10..<10_020) }
    control.fail(writes: false)
    clock.advance(1)
    try write(5..<6)
    // The list and its one record.
    #expect(store.usage.records == 2)
  }
}
