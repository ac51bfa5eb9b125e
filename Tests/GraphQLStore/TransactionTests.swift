import MartletGraphQLStore
import MartletJSON
import Testing

@Suite struct TransactionTests {
  struct No: Error {}
  static let document = "{ flights { id gate } }"

  private func bench() throws -> Bench {
    let bench = Bench()
    try bench.write(Self.document, ["flights": [flight("1", gate: "A")]])
    return bench
  }

  @Test func `a transaction sees its own writes and makes them together`() async throws {
    let bench = try bench()
    let count = try await bench.store.withinReadWriteTransaction { transaction in
      try transaction.update(Self.document) { data in
        data["flights"] = .array((data["flights"]?.array ?? []) + [flight("2", gate: "B")])
      }
      return try transaction.read(Self.document)["flights"]?.array?.count
    }
    #expect(count == 2)
    #expect(try bench.read(Self.document)?["flights"]?.array?.count == 2)
  }

  @Test func `a transaction that throws leaves everything as it was`() async throws {
    let bench = try bench()
    var iterator = bench.store.watch(
      StoreOperation(document: Self.document), policy: .cacheOnly, fetch: Network().fetch
    ).makeAsyncIterator()
    _ = try await iterator.next()
    let before = bench.store.counters
    let usage = bench.store.usage
    await #expect(throws: No.self) {
      try await bench.store.withinReadWriteTransaction { transaction in
        try transaction.setFields(["gate": "Z"], of: CacheKey("Flight:1"))
        try transaction.remove(CacheKey("QUERY_ROOT.flights"))
        try transaction.write(["flight": flight("2")], for: "{ flight { id gate } }")
        throw No()
      }
    }
    #expect(try bench.read(Self.document) == ["flights": [["id": "1", "gate": "A"]]])
    #expect(bench.store.usage == usage)
    #expect(bench.store.counters.watchersAsked == before.watchersAsked)
  }

  @Test func `typed reads and fragments`() async throws {
    struct Board: Decodable, Sendable, Equatable {
      struct Flight: Decodable, Sendable, Equatable { var id: String; var gate: String }
      var flights: [Flight]
    }
    let bench = try bench()
    let board = try await bench.store.withinReadTransaction { try $0.read(Self.document, as: Board.self) }
    #expect(board == Board(flights: [.init(id: "1", gate: "A")]))
    try await bench.store.withinReadWriteTransaction { transaction in
      try transaction.writeFragment(
        ["gate": "Q", "stand": ["row": 1]], for: "fragment S on Flight { gate stand { row } }", on: CacheKey("Flight:1")
      )
    }
    let stand = try await bench.store.withinReadTransaction {
      try $0.readFragment("fragment S on Flight { id stand { row } gate }", on: CacheKey("Flight:1"))
    }
    #expect(stand == ["id": "1", "stand": ["row": 1], "gate": "Q"])
  }

  @Test func `reading what is not there names it`() async throws {
    let bench = try bench()
    let error = await #expect(throws: GraphQLStoreError.self) {
      try await bench.store.withinReadTransaction { try $0.read("{ flights { id delay } }") as JSONValue }
    }
    #expect(error?.code == .missingData)
    #expect(error?.message.hasSuffix("flights.0.delay") == true)
  }

  @Test func `calling the store inside its transaction is refused, not a deadlock`() async throws {
    let bench = try bench()
    let error = await #expect(throws: GraphQLStoreError.self) {
      try await bench.store.withinReadTransaction { _ in try bench.read(Self.document) }
    }
    #expect(error?.code == .insideTransaction)
    let nested = #expect(throws: GraphQLStoreError.self) {
      try bench.store.updateOptimistically { _ in _ = try bench.store.collectGarbage() }
    }
    #expect(nested?.code == .insideTransaction)
    let usage = bench.store.usage
    #expect(try await bench.store.withinReadTransaction { _ in bench.store.usage } == usage)
    // A task that starts inside is not inside.
    let task = try await bench.store.withinReadTransaction { _ in Task { try bench.read(Self.document) } }
    #expect(try await task.value != nil)
    #expect(try bench.read(Self.document) != nil)
  }

  @Test func `a transaction kept beyond its closure is refused`() async throws {
    let bench = try bench()
    nonisolated(unsafe) var kept: ReadTransaction?
    try await bench.store.withinReadTransaction { kept = $0 }
    let error = #expect(throws: GraphQLStoreError.self) { try kept?.read("{ a }") as JSONValue? }
    #expect(error?.code == .insideTransaction)
  }

  @Test func `a removed record and one written anew do not mix`() async throws {
    let bench = try bench()
    try await bench.store.withinReadWriteTransaction { transaction in
      try transaction.remove(CacheKey("Flight:1"))
      try transaction.write(
        ["flights": [["__typename": "Flight", "id": "1"]]], for: "{ flights { id } }")
    }
    #expect(try bench.read("{ flights { id } }") == ["flights": [["id": "1"]]])
    #expect(try bench.read(Self.document) == nil)
  }
}
