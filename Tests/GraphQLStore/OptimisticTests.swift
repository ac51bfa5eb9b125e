import MartletGraphQLStore
import MartletJSON
import MartletRuntime
import Testing

@Suite struct OptimisticTests {
  static let document = "{ flights { id gate } }"
  static let key = CacheKey("Flight:1")

  private func bench() throws -> Bench {
    let bench = Bench()
    try bench.write(Self.document, ["flights": [flight("1", gate: "A"), flight("2", gate: "B")]])
    return bench
  }
  private func gates(_ bench: Bench) throws -> [String]? {
    try bench.read(Self.document)?["flights"]?.array?.compactMap { $0["gate"]?.string }
  }

  @Test func `an optimistic update is seen at once and gone after rolling back`() throws {
    let bench = try bench()
    let update = try bench.store.updateOptimistically { try $0.setFields(["gate": "C"], of: Self.key) }
    #expect(try gates(bench) == ["C", "B"])
    #expect(update.isActive)
    try update.rollBack()
    #expect(try gates(bench) == ["A", "B"])
    #expect(!update.isActive)
    try update.rollBack()
    #expect(try gates(bench) == ["A", "B"])
  }

  @Test func `layers come off in any order`() throws {
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0]] {
      let bench = try bench()
      var updates: [OptimisticUpdate] = []
      for gate in ["X", "Y", "Z"] {
        updates.append(
          try bench.store.updateOptimistically { try $0.setFields(["gate": .string(gate)], of: Self.key) })
      }
      var standing = ["X", "Y", "Z"]
      for index in order {
        #expect(try gates(bench)?.first == standing.last)
        try updates[index].rollBack()
        standing.removeAll { $0 == ["X", "Y", "Z"][index] }
      }
      #expect(try gates(bench) == ["A", "B"])
    }
  }

  @Test func `an update that builds on another runs again when that one goes`() throws {
    let bench = try bench()
    func append(_ id: String) throws -> OptimisticUpdate {
      try bench.store.updateOptimistically { transaction in
        try transaction.update(Self.document) { data in
          data["flights"] = .array((data["flights"]?.array ?? []) + [flight(id, gate: .string("new " + id))])
        }
      }
    }
    let (three, four) = (try append("3"), try append("4"))
    #expect(try gates(bench) == ["A", "B", "new 3", "new 4"])
    try three.rollBack()
    #expect(try gates(bench) == ["A", "B", "new 4"])
    try four.rollBack()
    #expect(try gates(bench) == ["A", "B"])
  }

  @Test func `an update runs again when the server changes what it read, and only then`() throws {
    let bench = try bench()
    _ = try bench.store.updateOptimistically { transaction in
      let gate = try transaction.readFragment("fragment G on Flight { gate }", on: Self.key)["gate"]?.string ?? ""
      try transaction.setFields(["gate": .string(gate + "!")], of: Self.key)
    }
    #expect(try gates(bench) == ["A!", "B"])
    let before = bench.store.counters.optimisticRuns
    try bench.write("{ other { id gate } }", ["other": flight("2", gate: "Q")])
    #expect(bench.store.counters.optimisticRuns == before)
    try bench.write("{ other { id gate } }", ["other": flight("1", gate: "S")])
    #expect(bench.store.counters.optimisticRuns == before + 1)
    #expect(try gates(bench) == ["S!", "Q"])
  }

  @Test func `the server's answer takes an update's place in one step`() async throws {
    let bench = try bench()
    var iterator = bench.store.watch(
      StoreOperation(document: Self.document), policy: .cacheOnly, fetch: Network().fetch
    ).makeAsyncIterator()
    _ = try await iterator.next()
    let update = try bench.store.updateOptimistically { try $0.setFields(["gate": "C"], of: Self.key) }
    #expect(try await iterator.next()?.data?["flights"]?[0]?["gate"] == "C")
    let before = bench.store.counters.watcherReads
    try bench.store.publish(
      StorePayload(data: ["move": flight("1", gate: "D")]),
      of: StoreOperation(document: "mutation { move { id gate } }"), ending: update)
    #expect(try await iterator.next()?.data?["flights"]?[0]?["gate"] == "D")
    #expect(bench.store.counters.watcherReads == before + 1)
    #expect(!update.isActive)
  }

  @Test func `an answer equal to what was hoped for shows nothing new`() async throws {
    let bench = try bench()
    let update = try bench.store.updateOptimistically { try $0.setFields(["gate": "C"], of: Self.key) }
    var iterator = bench.store.watch(
      StoreOperation(document: Self.document), policy: .cacheOnly, fetch: Network().fetch
    ).makeAsyncIterator()
    #expect(try await iterator.next()?.data?["flights"]?[0]?["gate"] == "C")
    try bench.store.publish(
      StorePayload(data: ["move": flight("1", gate: "C")]),
      of: StoreOperation(document: "mutation { move { id gate } }"), ending: update)
    let store = bench.store
    async let later: Void = {
      while store.counters.watcherReads < 2 { await Task.yield() }
      try bench.write("{ other { id gate } }", ["other": flight("1", gate: "E")])
    }()
    #expect(try await iterator.next()?.data?["flights"]?[0]?["gate"] == "E")
    try await later
  }

  @Test func `hopes stay out of what a transaction writes for good`() async throws {
    let bench = try bench()
    let update = try bench.store.updateOptimistically { try $0.setFields(["gate": "C"], of: Self.key) }
    try await bench.store.withinReadWriteTransaction { transaction in
      try transaction.update("{ flights { id gate } }") { data in
        data["flights"] = .array(data["flights"]?.array?.reversed() ?? [])
      }
    }
    #expect(try gates(bench) == ["B", "C"])
    try update.rollBack()
    #expect(try gates(bench) == ["B", "A"])
  }

  @Test func `a body that throws makes no update, and one that throws later ends its update`() throws {
    struct No: Error {}
    let bench = try bench()
    #expect(throws: No.self) {
      try bench.store.updateOptimistically {
        try $0.setFields(["gate": "C"], of: Self.key)
        throw No()
      }
    }
    #expect(try gates(bench) == ["A", "B"])
    let update = try bench.store.updateOptimistically { transaction in
      let gate = try transaction.readFragment("fragment G on Flight { gate }", on: Self.key)["gate"]?.string
      if gate != "A" { throw No() }
      try transaction.setFields(["gate": "C"], of: Self.key)
    }
    #expect(try gates(bench) == ["C", "B"])
    try bench.write("{ other { id gate } }", ["other": flight("1", gate: "S")])
    #expect(try gates(bench) == ["S", "B"])
    #expect(!update.isActive)
    #expect(update.failure is No)
  }

  @Test func `beyond the limit the oldest update is rolled back`() throws {
    let bench = Bench { $0.limits.optimisticUpdates = 2 }
    try bench.write("{ a b c }", ["a": 0, "b": 0, "c": 0])
    let updates = try ["a", "b", "c"].map { name in
      try bench.store.updateOptimistically { try $0.write([name: 1], for: "{ \(name) }") }
    }
    #expect(try bench.read("{ a b c }") == ["a": 0, "b": 1, "c": 1])
    #expect(updates.map(\.isActive) == [false, true, true])
  }

  @Test func `an object made and one removed optimistically come and go`() throws {
    let bench = try bench()
    let made = try bench.store.updateOptimistically {
      try $0.write(["flight": flight("9", gate: "N")], for: "{ flight(id: 9) { id gate } }")
    }
    let removed = try bench.store.updateOptimistically { try $0.remove(Self.key) }
    #expect(try bench.read("{ flight(id: 9) { gate } }") == ["flight": ["gate": "N"]])
    #expect(try gates(bench) == nil)
    try removed.rollBack()
    #expect(try gates(bench) == ["A", "B"])
    try made.rollBack()
    #expect(try bench.read("{ flight(id: 9) { gate } }") == nil)
  }
}
