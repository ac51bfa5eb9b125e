import MartletDataStore
import MartletServer
import MartletVocabulary
import Testing

/// Random records and predicates over every kind of field that filters compare.
private struct RandomSamples {
  var random: SeededRandom

  mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

  private mutating func one<Value>(of values: [Value]) -> Value { values[below(values.count)] }

  private mutating func maybe<Value>(_ make: (inout RandomSamples) -> Value) -> Value? {
    below(4) == 0 ? nil : make(&self)
  }

  private static let texts = ["", "a", "ab", "b", "A", "a%", "\u{E9}", "e\u{301}", "\u{1F600}"]
  private mutating func text() -> String { one(of: Self.texts) }
  private mutating func number() -> Int { below(6) - 2 }
  private mutating func mood() -> Sample.Mood { one(of: [.happy, .sad]) }
  private mutating func list<Value>(_ make: (inout RandomSamples) -> Value) -> [Value] {
    var values: [Value] = []
    for _ in 0..<below(4) { values.append(make(&self)) }
    return values
  }

  mutating func sample(_ id: String) -> Sample {
    Sample(
      id: id, text: maybe { $0.text() }, ints: maybe { $0.list { $0.number() } },
      floats: maybe { $0.list { Double($0.number()) / 2 } }, flags: maybe { $0.list { $0.below(2) == 0 } },
      moods: maybe { $0.list { $0.mood() } }, mood: maybe { $0.mood() }, rank: maybe { $0.number() },
      flag: maybe { $0.below(2) == 0 })
  }

  mutating func predicate(depth: Int) -> QueryPredicate {
    guard depth > 0, below(4) > 0 else { return leaf() }
    switch below(4) {
    case 0: return !predicate(depth: depth - 1)
    case 1: return predicate(depth: depth - 1) && predicate(depth: depth - 1)
    case 2: return predicate(depth: depth - 1) || predicate(depth: depth - 1)
    case _: return .not(.or([predicate(depth: depth - 1), leaf()]))
    }
  }

  private mutating func leaf() -> QueryPredicate {
    let keys = Sample.keys
    switch below(14) {
    case 0: return compared(keys.text, text())
    case 1: return below(2) == 0 ? keys.text.contains(text()) : keys.text.notContains(text())
    case 2: return keys.text.beginsWith(text())
    case 3: return keys.text.in(list { $0.text() })
    case 4: return compared(keys.rank, number())
    case 5: return keys.rank.between(start: number(), end: number())
    case 6: return keys.rank.in(list { $0.number() })
    case 7: return below(2) == 0 ? keys.flag == (below(2) == 0) : keys.flag != (below(2) == 0)
    case 8: return below(2) == 0 ? keys.mood == mood() : keys.mood != mood()
    case 9: return keys.mood.in(list { $0.mood() })
    case 10: return below(2) == 0 ? keys.ints.contains(number()) : keys.ints.notContains(number())
    case 11: return below(2) == 0 ? keys.floats.contains(Double(number()) / 2) : keys.floats.notContains(0.5)
    case 12: return below(2) == 0 ? keys.moods.contains(mood()) : keys.flags.contains(below(2) == 0)
    case _:
      let field = one(of: [keys.text, keys.rank, keys.flag, keys.mood, keys.ints, keys.moods])
      return field.attributeExists(below(2) == 0)
    }
  }

  private mutating func compared(_ field: Sample.CodingKeys, _ value: some QueryOperand) -> QueryPredicate {
    switch below(6) {
    case 0: field == value
    case 1: field != value
    case 2: field < value
    case 3: field <= value
    case 4: field > value
    case _: field >= value
    }
  }
}

@Suite(.timeLimit(.minutes(1))) struct RandomExpressionTests {
  /// The server answers the first sync in SQL and its feed in memory, the store its query in SQL.
  @Test(arguments: UInt64(1)...4)
  func `a random predicate selects other records at the server than on the device, in a sync or in what follows it`(
    seed: UInt64
  ) async throws {
    try await SyncedServer.with(
      Sample.schema, { configuration in configuration.limits.session.positionInterval = .milliseconds(20) }
    ) { server in
      let bob = try SyncedStore(server, as: "bob", models: [Sample.self])
      defer { bob.close() }
      var random = RandomSamples(random: SeededRandom(seed: seed))
      func write() async throws {
        let samples = (0..<24).map { random.sample("s\($0)") }
        try await bob.store.transaction { transaction in for sample in samples { try transaction.save(sample) } }
        try await bob.settle()
      }
      try await write()
      let predicates = (0..<12).map { _ in random.predicate(depth: 3) }
      let stores = try predicates.map { predicate in
        try SyncedStore(server, models: [Sample.self]) { configuration in
          configuration.syncExpressions = [.syncExpression(Sample.self) { predicate }]
        }
      }
      defer { for store in stores { store.close() } }
      func expect(_ when: String) async throws {
        for (store, predicate) in zip(stores, predicates) {
          let here = try await bob.store.query(Sample.self, where: predicate).map(\.id)
          let there = try await store.store.query(Sample.self).map(\.id)
          let (expected, found) = (here.filter { $0.hasPrefix("s") }, there.filter { $0.hasPrefix("s") })
          #expect(found.sorted() == expected.sorted(), "\(when), seed \(seed): \(predicate)")
        }
      }
      for store in stores { try await store.settle() }
      try await expect("after the sync")
      for round in 1...3 {
        try await write()
        // A feed that has passed a write of its own has passed those before it.
        for (number, store) in stores.enumerated() {
          try await store.store.submit(Sample(id: "own \(number) \(round)")).reached(.seen)
        }
        try await expect("after change \(round)")
      }
    }
  }
}
