import MartletDataStore
import MartletGraphQLClient
import MartletRuntime
import Testing

@Suite struct ObservingTests {
  @Test func `P6, P11: a live query's first snapshot is the query, and each save gives the next one`() async throws {
    let store = try DataStoreTests.store()
    try await store.save(post(1, "post one", rating: 11))
    try await store.save(post(2, "other", rating: 20))
    let keys = Post.keys
    let stream = store.observeQuery(
      for: Post.self, where: keys.title.beginsWith("post") && keys.rating > 10.0, sort: .ascending(keys.rating))
    var snapshots = stream.makeAsyncIterator()
    var snapshot = try #require(try await snapshots.next())
    #expect(snapshot.items.map(\.id) == ["p1"] && snapshot.isSynced)
    #expect(snapshot.changes.insertions == [0])

    try await store.save(post(3, "post three", rating: 10.5))
    snapshot = try #require(try await snapshots.next())
    #expect(snapshot.items.map(\.id) == ["p3", "p1"] && snapshot.changes.insertions == [0])

    try await store.save(post(2, "post two", rating: 20))
    snapshot = try #require(try await snapshots.next())
    #expect(snapshot.items.map(\.id) == ["p3", "p1", "p2"] && snapshot.changes.insertions == [2])

    try await store.save(post(3, "post three", rating: 30))
    snapshot = try #require(try await snapshots.next())
    #expect(snapshot.items.map(\.id) == ["p1", "p2", "p3"])
    #expect(snapshot.changes.moves.map(\.from) == [0] && snapshot.changes.moves.map(\.to) == [2])

    try await store.delete(Post.self, withId: "p2")
    snapshot = try #require(try await snapshots.next())
    #expect(snapshot.items.map(\.id) == ["p1", "p3"] && snapshot.changes.deletions == [1])
    stream.cancel()
    #expect(try await snapshots.next() == nil)
  }

  @Test func `a slow consumer gets one snapshot for several commits, with the changes against its last one`()
    async throws
  {
    let store = try DataStoreTests.store()
    let stream = store.observeQuery(for: Post.self, sort: .ascending(Post.keys.id))
    var snapshots = stream.makeAsyncIterator()
    #expect(try await snapshots.next()?.items.isEmpty == true)
    for number in 1...5 { try await store.save(post(number)) }
    try await store.delete(Post.self, withId: "p2")
    let snapshot = try #require(try await snapshots.next())
    #expect(snapshot.items.map(\.id) == ["p1", "p3", "p4", "p5"])
    #expect(snapshot.changes.insertions == [0, 1, 2, 3])
  }

  @Test func `a page stays exact while records come and go before and in it`() async throws {
    let store = try DataStoreTests.store()
    for number in 1...200 { try await store.save(post(number, rating: Double(number))) }
    let keys = Post.keys
    let stream = store.observeQuery(for: Post.self, sort: .descending(keys.rating), paginate: .page(1, limit: 5))
    var snapshots = stream.makeAsyncIterator()
    #expect(try await snapshots.next()?.items.map(\.rating) == [195, 194, 193, 192, 191])
    for number in stride(from: 200, to: 100, by: -1) {
      try await store.delete(Post.self, withId: "p\(number)")
      let fresh = try await store.query(Post.self, sort: .descending(keys.rating), paginate: .page(1, limit: 5))
      let snapshot = try #require(try await snapshots.next())
      #expect(Array(snapshot.items) == fresh)
    }
  }

  @Test func `observe gives every change of its model with type, id and record`() async throws {
    let store = try DataStoreTests.store()
    let stream = store.observe(Post.self)
    let filtered = store.observe(Post.self, where: Post.keys.rating > 5.0)
    try await stream.ready()
    try await filtered.ready()
    try await store.save(post(1, rating: 1))
    try await store.save(Seat(row: "A", number: .init(1), isTaken: true))
    try await store.save(post(1, "changed", rating: 9))
    try await store.delete(Post.self, withId: "p1")
    var events = stream.makeAsyncIterator()
    var found: [MutationEvent] = []
    for _ in 0..<3 { found.append(try #require(try await events.next())) }
    #expect(found.map(\.mutationType) == [.create, .update, .delete])
    #expect(found.map(\.modelId) == ["p1", "p1", "p1"])
    let others = found.filter { $0.source != .local || !$0.isAcknowledged || $0.modelName != "Post" }
    #expect(others.isEmpty)
    #expect(try found[1].decodeModel(as: Post.self) == post(1, "changed", rating: 9))
    #expect(found[0].description.hasPrefix("create Post p1 (local): {"))
    var few = filtered.makeAsyncIterator()
    #expect(try await few.next()?.mutationType == .update)
    #expect(try await few.next()?.mutationType == .delete)
  }

  @Test func `observe gives the changes of one record by its identifier, over its deletion, and of no other`()
    async throws
  {
    let store = try DataStoreTests.store()
    let stream = store.observe(Post.self, withId: "p1")
    let seats = store.observe(Seat.self, withIdentifier: .identifier("A", 1))
    try await stream.ready()
    try await seats.ready()
    for number in [2, 1] { try await store.save(post(number)) }
    try await store.delete(Post.self, withId: "p1")
    try await store.delete(Post.self, withId: "p2")
    try await store.save(post(1, "again"))
    var events = stream.makeAsyncIterator()
    var found: [String] = []
    for _ in 0..<3 { found.append(try #require(try await events.next()).description.prefix { $0 != "(" }.description) }
    #expect(found == ["create Post p1 ", "delete Post p1 ", "create Post p1 "])
    for row in ["B", "A"] { try await store.save(Seat(row: row, number: .init(1), isTaken: true)) }
    var taken = seats.makeAsyncIterator()
    #expect(try await taken.next()?.decodeModel(as: Seat.self).row == "A")
    var wrong = store.observe(Seat.self, withId: "A").makeAsyncIterator()
    await #expect(throws: DataStoreError.self) { try await wrong.next() }
  }

  @Test func `stop and clear keep streams connected and silent until start or the next operation`() async throws {
    let store = try DataStoreTests.store()
    try await store.save(post(1))
    let stream = store.observeQuery(for: Post.self)
    var snapshots = stream.makeAsyncIterator()
    #expect(try await snapshots.next()?.items.count == 1)
    try await store.stop()
    #expect(!stream.state.isFinished)
    try await store.save(post(2))
    #expect(try await snapshots.next()?.items.count == 2)
    try await store.clear()
    #expect(!stream.state.isFinished)
    try await store.start()
    let empty = try #require(try await snapshots.next())
    #expect(empty.items.isEmpty && empty.changes.deletions == [0, 1])
  }

  @Test(arguments: [false, true])
  func `what waited for its consumer when the store was stopped or cleared is not given before a start`(
    isCleared: Bool
  ) async throws {
    let store = try DataStoreTests.store()
    let (posts, totals) = (store.observeQuery(for: Post.self), store.observeAggregate([.count], of: Post.self))
    try await posts.ready()
    try await totals.ready()
    try await store.save(post(1))
    if isCleared { try await store.clear() } else { try await store.stop() }
    let taken = Lock<[Int64?]>([])
    let first = Task {
      for try await snapshot in posts { return taken.withLock { $0.append(Int64(snapshot.items.count)) } }
    }
    let second = Task { for try await values in totals { return taken.withLock { $0.append(values[0].int) } } }
    for _ in 0..<200 { await Task.yield() }
    #expect(taken.withLock { $0 }.isEmpty)
    try await store.start()
    try await first.value
    try await second.value
    #expect(taken.withLock { $0 } == (isCleared ? [0, 0] : [1, 1]))
  }

  @Test(.timeLimit(.minutes(1)), arguments: ["cancel", "break", "task", "release"])
  func `a live query stays after its consumer has ended`(way: String) async throws {
    let store = try DataStoreTests.store()
    try await store.save(post(1))
    do {
      let posts = store.observeQuery(for: Post.self)
      let counts = store.observeAggregate([.count], of: Post.self)
      try await posts.ready()
      try await counts.ready()
      #expect(try await store.liveQueries().count == 2)
      switch way {
      case "cancel":
        posts.cancel()
        counts.cancel()
      case "break":
        for try await _ in posts { break }
        for try await _ in counts { break }
      case "task":
        let tasks = [Task { for try await _ in posts {} }, Task { for try await _ in counts {} }]
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
      case _: break
      }
      if way != "release", way != "break" { #expect(posts.state.isFinished && counts.state.isFinished) }
    }
    while try await !store.liveQueries().isEmpty { await Task.yield() }
  }

  @Test func `a stream over an unknown model or field ends with an error`() async throws {
    let store = try DataStore(models: [Post.self], storage: .inMemory)
    var events = store.observe(Seat.self).makeAsyncIterator()
    await #expect(throws: DataStoreError.self) { try await events.next() }
    var snapshots = store.observeQuery(for: Post.self, where: .field("colour", .equal("red"))).makeAsyncIterator()
    await #expect(throws: DataStoreError.self) { try await snapshots.next() }
  }
}
