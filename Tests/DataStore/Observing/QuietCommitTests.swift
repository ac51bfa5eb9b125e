import MartletDataStore
import MartletGraphQLClient
import MartletJSON
import MartletRuntime
import Testing

/// Commits that leave a result as it is.
@Suite(.timeLimit(.minutes(1))) struct QuietCommitTests {
  /// What a consumer that waits for nothing else gets of a stream.
  private final class Taken<Element: Sendable>: Sendable {
    private let elements = Lock<[Element]>([])
    let stream: SubscriptionStream<Element>
    private let (counts, count) = AsyncStream.makeStream(of: Int.self)

    init(_ stream: SubscriptionStream<Element>) {
      self.stream = stream
      Task {
        for try await element in stream {
          count.yield(
            elements.withLock { elements in
              elements.append(element)
              return elements.count
            })
        }
      }
    }

    var all: [Element] { elements.withLock { $0 } }

    /// Returns when the consumer has got as many.
    func reaches(_ number: Int) async { for await count in counts where count >= number { return } }

    /// Gives the consumer the chance to take what it should not get.
    func pause() async { for _ in 0..<50 { await Task.yield() } }
  }

  @Test(arguments: [QueryPage.page(0, limit: 3), .page(1, limit: 3), .page(0, limit: 0), .page(9, limit: 5)])
  func `a commit outside the page of a live query gives a snapshot without a change`(page: QueryPage) async throws {
    let store = try DataStoreTests.store()
    for number in 1...9 { try await store.save(post(number, rating: Double(number))) }
    let taken = Taken(
      store.observeQuery(for: Post.self, sort: .ascending(Post.keys.rating), paginate: page))
    await taken.reaches(1)
    let shown = Set(taken.all[0].items.map(\.id))
    for round in 0..<20 {
      for number in 1...9 where !shown.contains("p\(number)") {
        try await store.save(post(number, "round \(round)", rating: Double(number)))
        await taken.pause()
      }
    }
    #expect(taken.all.dropFirst().map(\.changes) == [])
    // Its own records, and the resumption after a stop, are shown.
    if let own = shown.min() {
      try await store.save(Post(id: own, title: "changed", rating: Double(own.dropFirst()) ?? 0))
      await taken.reaches(2)
    }
    let before = taken.all.count
    try await store.stop()
    try await store.start()
    await taken.reaches(before + 1)
    #expect(taken.all.count == before + 1)
    taken.stream.cancel()
  }

  @Test func `a live aggregate gives the same values again after changes that were taken back`() async throws {
    let store = try DataStoreTests.store()
    let taken = Taken(store.observeAggregate([.count, .maximum(Post.keys.rating)], of: Post.self))
    await taken.reaches(1)
    for round in 1...20 {
      try await store.transaction { transaction in
        try transaction.save(post(0, rating: 500))
      }
      try await store.delete(Post.self, withId: "p0")
      await taken.pause()
      try await store.save(post(round, rating: Double(round)))
      await taken.pause()
    }
    try await store.save(post(21, rating: 1_000))
    while taken.all.last != [21, .double(1_000)] { await Task.yield() }
    for (one, next) in zip(taken.all, taken.all.dropFirst()) { #expect(one != next) }
    taken.stream.cancel()
  }

  @Test(arguments: [
    QueryPage.page(0, limit: .max), .page(1, limit: .max), .page(.max, limit: .max), .page(.max, limit: 1),
  ])
  func `a live query over a page without bounds ends the process`(page: QueryPage) async throws {
    let store = try DataStoreTests.store()
    try await store.save(post(1))
    var snapshots = store.observeQuery(for: Post.self, paginate: page).makeAsyncIterator()
    let count = page.page == 0 ? 1 : 0
    #expect(try await snapshots.next()?.items.count == count)
    try await store.save(post(2))
    #expect(try await store.query(Post.self, paginate: page).count == 2 * count)
    if count == 1 { #expect(try await snapshots.next()?.items.count == 2) }
  }

  @Test func `the time of a live query's latest result stands still while its consumer takes nothing`() async throws {
    let store = try DataStoreTests.store()
    let posts = store.observeQuery(for: Post.self)
    try await posts.ready()
    let first = try #require(try await store.liveQueries().first)
    try await store.save(post(1))
    let last = try #require(try await store.liveQueries().first)
    #expect(try #require(last.lastResultTime) > #require(first.lastResultTime))
    #expect(last.localTime == first.localTime)
    posts.cancel()
  }
}
