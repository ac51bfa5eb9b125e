import MartletGraphQLStore
import MartletJSON
import Testing

@Suite struct BoundsTests {
  private func add(_ bench: Bench, _ id: Int, size: Int = 1) throws {
    try bench.write(
      "mutation { add { id gate } }",
      ["add": flight(String(id), gate: .string(String(repeating: "x", count: size)))])
  }
  private func kept(_ bench: Bench, _ ids: some Sequence<Int>) async throws -> [Int] {
    try await bench.store.withinReadTransaction { transaction in
      try ids.filter { try transaction.record(CacheKey("Flight:\($0)")) != nil }
    }
  }

  @Test func `over the number of records the least recently used leave`() async throws {
    let bench = Bench { $0.limits.records = 3 }
    for id in 1...3 { try add(bench, id) }
    #expect(try await kept(bench, [1]) == [1])
    try add(bench, 4)
    #expect(try await kept(bench, 1...4) == [1, 3, 4])
    #expect(bench.store.usage.records == 3)
    #expect(bench.store.counters.evicted == 1)
  }

  @Test func `over the number of bytes the least recently used leave`() async throws {
    let bench = Bench { $0.limits.bytes = 10_000 }
    for id in 1...100 { try add(bench, id, size: 1_000) }
    #expect(bench.store.usage.bytes <= 10_000)
    #expect((5...10).contains(bench.store.usage.records))
    let kept = try await kept(bench, 1...100)
    #expect(kept == Array((kept.first ?? 0)...100))
  }

  @Test func `bytes are counted the same however a record came about`() throws {
    let whole = Bench()
    try whole.write(
      "{ a { id b c { d } e } }",
      ["a": ["__typename": "T", "id": 1, "b": "long enough to be on the heap", "c": ["d": [1, 2]], "e": "x"]])
    let parts = Bench()
    try parts.write(
      "{ a { id c { d } e } }",
      ["a": ["__typename": "T", "id": 1, "c": ["d": []], "e": "something long to be replaced"]])
    try parts.write("{ a { id b } }", ["a": ["__typename": "T", "id": 1, "b": "long enough to be on the heap"]])
    try parts.write("{ a { id c { d } e } }", ["a": ["__typename": "T", "id": 1, "c": ["d": [1, 2]], "e": "x"]])
    #expect(parts.store.usage == whole.store.usage)
    try parts.store.clear()
    #expect(parts.store.usage == CacheUsage(records: 0, bytes: 0))
  }

  @Test func `what grew old leaves, an eighth of the age late at most`() async throws {
    let time = TestClock()
    let bench = Bench {
      $0.limits.age = .seconds(80)
      $0.clock = { time.now }
    }
    try add(bench, 1)
    time.advance(60)
    try add(bench, 2)
    time.advance(31)
    try add(bench, 3)
    #expect(try await kept(bench, 1...3) == [2, 3])
    #expect(bench.store.counters.evicted == 1)
  }

  @Test func `records that a watcher shows stay, and eviction does not try in vain for each write`() async throws {
    let bench = Bench { $0.limits.records = 10 }
    let document = "{ flights { id gate } }"
    try bench.write(document, ["flights": .array((1...20).map { flight(String($0)) })])
    try bench.write(document, ["flights": .array((1...20).map { flight(String($0)) })])
    var iterator = bench.store.watch(
      StoreOperation(document: document), policy: .networkOnly,
      fetch: Network(["flights": .array((1...20).map { flight(String($0)) })]).fetch
    ).makeAsyncIterator()
    _ = try await iterator.next()
    for id in 100..<200 { try add(bench, id) }
    #expect(bench.store.usage.records <= 26)
    withExtendedLifetime(iterator) {}
  }

  @Test func `collecting garbage removes what no root leads to`() async throws {
    let bench = Bench()
    try bench.write(
      "{ board { rows { id next { id } } } }",
      [
        "board": [
          "rows": [[["__typename": "F", "id": 1, "next": ["__typename": "F", "id": 2, "next": nil]]]]
        ]
      ])
    try bench.write("mutation { a { id } }", ["a": ["__typename": "F", "id": 3]])
    try bench.write("mutation { a { id } }", ["a": ["__typename": "F", "id": 4]])
    #expect(bench.store.usage.records == 5)
    #expect(try bench.store.collectGarbage(keeping: [CacheKey("F:4")]) == 1)
    #expect(bench.store.usage.records == 4)
    #expect(try bench.store.collectGarbage() == 1)
    try await bench.store.withinReadWriteTransaction { try $0.remove(CacheKey("QUERY_ROOT.board")) }
    #expect(try bench.store.collectGarbage() == 2)
    #expect(bench.store.usage.records == 0)
  }

  @Test func `collecting garbage keeps what an optimistic update leads to`() throws {
    let bench = Bench()
    try bench.write("mutation { a { id } }", ["a": ["__typename": "F", "id": 3]])
    let update = try bench.store.updateOptimistically {
      try $0.write(
        ["hope": ["__typename": "H", "id": 1, "f": ["__typename": "F", "id": 3]]], for: "{ hope { id f { id } } }")
    }
    #expect(try bench.store.collectGarbage() == 0)
    try update.rollBack()
    #expect(try bench.store.collectGarbage() == 1)
  }

  @Test func `a cycle of records is garbage like any other`() throws {
    let bench = Bench()
    try bench.write(
      "mutation { a { id to { id to { id } } } }",
      ["a": ["__typename": "F", "id": 1, "to": ["__typename": "F", "id": 2, "to": ["__typename": "F", "id": 1]]]])
    #expect(try bench.store.collectGarbage() == 2)
  }
}
