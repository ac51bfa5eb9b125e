import MartletDataStore
import MartletGraphQLClient
import Testing

@Suite struct DataStoreTests {
  static func store() throws -> DataStore {
    try DataStore(models: [Post.self, Seat.self], storage: .inMemory)
  }

  @Test func `what is saved is found by its id, by predicate, in order and by page`() async throws {
    let store = try Self.store()
    var first = post(1, "post one", rating: 11)
    first.status = .published
    first.tags = ["a", "b"]
    first.views = 3
    #expect(try await store.save(first) == first)
    for number in 2...9 {
      try await store.save(post(number, number % 2 == 0 ? "post" : "note", rating: Double(number)))
    }
    #expect(try await store.query(Post.self, byId: "p1") == first)
    #expect(try await store.query(Post.self, byId: "none") == nil)
    let keys = Post.keys
    let found = try await store.query(
      Post.self, where: keys.title.beginsWith("post") && keys.rating > 3.0, sort: .descending(keys.rating))
    #expect(found.map(\.id) == ["p1", "p8", "p6", "p4"])
    let page = try await store.query(Post.self, sort: .ascending(keys.rating), paginate: .page(1, limit: 3))
    #expect(page.map(\.id) == ["p5", "p6", "p7"])
    #expect(try await store.query(Post.self, paginate: .firstResult).map(\.id) == ["p1"])
    let marked = try await store.query(
      Post.self, where: keys.status == Post.Status.published && keys.tags.contains("b"))
    #expect(marked == [first])
    #expect(try await store.query(Post.self, where: keys.id.in(["p2", "p3", "x"])).map(\.id) == ["p2", "p3"])
    #expect(try await store.query(Post.self, where: !(keys.views == nil)).map(\.id) == ["p1"])
  }

  @Test func `the operators under their other names mean the same, and orders can be listed by a function`()
    async throws
  {
    let store = try Self.store()
    for number in 1...4 {
      try await store.save(post(number, number > 2 ? "b" : "a", rating: Double(number % 2)))
    }
    var tagged = post(5, "c", rating: 9)
    tagged.tags = ["x"]
    tagged.views = 1
    try await store.save(tagged)
    let keys = Post.keys
    let pairs: [(QueryPredicate, QueryPredicate, [String])] = [
      (keys.title.eq("a"), keys.title == "a", ["p1", "p2"]),
      (keys.views.ne(1), keys.views != 1, ["p1", "p2", "p3", "p4"]),
      (keys.rating.lt(1), keys.rating < 1, ["p2", "p4"]), (keys.rating.le(0), keys.rating <= 0, ["p2", "p4"]),
      (keys.rating.gt(1), keys.rating > 1, ["p5"]), (keys.rating.ge(1), keys.rating >= 1, ["p1", "p3", "p5"]),
      (keys.tags.notContains("x"), !keys.tags.contains("x"), ["p1", "p2", "p3", "p4"]),
      (keys.views.attributeExists(true), keys.views != nil, ["p5"]),
      (keys.views.attributeExists(false), keys.views == nil, ["p1", "p2", "p3", "p4"]),
    ]
    for (named, written, ids) in pairs {
      #expect(try await store.query(Post.self, where: named).map(\.id) == ids, "\(named)")
      #expect(try await store.query(Post.self, where: written).map(\.id) == ids, "\(written)")
    }
    let sorted = try await store.query(Post.self, sort: .by(.descending(keys.rating), .descending(keys.id)))
    #expect(sorted.map(\.id) == ["p5", "p3", "p1", "p4", "p2"])
  }

  @Test func `a save updates the record, and a delete removes it, by value, id or predicate`() async throws {
    let store = try Self.store()
    for number in 1...4 { try await store.save(post(number)) }
    try await store.save(post(1, "changed"))
    #expect(try await store.query(Post.self, byId: "p1")?.title == "changed")
    try await store.delete(post(1))
    try await store.delete(Post.self, withId: "p2")
    try await store.delete(Post.self, withId: "p2")
    try await store.delete(Post.self, where: Post.keys.id == "p3")
    #expect(try await store.query(Post.self).map(\.id) == ["p4"])
  }

  @Test func `a condition that does not hold refuses a save and a delete`() async throws {
    let store = try Self.store()
    try await store.save(post(1, rating: 5))
    let isLow = Post.keys.rating < 3.0
    for operation in 0..<3 {
      let error = await #expect(throws: DataStoreError.self) {
        switch operation {
        case 0: try await store.save(post(1, "new", rating: 5), where: isLow)
        case 1: try await store.save(post(2), where: isLow)
        case _: try await store.delete(post(1), where: isLow)
        }
      }
      #expect(error?.code == .invalidCondition)
    }
    #expect(try await store.query(Post.self) == [post(1, rating: 5)])
    try await store.save(post(1, "new", rating: 5), where: Post.keys.rating == 5.0)
    #expect(try await store.query(Post.self, byId: "p1")?.title == "new")
  }

  @Test func `a composite key and declared types are stored`() async throws {
    let store = try Self.store()
    for number in [2, 1] { try await store.save(Seat(row: "A", number: .init(number), isTaken: number == 1)) }
    try await store.save(Seat(row: "A", number: .init(1), isTaken: false))
    let seats = try await store.query(Seat.self, where: Seat.keys.isTaken == false)
    #expect(seats.map(\.number.value) == [1, 2])
  }

  @Test func `errors name the model or the field`() async throws {
    let store = try DataStore(models: [Post.self], storage: .inMemory)
    let unknown = await #expect(throws: DataStoreError.self) { try await store.query(Seat.self) }
    #expect(unknown?.code == .invalidModel)
    let field = await #expect(throws: DataStoreError.self) {
      try await store.query(Post.self, where: .field("colour", .equal("red")))
    }
    #expect(field?.code == .invalidQuery && field?.message == "Post has no field colour")
  }
}
