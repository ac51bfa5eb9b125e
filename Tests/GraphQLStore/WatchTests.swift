import MartletGraphQLStore
import MartletJSON
import MartletRuntime
import Testing

@Suite struct WatchTests {
  static let document = "{ flights { id gate } }"
  static let operation = StoreOperation(document: document)
  static func sent(_ gates: String...) -> JSONValue {
    ["flights": .array(gates.enumerated().map { flight(String($0.offset + 1), gate: .string($0.element)) })]
  }
  static func gates(_ result: StoreResult?) -> [String]? {
    result?.data?["flights"]?.array?.compactMap { $0["gate"]?.string }
  }
  static func move(_ bench: Bench, _ id: String, _ gate: String) throws {
    try bench.write("subscription { moved { id gate } }", ["moved": flight(id, gate: .string(gate))])
  }

  @Test func `a watcher shows the first result and each change of it`() async throws {
    let bench = Bench()
    let network = Network(Self.sent("A", "B"))
    var iterator = bench.store.watch(Self.operation, policy: .cacheFirst, fetch: network.fetch).makeAsyncIterator()
    let first = try await iterator.next()
    #expect(Self.gates(first) == ["A", "B"])
    #expect(first?.source == .server)
    try Self.move(bench, "2", "C")
    let second = try await iterator.next()
    #expect(Self.gates(second) == ["A", "C"])
    #expect(second?.source == .cache)
    #expect(network.asked == 1)
    // The miss, the server's answer, the change.
    #expect(bench.store.counters.watcherReads == 3)
  }

  @Test func `a thousand changes between two looks are one result and one reading`() async throws {
    let bench = Bench()
    try bench.write(Self.document, Self.sent("A", "B"))
    var iterator = bench.store.watch(Self.operation, policy: .cacheOnly, fetch: Network().fetch).makeAsyncIterator()
    #expect(Self.gates(try await iterator.next()) == ["A", "B"])
    let before = bench.store.counters
    for number in 0..<1_000 { try Self.move(bench, "1", "G\(number)") }
    #expect(Self.gates(try await iterator.next()) == ["G999", "B"])
    let after = bench.store.counters
    #expect(after.watcherReads - before.watcherReads == 1)
    #expect(after.watchersAsked - before.watchersAsked == 1)
  }

  @Test func `changes to other records and fields wake no watcher`() async throws {
    let bench = Bench()
    try bench.write(Self.document, Self.sent("A"))
    var iterator = bench.store.watch(Self.operation, policy: .cacheOnly, fetch: Network().fetch).makeAsyncIterator()
    _ = try await iterator.next()
    let before = bench.store.counters
    try Self.move(bench, "7", "X")
    #expect(bench.store.counters.watchersAsked == before.watchersAsked)
    try bench.write("{ flight(id: 1) { id delay } }", ["flight": ["__typename": "Flight", "id": "1", "delay": 5]])
    #expect(bench.store.counters.watchersAsked == before.watchersAsked + 1)
    try Self.move(bench, "1", "A")
    #expect(bench.store.counters.watcherReads == before.watcherReads)
    try Self.move(bench, "1", "Z")
    #expect(Self.gates(try await iterator.next()) == ["Z"])
    #expect(bench.store.counters.watcherReads == before.watcherReads + 1)
  }

  @Test func `a change and its reverse cause no result`() async throws {
    let bench = Bench()
    try bench.write(Self.document, Self.sent("A"))
    var iterator = bench.store.watch(Self.operation, policy: .cacheOnly, fetch: Network().fetch).makeAsyncIterator()
    _ = try await iterator.next()
    try Self.move(bench, "1", "B")
    try Self.move(bench, "1", "A")
    let looked = Lock(0)
    let store = bench.store
    // The watcher waits by itself after looking at an equal result; the next real change is what it answers.
    async let later: Void = {
      while store.counters.watcherReads < 2 { await Task.yield() }
      looked.withLock { $0 = store.counters.watcherReads }
      try Self.move(bench, "1", "C")
    }()
    #expect(Self.gates(try await iterator.next()) == ["C"])
    try await later
    #expect(looked.withLock { $0 } == 2)
  }

  @Test func `a waiting watcher is woken by a write from elsewhere`() async throws {
    let bench = Bench()
    try bench.write(Self.document, Self.sent("A"))
    let watch = bench.store.watch(Self.operation, policy: .cacheOnly, fetch: Network().fetch)
    let consumer = Task {
      var seen: [[String]] = []
      for try await result in watch {
        seen.append(Self.gates(result) ?? [])
        if seen.count == 3 { break }
      }
      return seen
    }
    while bench.store.counters.watcherReads < 1 { await Task.yield() }
    try Self.move(bench, "1", "B")
    while bench.store.counters.watcherReads < 2 { await Task.yield() }
    try Self.move(bench, "1", "C")
    #expect(try await consumer.value == [["A"], ["B"], ["C"]])
  }

  @Test func `a watcher ends with its consumer, by leaving the loop or by cancelling`() async throws {
    let bench = Bench()
    try bench.write(Self.document, Self.sent("A"))
    let watch = bench.store.watch(Self.operation, policy: .cacheOnly, fetch: Network().fetch)
    for try await _ in watch {
      #expect(bench.store.counters.watchers == 1)
      break
    }
    try Self.move(bench, "1", "B")
    #expect(bench.store.counters.watchers == 0)

    let consumer = Task {
      var count = 0
      for try await _ in watch { count += 1 }
      return count
    }
    while bench.store.counters.watcherReads < 2 { await Task.yield() }
    consumer.cancel()
    #expect(try await consumer.value == 1)
    #expect(bench.store.counters.watchers == 0)
  }

  @Test func `two consumers of one watch see the same changes`() async throws {
    let bench = Bench()
    try bench.write(Self.document, Self.sent("A"))
    let watch = bench.store.watch(Self.operation, policy: .cacheOnly, fetch: Network().fetch)
    var (one, two) = (watch.makeAsyncIterator(), watch.makeAsyncIterator())
    _ = try await one.next()
    _ = try await two.next()
    #expect(bench.store.counters.watchers == 2)
    try Self.move(bench, "1", "B")
    #expect(Self.gates(try await one.next()) == ["B"])
    #expect(Self.gates(try await two.next()) == ["B"])
  }

  @Test func `a change that leaves a hole is filled by a request`() async throws {
    let bench = Bench()
    try bench.write(Self.document, Self.sent("A"))
    let network = Network(Self.sent("A", "N"))
    var iterator = bench.store.watch(Self.operation, policy: .cacheFirst, fetch: network.fetch).makeAsyncIterator()
    _ = try await iterator.next()
    #expect(network.asked == 0)
    try bench.write("{ flights { id } }", ["flights": [flight("1"), ["__typename": "Flight", "id": "2"]]])
    let result = try await iterator.next()
    #expect(Self.gates(result) == ["A", "N"])
    #expect(result?.source == .server)
    #expect(network.asked == 1)
  }

  @Test func `a failed background request is reported, and the watch continues`() async throws {
    let bench = Bench()
    try bench.write(Self.document, Self.sent("A"))
    let network = Network()
    var iterator = bench.store.watch(Self.operation, policy: .cacheAndNetwork, fetch: network.fetch)
      .makeAsyncIterator()
    #expect(try await iterator.next()?.fetchError == nil)
    let failed = try await iterator.next()
    #expect(failed?.fetchError is Network.Down)
    #expect(Self.gates(failed) == ["A"])
    try Self.move(bench, "1", "B")
    #expect(Self.gates(try await iterator.next()) == ["B"])
  }

  @Test func `a first request that fails ends a watch that has nothing to show`() async throws {
    let bench = Bench()
    var iterator = bench.store.watch(Self.operation, policy: .cacheFirst, fetch: Network().fetch).makeAsyncIterator()
    await #expect(throws: Network.Down.self) { try await iterator.next() }
  }

  @Test func `the network's answer is not shown again when the store had it already`() async throws {
    let bench = Bench()
    try bench.write(Self.document, Self.sent("A"))
    let network = Network(Self.sent("A"))
    var iterator = bench.store.watch(Self.operation, policy: .cacheAndNetwork, fetch: network.fetch)
      .makeAsyncIterator()
    #expect(try await iterator.next()?.source == .cache)
    let store = bench.store
    async let later: Void = {
      while network.asked < 1 || store.counters.watcherReads < 2 { await Task.yield() }
      try Self.move(bench, "1", "B")
    }()
    #expect(Self.gates(try await iterator.next()) == ["B"])
    try await later
  }

  @Test func `two watchers that take away each other's data stop asking`() async throws {
    let bench = Bench { $0.limits.refetches = 3 }
    // Objects without identity in a list: each write replaces the other's.
    let network = Network(["tags": [["a": 1]]])
    for _ in 0..<10 { network.then(["tags": [["a": 1]]]) }
    var iterator = bench.store.watch(
      StoreOperation(document: "{ tags { a } }"), policy: .cacheFirst, fetch: network.fetch
    )
    .makeAsyncIterator()
    _ = try await iterator.next()
    let store = bench.store
    let other = Task {
      for round in 1...5 {
        try bench.write("{ tags { b } }", ["tags": [["b": .int(Int64(round))]]])
        while store.counters.watcherReads < 2 + 2 * min(round, 3) + max(0, round - 3) { await Task.yield() }
      }
      try bench.write("{ tags { a } }", ["tags": [["a": 2]]])
    }
    #expect(try await iterator.next()?.data == ["tags": [["a": 2]]])
    try await other.value
    #expect(network.asked == 4)
  }

  @Test func `clearing the store and removing records reach watchers`() async throws {
    let bench = Bench()
    try bench.write(Self.document, Self.sent("A"))
    let network = Network(Self.sent("B"), Self.sent("C"))
    var iterator = bench.store.watch(Self.operation, policy: .cacheFirst, fetch: network.fetch).makeAsyncIterator()
    _ = try await iterator.next()
    try bench.store.clear()
    #expect(Self.gates(try await iterator.next()) == ["B"])
    try await bench.store.withinReadWriteTransaction { try $0.remove(CacheKey("Flight:1")) }
    #expect(Self.gates(try await iterator.next()) == ["C"])
  }

  @Test func `an object that was missing wakes the watcher when it comes`() async throws {
    let bench = Bench()
    try bench.write(Self.document, Self.sent("A"))
    try await bench.store.withinReadWriteTransaction { try $0.remove(CacheKey("Flight:1")) }
    var iterator = bench.store.watch(Self.operation, policy: .cacheOnly, fetch: Network().fetch).makeAsyncIterator()
    let store = bench.store
    async let later: Void = {
      while store.counters.watcherReads < 1 { await Task.yield() }
      try Self.move(bench, "1", "B")
    }()
    #expect(Self.gates(try await iterator.next()) == ["B"])
    try await later
  }

  @Test func `what was asked for before the store was cleared does not come back`() async throws {
    let bench = Bench()
    let store = bench.store
    let network = Network(Self.sent("A"), Self.sent("B"))
    // Somebody signs out while the first answer is on its way.
    let fetch: StoreFetch = {
      let answer = try await network.fetch()
      if network.asked == 1 { try store.clear() }
      return answer
    }
    var results = store.results(for: Self.operation, policy: .networkOnly, fetch: fetch).makeAsyncIterator()
    #expect(Self.gates(try await results.next()) == ["A"])
    #expect(store.usage.records == 0)

    let second = Network(Self.sent("A"), Self.sent("B"))
    var watch = store.watch(
      Self.operation, policy: .cacheFirst,
      fetch: {
        let answer = try await second.fetch()
        if second.asked == 1 { try store.clear() }
        return answer
      }
    ).makeAsyncIterator()
    #expect(Self.gates(try await watch.next()) == ["B"])
    #expect(second.asked == 2)
  }
}
