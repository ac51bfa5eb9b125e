import MartletDataStore
import MartletGraphQLClient
import Testing

@Suite struct TransactionTests {
  struct Refusal: Error, Equatable {}

  @Test func `P7: a transaction over several models is seen whole or not at all`() async throws {
    let store = try DataStoreTests.store()
    try await store.save(post(1, rating: 10))
    let stream = store.observeQuery(for: Post.self, sort: .ascending(Post.keys.id))
    var snapshots = stream.makeAsyncIterator()
    _ = try await snapshots.next()
    await #expect(throws: Refusal()) {
      try await store.transaction { transaction in
        try transaction.save(post(1, rating: 0))
        try transaction.save(Seat(row: "A", number: .init(1), isTaken: true))
        throw Refusal()
      }
    }
    #expect(try await store.query(Seat.self).isEmpty)
    let moved = try await store.transaction { transaction in
      let first = try transaction.query(Post.self, byId: "p1")
      try transaction.save(post(1, rating: 4))
      try transaction.save(post(2, rating: 6))
      try transaction.save(Seat(row: "A", number: .init(1), isTaken: true))
      return (first?.rating ?? 0) == 10 ? try transaction.query(Post.self).count : 0
    }
    #expect(moved == 2)
    // The refused transaction gave no snapshot: this is the next one.
    let snapshot = try #require(try await snapshots.next())
    #expect(snapshot.items.map(\.rating) == [4, 6])
    #expect(try await store.query(Seat.self).count == 1)
  }

  @Test func `aggregates are computed once, and again after each commit that changes one`() async throws {
    let store = try DataStoreTests.store()
    for number in 1...4 { try await store.save(post(number, rating: Double(number))) }
    let keys = Post.keys
    let functions: [DataStoreAggregate] = [
      .count, .sum(keys.rating), .average(keys.rating), .minimum(keys.rating), .maximum(keys.rating),
    ]
    let isHigh = keys.rating > 1.0
    #expect(try await store.aggregate(functions, of: Post.self, where: isHigh) == [3, 9.0, 3.0, 2.0, 4.0])
    #expect(try await store.aggregate([.sum(keys.views), .average(keys.views)], of: Post.self) == [0, nil])
    var values = store.observeAggregate(functions, of: Post.self, where: isHigh).makeAsyncIterator()
    #expect(try await values.next() == [3, 9.0, 3.0, 2.0, 4.0])
    try await store.save(post(1, "not selected", rating: 0.5))
    try await store.delete(Post.self, withId: "p4")
    #expect(try await values.next() == [2, 5.0, 2.5, 2.0, 3.0])
  }
}
