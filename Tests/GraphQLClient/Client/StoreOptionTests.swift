import Martlet
import MartletRuntime
import Testing

/// What a client's operations can ask of its store.
@Suite(.timeLimit(.minutes(1))) struct StoreOptionTests {
  /// Asks for more than `Hero.Query` brings.
  private struct Wide: GraphQLQuery {
    static let operationName = "Wide"
    static let operationDocument = "query Wide { hero { id name height } }"
    struct Data: Codable, Hashable, Sendable {
      struct Hero: Codable, Hashable, Sendable {
        var id: String
        var name: String?
        var height: Double?
      }
      var hero: Hero?
    }
  }

  @Test func `a partial result is shown where it is allowed, with what is missing`() async throws {
    let transport = GatedTransport(Hero.answer)
    let client = GraphQLClient(networkTransport: transport)
    _ = try await client.fetch(query: Hero.Query())
    let nothing = try await client.fetch(query: Wide(), cachePolicy: .cacheOnly)
    #expect(nothing.data == nil)
    let partial = try await client.fetch(query: Wide(), cachePolicy: .cacheOnly, allowingPartial: true)
    #expect(partial.data?.hero?.name == "R2-D2")
    #expect(partial.data?.hero?.height == nil)
    #expect(partial.missing == ["hero.height"])
    #expect(partial.source == .cache)
    var watch = try client.watch(query: Wide(), cachePolicy: .cacheOnly, allowingPartial: true).makeAsyncIterator()
    #expect(try await watch.next()?.missing == ["hero.height"])
    #expect(transport.requests.count == 1)
  }

  @Test func `a mutation shows what it expects at once, and then what is true`() async throws {
    let transport = GatedTransport(Hero.answer)
    let client = GraphQLClient(networkTransport: transport)
    var watch = try client.watch(query: Hero.Query()).makeAsyncIterator()
    #expect(try await watch.next()?.data?.hero?.name == "R2-D2")
    transport.state.withLock { $0.isOpen = false }
    async let answer = client.performOptimistically(mutation: Hero.Rename(name: "BB-8")) { store in
      try store.setFields(["name": "BB-8?"], of: CacheKey("Hero:1"))
    }
    #expect(try await watch.next()?.data?.hero?.name == "BB-8?")
    // What is only expected is not kept.
    let record = try await client.store.withinReadTransaction { try $0.record(CacheKey("Hero:1")) }
    #expect(record != nil)
    transport.open()
    #expect(try await answer.data?.rename?.name == "BB-8")
    #expect(try await watch.next()?.data?.hero?.name == "BB-8")
  }

  @Test func `a mutation that fails takes back what it expected`() async throws {
    let fails = Lock(false)
    let transport = GatedTransport { request in
      if fails.withLock({ $0 }) { throw GraphQLClientError(.outcomeUnknown, "lost") }
      return Hero.answer(request)
    }
    let client = GraphQLClient(networkTransport: transport)
    var watch = try client.watch(query: Hero.Query()).makeAsyncIterator()
    #expect(try await watch.next()?.data?.hero?.name == "R2-D2")
    fails.withLock { $0 = true }
    transport.state.withLock { $0.isOpen = false }
    async let failure = #expect(throws: GraphQLClientError.self) {
      try await client.performOptimistically(mutation: Hero.Rename(name: "BB-8")) { store in
        try store.setFields(["name": "BB-8?"], of: CacheKey("Hero:1"))
      }
    }
    #expect(try await watch.next()?.data?.hero?.name == "BB-8?")
    transport.open()
    #expect(await failure?.code == .outcomeUnknown)
    #expect(try await watch.next()?.data?.hero?.name == "R2-D2")
    // One that cannot even be expected is not sent.
    let sent = transport.requests.count
    await #expect(throws: CancellationError.self) {
      try await client.performOptimistically(mutation: Hero.Rename(name: "x")) { _ in throw CancellationError() }
    }
    #expect(transport.requests.count == sent)
  }

  @Test func `an answer that is not to be kept leaves the store as it was`() async throws {
    let client = GraphQLClient(networkTransport: GatedTransport(Hero.answer))
    _ = try await client.fetch(query: Hero.Query())
    let answer = try await client.perform(mutation: Hero.Rename(name: "BB-8"), writesStore: false)
    #expect(answer.data?.rename?.name == "BB-8")
    #expect(try await client.fetch(query: Hero.Query(), cachePolicy: .cacheOnly).data?.hero?.name == "R2-D2")
  }

  @Test func `evicting a record and clearing the store notify watchers, which fetch again`() async throws {
    let answers = Lock(0)
    let transport = GatedTransport { _ in
      let number = answers.withLock { answers in
        answers += 1
        return answers
      }
      return ["data": ["hero": Hero.hero("\(number)")]]
    }
    let client = GraphQLClient(networkTransport: transport)
    var watch = try client.watch(query: Hero.Query()).makeAsyncIterator()
    #expect(try await watch.next()?.data?.hero?.name == "1")
    try client.store.evict(CacheKey("Hero:1"))
    #expect(try await watch.next()?.data?.hero?.name == "2")
    try client.clearCache()
    #expect(client.store.usage.records == 0)
    #expect(try await watch.next()?.data?.hero?.name == "3")
    #expect(transport.requests.count == 3)
  }

  @Test func `a response names its source, and why the network did not answer`() async throws {
    let fails = Lock(false)
    let transport = GatedTransport { request in
      if fails.withLock({ $0 }) { throw GraphQLClientError(.connectFailed, "down") }
      return Hero.answer(request)
    }
    let client = GraphQLClient(networkTransport: transport)
    #expect(try await client.fetch(query: Hero.Query()).source == .server)
    #expect(try await client.fetch(query: Hero.Query()).source == .cache)
    fails.withLock { $0 = true }
    let stored = try await client.fetch(query: Hero.Query(), cachePolicy: .networkFirst)
    #expect(stored.source == .cache)
    #expect((stored.fetchError as? GraphQLClientError)?.code == .connectFailed)
  }
}
