import MartletGraphQLStore
import MartletJSON
import Testing

@Suite struct PolicyTests {
  static let document = "{ flight(id: 1) { id gate } }"
  static let operation = StoreOperation(document: document)
  static func sent(_ gate: String) -> JSONValue { ["flight": flight("1", gate: .string(gate))] }
  static func seen(_ gate: String) -> JSONValue { ["flight": ["id": "1", "gate": .string(gate)]] }

  /// Results under a policy, and how often the network was asked.
  private func run(
    _ policy: CachePolicy, cached: Bool, _ network: Network
  ) async throws -> (results: [StoreResult], kept: JSONValue?) {
    let bench = Bench()
    if cached { try bench.write(Self.document, Self.sent("cached")) }
    var results: [StoreResult] = []
    for try await result in bench.store.results(for: Self.operation, policy: policy, fetch: network.fetch) {
      results.append(result)
    }
    return (results, try bench.read(Self.document))
  }

  @Test func `cacheFirst asks the network on a miss only`() async throws {
    let network = Network(Self.sent("new"))
    let hit = try await run(.cacheFirst, cached: true, network)
    #expect(hit.results.map(\.data) == [Self.seen("cached")])
    #expect(hit.results.map(\.source) == [.cache])
    #expect(network.asked == 0)
    let miss = try await run(.cacheFirst, cached: false, network)
    #expect(miss.results.map(\.data) == [Self.seen("new")])
    #expect(miss.results.map(\.source) == [.server])
    #expect(miss.kept == Self.seen("new"))
    #expect(network.asked == 1)
  }

  @Test func `networkFirst falls back to the store when the request fails, and says why`() async throws {
    let network = Network(Self.sent("new"))
    let fresh = try await run(.networkFirst, cached: true, network)
    #expect(fresh.results.map(\.data) == [Self.seen("new")])
    let fallback = try await run(.networkFirst, cached: true, network)
    #expect(fallback.results.map(\.data) == [Self.seen("cached")])
    #expect(fallback.results.first?.source == .cache)
    #expect(fallback.results.first?.fetchError is Network.Down)
    await #expect(throws: Network.Down.self) { try await run(.networkFirst, cached: false, network) }
  }

  @Test func `a response with errors is not a failure for networkFirst`() async throws {
    let network = Network()
    network.then(["flight": nil], errors: [["message": "no", "path": ["flight"]]])
    let outcome = try await run(.networkFirst, cached: true, network)
    #expect(outcome.results.map(\.data) == [["flight": nil]])
    #expect(outcome.results.first?.errors.count == 1)
    #expect(outcome.kept == Self.seen("cached"))
  }

  @Test func `cacheOnly never asks`() async throws {
    let network = Network(Self.sent("new"))
    #expect(try await run(.cacheOnly, cached: true, network).results.map(\.data) == [Self.seen("cached")])
    #expect(try await run(.cacheOnly, cached: false, network).results.isEmpty)
    #expect(network.asked == 0)
  }

  @Test func `networkOnly never reads, and writes`() async throws {
    let network = Network(Self.sent("new"))
    let outcome = try await run(.networkOnly, cached: true, network)
    #expect(outcome.results.map(\.data) == [Self.seen("new")])
    #expect(outcome.kept == Self.seen("new"))
    await #expect(throws: Network.Down.self) { try await run(.networkOnly, cached: true, network) }
  }

  @Test func `cacheAndNetwork answers twice on a hit and once on a miss`() async throws {
    let network = Network(Self.sent("new"), Self.sent("new"))
    let hit = try await run(.cacheAndNetwork, cached: true, network)
    #expect(hit.results.map(\.data) == [Self.seen("cached"), Self.seen("new")])
    #expect(hit.results.map(\.source) == [.cache, .server])
    #expect(try await run(.cacheAndNetwork, cached: false, network).results.map(\.data) == [Self.seen("new")])
    #expect(network.asked == 2)
  }

  @Test func `noCache leaves the store alone`() async throws {
    let network = Network(Self.sent("new"))
    let outcome = try await run(.noCache, cached: true, network)
    #expect(outcome.results.map(\.data) == [Self.seen("new")])
    #expect(outcome.kept == Self.seen("cached"))
  }

  @Test func `the older names mean the newer policies`() {
    #expect(CachePolicy.returnCacheDataElseFetch == .cacheFirst)
    #expect(CachePolicy.returnCacheDataDontFetch == .cacheOnly)
    #expect(CachePolicy.returnCacheDataAndFetch == .cacheAndNetwork)
    #expect(CachePolicy.cacheThenNetwork == .cacheAndNetwork)
    #expect(CachePolicy.fetchIgnoringCacheData == .networkOnly)
    #expect(CachePolicy.fetchIgnoringCacheCompletely == .noCache)
    #expect(CachePolicy.default == .cacheFirst)
  }

  @Test func `partial data are answered when they are asked for, and what is missing is named`() throws {
    let bench = Bench()
    try bench.write(
      "{ flights { id } other }", ["flights": [flight("1"), ["__typename": "Flight", "id": "2"]], "other": 1])
    let operation = StoreOperation(document: "{ flights { id gate } other unknown }")
    #expect(try bench.store.read(operation) == nil)
    let found = try #require(try bench.store.read(operation, allowingPartial: true))
    #expect(found.data == ["flights": [["id": "1"], ["id": "2"]], "other": 1])
    #expect(found.missing == ["flights.0.gate", "flights.1.gate", "unknown"])
    #expect(try bench.store.read(StoreOperation(document: "{ nothing }"), allowingPartial: true) == nil)
  }

  @Test func `with partial data allowed, cacheFirst shows them and asks for the rest`() async throws {
    let bench = Bench()
    try bench.write("{ flight(id: 1) { id } }", ["flight": ["__typename": "Flight", "id": "1"]])
    let network = Network(Self.sent("new"))
    var results: [StoreResult] = []
    for try await result in bench.store.results(
      for: Self.operation, policy: .cacheFirst, allowingPartial: true, fetch: network.fetch)
    {
      results.append(result)
    }
    #expect(results.map(\.data) == [["flight": ["id": "1"]], Self.seen("new")])
    #expect(results.map(\.isPartial) == [true, false])
  }

  @Test func `records that are too old are a miss`() throws {
    let time = TestClock()
    let bench = Bench {
      $0.limits.age = .seconds(60)
      $0.clock = { time.now }
    }
    try bench.write(Self.document, Self.sent("a"))
    time.advance(60)
    #expect(try bench.read(Self.document) == Self.seen("a"))
    time.advance(1)
    #expect(try bench.read(Self.document) == nil)
  }
}
