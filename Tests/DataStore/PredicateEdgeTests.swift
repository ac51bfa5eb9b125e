import MartletDataStore
import MartletGraphQLClient
import Testing

/// Predicates at the ends of what they compare, in SQL by `query` and in memory by a live query.
@Suite struct PredicateEdgeTests {
  private static let rows = [
    Post(id: "p1", title: "one", rating: 0, views: 5), Post(id: "p2", title: "two", rating: -1),
    Post(id: "p3", title: "three", rating: .greatestFiniteMagnitude, views: .min),
  ]

  /// The identifiers that a query finds, and those that a live query has when the records come after it.
  private static func found(_ predicate: QueryPredicate) async throws -> (sql: [String], memory: [String]) {
    let store = try DataStoreTests.store()
    let last = Post(id: "p9", title: "last", rating: 0)
    var snapshots = store.observeQuery(for: Post.self, where: predicate || Post.keys.id == last.id).makeAsyncIterator()
    #expect(try await snapshots.next()?.items.isEmpty == true)
    try await store.transaction { transaction in for row in rows + [last] { try transaction.save(row) } }
    let memory = try #require(try await snapshots.next()).items.map(\.id)
    let sql = try await store.query(Post.self, where: predicate).map(\.id)
    return (sql.filter { $0 != last.id }, memory.filter { $0 != last.id })
  }

  @Test func `what is not a number is equal to nothing and has no order, in SQL and in memory`() async throws {
    let keys = Post.keys
    let none: [QueryPredicate] = [
      keys.rating == Double.nan, keys.rating < Double.nan, keys.rating <= Double.nan, keys.rating >= Double.nan,
      keys.views == Double.nan, keys.views < Double.nan, keys.views <= Double.nan, keys.views > Double.nan,
      keys.rating.between(start: -5, end: Double.nan), keys.views.between(start: Double.nan, end: 9),
    ]
    for predicate in none {
      let found = try await Self.found(predicate)
      #expect(found.sql == [] && found.memory == [], "\(predicate)")
      let others = try await Self.found(!predicate)
      #expect(others.sql == ["p1", "p2", "p3"] && others.memory == others.sql, "not \(predicate)")
    }
    let unequal = try await Self.found(keys.rating != Double.nan && keys.views != Double.nan)
    #expect(unequal.sql == ["p1", "p2", "p3"] && unequal.memory == unequal.sql)
  }

  @Test func `a predicate that is deeper than SQLite's parser allows is answered, and one without end is refused`()
    async throws
  {
    let keys = Post.keys
    var predicate = keys.rating > -0.5
    for level in 1...190 {
      predicate = level.isMultiple(of: 2) ? !predicate : keys.id != "none" && predicate
      guard level.isMultiple(of: 38) else { continue }
      let found = try await Self.found(predicate)
      let expected = (level / 2).isMultiple(of: 2) ? ["p1", "p3"] : ["p2"]
      #expect(found.sql == expected && found.memory == expected, "\(level) levels")
    }
    for _ in 1...3_000 { predicate = !predicate }
    let store = try DataStoreTests.store()
    let error = await #expect(throws: DataStoreError.self) { try await store.query(Post.self, where: predicate) }
    #expect(error?.code == .invalidQuery && error?.message.contains("200 levels") == true)
  }

  @Test func `a relation deep inside of a predicate means the same`() async throws {
    let store = try Library.store()
    for id in ["a", "b"] { try await store.save(Library.author(id)) }
    try await store.save(Library.book("1", of: "a"))
    var predicate = Author.keys.books.with(Book.keys.author.with(Author.keys.books.with(Book.keys.pages == 100)))
    for _ in 0..<30 { predicate = !(!predicate && Author.keys.id != "none") }
    #expect(try await store.query(Author.self, where: predicate).map(\.id) == ["a"])
  }

  @Test func `texts that differ in their composition alone are two conditions for live queries, too`() async throws {
    let store = try DataStoreTests.store()
    let texts = ["\u{E9}", "e\u{301}"]
    let streams = texts.map { store.observeQuery(for: Post.self, where: Post.keys.title.beginsWith($0)) }
    var found = streams.map { $0.makeAsyncIterator() }
    for index in texts.indices { #expect(try await found[index].next()?.items.isEmpty == true) }
    try await store.transaction { transaction in
      for (number, text) in texts.enumerated() { try transaction.save(post(number, text + "t\u{E9}")) }
    }
    for (index, text) in texts.enumerated() {
      #expect(try await found[index].next()?.items.map(\.id) == ["p\(index)"])
      #expect(try await store.query(Post.self, where: Post.keys.title.beginsWith(text)).map(\.id) == ["p\(index)"])
    }
  }

  @Test func `a list of many values is one search and not one for each value`() async throws {
    let store = try DataStoreTests.store()
    for row in Self.rows { try await store.save(row) }
    let ids = (0..<300).map { "x\($0)" } + ["p1", "p3"]
    let isListed = Post.keys.id.in(ids)
    #expect(try await store.query(Post.self, where: isListed).map(\.id) == ["p1", "p3"])
    #expect(try await store.query(Post.self, where: !isListed).map(\.id) == ["p2"])
    let mixed = Post.keys.views == 5 || Post.keys.id == "p2" || Post.keys.views == nil || Post.keys.id == "none"
    #expect(try await store.query(Post.self, where: mixed).map(\.id) == ["p1", "p2"])
    let live = store.observeQuery(for: Post.self, where: isListed)
    var snapshots = live.makeAsyncIterator()
    #expect(try await snapshots.next()?.items.map(\.id) == ["p1", "p3"])
    let plan = try #require(try await store.liveQueries().first).plan
    #expect(plan.count == 1 && plan.first?.contains("id=?") == true, "\(plan.prefix(5))")
    live.cancel()
  }
}
