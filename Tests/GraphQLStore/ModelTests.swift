import MartletGraphQLStore
import MartletJSON
import MartletSQLite
import MartletSQLiteStore
import MartletVocabulary
import Testing

/// Random steps (writes, hopes, roll-backs, evictions, garbage collection, transactions that throw) against the plain
/// reference, in memory and in a file alike: after each step every question has the reference's answer.
@Suite struct ModelTests {
  private struct No: Error {}
  private static let all = StoreOperation(document: "{ all { id f0 next { id f1 } } }")
  private static func one(_ index: Int) -> StoreOperation {
    StoreOperation(document: "query One($i: Int!) { one(i: $i) { id f0 f1 } }", variables: ["i": .int(Int64(index))])
  }

  private static func stores() throws -> [GraphQLStore] {
    var configuration = GraphQLStoreConfiguration()
    configuration.clock = { .seconds(1_000) }
    return [
      GraphQLStore(cache: InMemoryNormalizedCache(), configuration: configuration),
      GraphQLStore(
        cache: try SQLiteNormalizedCache(path: "/cache", on: MemoryFiles()), configuration: configuration),
    ]
  }

  /// The same steps to both stores and the reference.
  private struct Run {
    var random: SeededRandom
    var reference = Reference()
    let stores: [GraphQLStore]
    /// What a watcher shows is not a garbage, which the reference does not know.
    var collects = true
    var updates: [Int: [OptimisticUpdate]] = [:]
    var next = 0

    init(seed: UInt64, _ stores: [GraphQLStore]) {
      random = SeededRandom(seed: seed)
      self.stores = stores
    }

    private mutating func key() -> String { "N:\(Int.random(in: 0..<6, using: &random))" }
    private mutating func number() -> Int64 { Int64.random(in: 0..<4, using: &random) }

    mutating func step() async throws {
      switch Int.random(in: 0..<12, using: &random) {
      case 0, 1: try writeAll()
      case 2, 3: try writeOne()
      case 4, 5: try hope()
      case 6: try rollBack()
      case 7:
        let key = key()
        for store in stores { try store.evict(CacheKey(key)) }
        reference.records[key] = nil
      case 8:
        let key = Bool.random(using: &random) ? "QUERY_ROOT.all" : "QUERY_ROOT.one({\"i\":1})"
        for store in stores { try store.evict(CacheKey(key)) }
        reference.records[key] = nil
      case 9: if collects { try collect() }
      case 10: try await transaction()
      default:
        if Int.random(in: 0..<8, using: &random) == 0 {
          for store in stores { try store.clear() }
          reference = Reference()
          updates = [:]
        }
      }
    }

    private mutating func object(_ id: Int) -> (json: JSONObject, fields: [String: Reference.Value]) {
      let (first, second) = (number(), number())
      return (
        ["__typename": "N", "id": .int(Int64(id)), "f0": .int(first), "f1": .int(second)],
        ["id": .number(Int64(id)), "f0": .number(first), "f1": .number(second)]
      )
    }

    private mutating func merge(_ key: String, _ fields: [String: Reference.Value]) {
      reference.records[key, default: [:]].merge(fields) { $1 }
    }

    private mutating func writeAll() throws {
      var items: [JSONValue] = []
      var keys: [String] = []
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        let id = Int.random(in: 0..<6, using: &random)
        // An answer says of one object what is true: the same wherever it stands.
        if keys.contains("N:\(id)") { continue }
        var made = object(id)
        made.json["f1"] = Optional<JSONValue>.none
        made.fields["f1"] = nil
        keys.append("N:\(id)")
        let other = 6 + Int.random(in: 0..<3, using: &random)
        if Bool.random(using: &random) {
          made.fields["next"] = Reference.Value.none
          made.json["next"] = JSONValue.null
        } else {
          let value = Int64(other)
          made.json["next"] = ["__typename": "N", "id": .int(value), "f1": .int(value)]
          made.fields["next"] = .link("N:\(other)")
          merge("N:\(other)", ["id": .number(value), "f1": .number(value)])
        }
        items.append(.object(made.json))
        merge("N:\(id)", made.fields)
      }
      reference.records["QUERY_ROOT.all"] = ["all": .links(keys)]
      for store in stores { try store.publish(StorePayload(data: ["all": .array(items)]), of: ModelTests.all) }
    }

    private mutating func writeOne() throws {
      let index = Int.random(in: 0..<3, using: &random)
      var data: JSONValue = ["one": nil]
      var link = Reference.Value.none
      if Int.random(in: 0..<4, using: &random) > 0 {
        let id = Int.random(in: 0..<6, using: &random)
        let made = object(id)
        data = ["one": .object(made.json)]
        link = .link("N:\(id)")
        merge("N:\(id)", made.fields)
      }
      reference.records["QUERY_ROOT.one({\"i\":\(index)})"] = ["one": link]
      for store in stores { try store.publish(StorePayload(data: data), of: ModelTests.one(index)) }
    }

    private mutating func hope() throws {
      next += 1
      let field = Bool.random(using: &random) ? "f0" : "f1"
      let hope: Reference.Hope =
        switch Int.random(in: 0..<4, using: &random) {
        case 0: .remove(key())
        case 1: .set(key(), field, number())
        default: .add(key(), field, 40)
        }
      let works = reference.add(hope, number: next)
      for store in stores {
        if works {
          updates[next, default: []].append(try store.updateOptimistically { try hope.run($0) })
        } else {
          #expect(throws: Reference.Hope.Failed.self) { try store.updateOptimistically { try hope.run($0) } }
        }
      }
    }

    private mutating func rollBack() throws {
      guard let number = updates.keys.sorted().randomElement(using: &random) else { return }
      for update in updates.removeValue(forKey: number) ?? [] { try update.rollBack() }
      reference.rollBack(number)
    }

    private mutating func collect() throws {
      _ = reference.shown()
      let reached = reference.reached()
      let garbage = reference.records.count - reached.count
      for store in stores { #expect(try store.collectGarbage() == garbage) }
      reference.records = reference.records.filter { reached.contains($0.key) }
    }

    private mutating func transaction() async throws {
      let (key, value, fails) = (key(), number(), Bool.random(using: &random))
      for store in stores {
        let body: @Sendable (ReadWriteTransaction) throws -> Void = { transaction in
          try transaction.remove(CacheKey(key))
          try transaction.setFields(["f0": .int(value), "id": 9], of: CacheKey(key))
          if fails { throw No() }
        }
        if fails {
          await #expect(throws: No.self) { try await store.withinReadWriteTransaction { try body($0) } }
        } else {
          try await store.withinReadWriteTransaction { try body($0) }
        }
      }
      if !fails { reference.records[key] = ["f0": .number(value), "id": .number(9)] }
    }

    /// Every question, and how many records there are.
    mutating func check(_ what: String) async throws {
      for (index, store) in stores.enumerated() {
        #expect(try store.read(ModelTests.all)?.data == reference.all(), "\(what), store \(index)")
        for one in 0..<3 {
          #expect(
            try store.read(ModelTests.one(one))?.data == reference.one(one), "\(what), store \(index), one \(one)")
        }
        // A file also has what was learned about types.
        let types = try await store.withinReadTransaction { try $0.record(CacheKey("MARTLET_TYPES")) == nil ? 0 : 1 }
        #expect(store.usage.records == reference.records.count + types, "\(what), store \(index)")
      }
      for (number, updates) in updates {
        let isActive = reference.hopes.contains { $0.number == number }
        #expect(updates.map(\.isActive) == updates.map { _ in isActive }, "\(what), update \(number)")
      }
    }
  }

  @Test func `after every step every question has the reference's answer`() async throws {
    for seed in 1...30 as ClosedRange<UInt64> {
      var run = Run(seed: seed, try Self.stores())
      for step in 0..<60 {
        try await run.step()
        try await run.check("seed \(seed), step \(step)")
      }
    }
  }

  @Test func `watchers show what the reference shows, each state once`() async throws {
    var seen = 0
    for seed in 101...120 as ClosedRange<UInt64> {
      var run = Run(seed: seed, try Self.stores())
      run.collects = false
      var iterators = run.stores.map {
        $0.watch(Self.all, policy: .cacheOnly, fetch: Network().fetch).makeAsyncIterator()
      }
      // Something to begin with, so that the first look does not wait.
      for store in run.stores { try store.publish(StorePayload(data: ["all": []]), of: Self.all) }
      run.reference.records["QUERY_ROOT.all"] = ["all": .links([])]
      var shown: JSONValue?
      for step in 0..<60 {
        if let now = run.reference.all(), now != shown {
          for index in iterators.indices {
            let result = try await iterators[index].next()
            #expect(result?.data == now, "seed \(seed), step \(step), store \(index)")
          }
          shown = now
          seen += 1
        }
        try await run.step()
      }
      iterators = []
      for store in run.stores { #expect(store.counters.watchers == 0) }
    }
    #expect(seen > 200)
  }
}
