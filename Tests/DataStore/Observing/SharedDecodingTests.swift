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

@Suite struct SharedDecodingTests {
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
