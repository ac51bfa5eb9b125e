import MartletDataStore
import MartletRuntime
import Testing

/// A record that counts how often one is decoded.
private struct Counted: Model {
  static let decodings = Lock(0)

  var id: String
  var number: Int
  enum CodingKeys: String, ModelKey { case id, number }

  init(id: String, number: Int) {
    self.id = id
    self.number = number
  }

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    id = try members.decode(String.self, forKey: .id)
    number = try members.decode(Int.self, forKey: .number)
    Self.decodings.withLock { $0 += 1 }
  }
}

/// Another type of the same model.
private struct Other: Model, Equatable {
  static let modelName = Counted.modelName
  var id: String
  enum CodingKeys: String, ModelKey { case id }
}

/// A record whose type does not take every one that it has taken before.
private struct Changing: Model {
  struct Refusal: Error {}
  static let refused = Lock<String?>(nil)

  var id: String
  var number: Int
  enum CodingKeys: String, ModelKey { case id, number }

  init(id: String, number: Int) {
    self.id = id
    self.number = number
  }

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    id = try members.decode(String.self, forKey: .id)
    number = try members.decode(Int.self, forKey: .number)
    if Self.refused.withLock({ $0 }) == id { throw Refusal() }
  }
}

@Suite struct SharedDecodingTests {
  @Test func `a type that refuses a record it has taken before ends the live query, and not the process`() async throws
  {
    let store = try DataStore(models: [Changing.self], storage: .inMemory)
    for number in 0..<10 { try await store.save(Changing(id: "c\(number)", number: number)) }
    var iterator = store.observeQuery(for: Changing.self, sort: .ascending(Changing.keys.id)).makeAsyncIterator()
    #expect(try await iterator.next()?.items.count == 10)
    // The record comes back to what the snapshot has: it is another row, equal to the one before.
    try await store.save(Changing(id: "c4", number: 44))
    try await store.save(Changing(id: "c4", number: 4))
    try await store.save(Changing(id: "c5", number: 55))
    Changing.refused.withLock { $0 = "c4" }
    let failure = await #expect(throws: DataStoreError.self) {
      for _ in 0..<3 { _ = try await iterator.next()?.items.map(\.number) }
    }
    #expect(failure?.message.contains("Changing") == true)
  }

  @Test func `a record that was saved without a change is in later snapshots as before`() async throws {
    let store = try DataStore(models: [Counted.self], storage: .inMemory)
    for number in 0..<100 { try await store.save(Counted(id: "c\(number)", number: number)) }
    let keys = Counted.keys
    var iterator = store.observeQuery(for: Counted.self, sort: .ascending(keys.number)).makeAsyncIterator()
    #expect(try await iterator.next()?.items.count == 100)
    try await store.save(Counted(id: "c40", number: 40))
    try await store.save(Counted(id: "c50", number: 1_050))
    try await store.stop()
    try await store.start()
    // Saves that a snapshot has not shown yet may be in one of their own.
    var snapshot = try await iterator.next()
    while snapshot?.items.last?.number != 1_050 { snapshot = try await iterator.next() }
    #expect(snapshot?.items.map(\.number) == Array(0..<50) + Array(51..<100) + [1_050])
  }

  @Test func `two types of one model each have their own values`() async throws {
    let store = try DataStore(models: [Counted.self], storage: .inMemory)
    try await store.save(Counted(id: "c1", number: 1))
    var counted = store.observeQuery(for: Counted.self).makeAsyncIterator()
    var others = store.observeQuery(for: Other.self).makeAsyncIterator()
    #expect(try await counted.next()?.items.map(\.number) == [1])
    #expect(try await others.next()?.items.map { $0 } == [Other(id: "c1")])
    try await store.save(Counted(id: "c2", number: 2))
    #expect(try await counted.next()?.items.map(\.number) == [1, 2])
    #expect(try await others.next()?.items.map { $0 } == [Other(id: "c1"), Other(id: "c2")])
  }

  @Test func `a changed record is decoded once for all live queries that show it`() async throws {
    let store = try DataStore(models: [Counted.self], storage: .inMemory)
    for number in 0..<20 { try await store.save(Counted(id: "c\(number)", number: number)) }
    let keys = Counted.keys
    var iterators = (0..<10).map { least in
      store.observeQuery(for: Counted.self, where: keys.number >= least, sort: .ascending(keys.number))
        .makeAsyncIterator()
    }
    for index in iterators.indices { #expect(try await iterators[index].next()?.items.count == 20 - index) }
    Counted.decodings.withLock { $0 = 0 }
    try await store.save(Counted(id: "c15", number: 115))
    for index in iterators.indices { #expect(try await iterators[index].next()?.items.last?.number == 115) }
    // Once for what the save returns.
    #expect(Counted.decodings.withLock { $0 } == 2)
    try await store.save(Counted(id: "c15", number: 116))
    for index in iterators.indices { #expect(try await iterators[index].next()?.items.last?.number == 116) }
    #expect(Counted.decodings.withLock { $0 } == 4)
  }
}
