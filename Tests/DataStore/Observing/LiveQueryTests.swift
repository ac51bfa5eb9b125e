import MartletDataStore
import MartletRuntime
import Observation
import Testing

@MainActor
@Suite struct LiveQueryTests {
  @Test func `a live query for views has its result, and changes with the store`() async throws {
    let store = try DataStoreTests.store()
    try await store.save(post(1, rating: 5))
    let query = LiveQuery(Post.self, where: Post.keys.rating > 3.0, sort: .ascending(Post.keys.rating), in: store)
    #expect(query.isLoading && query.items.isEmpty)
    while query.isLoading { await Task.yield() }
    #expect(query.items.map(\.id) == ["p1"] && query.isSynced)
    let (observed, continuation) = AsyncStream.makeStream(of: Void.self)
    withObservationTracking {
      _ = query.items.count
    } onChange: {
      continuation.finish()
    }
    try await store.save(post(2, rating: 4))
    for await _ in observed {}
    while query.items.count < 2 { await Task.yield() }
    #expect(query.items.map(\.id) == ["p2", "p1"] && query.changes.insertions == [0])
    query.cancel()
  }

  @Test func `a live query over an unknown field has its error`() async throws {
    let store = try DataStoreTests.store()
    let query = LiveQuery(Post.self, where: .field("colour", .equal("red")), in: store)
    while query.isLoading { await Task.yield() }
    #expect((query.error as? DataStoreError)?.code == .invalidQuery)
  }

  @Test func `a live query ends with its last reference`() async throws {
    let store = try DataStoreTests.store()
    var query: LiveQuery<Post>? = LiveQuery(Post.self, in: store)
    while query?.isLoading == true { await Task.yield() }
    #expect(try await store.liveQueries().count == 1)
    query = nil
    while try await !store.liveQueries().isEmpty { await Task.yield() }
  }

  @Test func `a live query changes after it was cancelled`() async throws {
    let store = try DataStoreTests.store()
    for number in 0..<40 {
      let query = LiveQuery(Post.self, in: store)
      while query.isLoading { await Task.yield() }
      // Another consumer has the snapshot while the main actor is busy here: the query's own is on its way to it.
      let other = store.observeQuery(for: Post.self)
      let seen = Lock(0)
      Task.detached { for try await _ in other { seen.withLock { $0 += 1 } } }
      while seen.withLock({ $0 }) == 0 { await Task.yield() }
      Task.detached { try await store.save(post(number)) }
      spin { seen.withLock { $0 } == 2 }
      query.cancel()
      let count = query.items.count
      for _ in 0..<50 { await Task.yield() }
      #expect(query.items.count == count && query.error == nil && !query.isLoading)
      other.cancel()
    }
  }

  /// Keeps the main actor busy until something is there.
  private func spin(until isThere: () -> Bool) { while !isThere() {} }

  @Test func `a live query's figures name its plan and count its work`() async throws {
    let store = try Library.store()
    try await store.save(Library.author("a"))
    for number in 1...5 { try await store.save(Library.book("\(number)", of: "a", pages: number)) }
    let pages = store.observeQuery(for: Book.self, where: Book.keys.pages > 2, sort: .ascending(Book.keys.pages))
    let authors = store.observeQuery(for: Author.self, where: Author.keys.books.with(Book.keys.pages > 2))
    var snapshots = pages.makeAsyncIterator()
    var others = authors.makeAsyncIterator()
    _ = try await snapshots.next()
    _ = try await others.next()
    try await store.save(Library.book("6", of: "a", pages: 6))
    _ = try await snapshots.next()
    let figures = try await store.liveQueries()
    #expect(figures.map(\.modelName) == ["Book", "Author"])
    #expect(figures[0].rows == 4 && figures[0].rowsRead == 3 && figures[0].requests == 1)
    #expect(figures[0].changes == 1 && figures[0].rowsTouched == 1)
    #expect(figures[0].plan.contains { $0.contains("index_Book_byPages") }, "\(figures[0].plan)")
    #expect(figures[1].plan.contains { $0.contains("index_Book_#relation_authorID") }, "\(figures[1].plan)")
    let first = try #require(figures[0].localTime)
    let last = try #require(figures[0].lastResultTime)
    #expect(first > .zero && last >= first && figures[0].serverTime == nil)
  }

  @Test func `a live aggregate's figures count its work`() async throws {
    let store = try DataStoreTests.store()
    for number in 1...5 { try await store.save(post(number, rating: Double(number))) }
    let rating = Post.keys.rating
    let counts = store.observeAggregate([.count], of: Post.self, where: rating > 2.0)
    let greatest = store.observeAggregate([.maximum(rating)], of: Post.self)
    var iterators = [counts.makeAsyncIterator(), greatest.makeAsyncIterator()]
    for place in 0...1 { _ = try await iterators[place].next() }
    for number in [1, 5] { try await store.delete(Post.self, withId: "p\(number)") }
    let figures = try await store.liveQueries()
    #expect(figures.map(\.changes) == [1, 2])
    #expect(figures[0].rowsRead == 3 && figures[0].requests == 1 && figures[0].rowsTouched == 0)
    #expect(figures[1].rowsRead == 10 && figures[1].requests == 2 && figures[1].rowsTouched == 2)
  }
}
