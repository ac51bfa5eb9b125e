import MartletDataStore
import Testing

@Suite struct LiveRelationTests {
  @Test func `a record enters and leaves a live query when the record it refers to changes`() async throws {
    let store = try Library.store()
    for id in ["a", "b"] { try await store.save(Library.author(id, active: id == "a")) }
    for (id, author) in [("1", "a"), ("2", "b"), ("3", "b")] { try await store.save(Library.book(id, of: author)) }
    let stream = store.observeQuery(
      for: Book.self, where: Book.keys.author.with(Author.keys.isActive == true), sort: .ascending(Book.keys.title))
    var snapshots = stream.makeAsyncIterator()
    #expect(try await snapshots.next()?.items.map(\.id) == ["1"])
    try await store.save(Library.author("b", active: true))
    var snapshot = try #require(try await snapshots.next())
    #expect(snapshot.items.map(\.id) == ["1", "2", "3"] && snapshot.changes.insertions == [1, 2])
    try await store.save(Library.author("a", active: false))
    snapshot = try #require(try await snapshots.next())
    #expect(snapshot.items.map(\.id) == ["2", "3"] && snapshot.changes.deletions == [0])
    // The book's own change, and the deletion of its author with it.
    try await store.save(Library.book("3", of: "a"))
    #expect(try await snapshots.next()?.items.map(\.id) == ["2"])
    try await store.delete(Author.self, withId: "b")
    #expect(try await snapshots.next()?.items.isEmpty == true)
  }

  @Test func `a record enters and leaves a live query with the records that refer to it, through two models`()
    async throws
  {
    let store = try Library.store()
    for id in ["a", "b"] { try await store.save(Library.author(id)) }
    for (id, author) in [("1", "a"), ("2", "b")] { try await store.save(Library.book(id, of: author)) }
    let isLong = Author.keys.books.with(Book.keys.chapters.with(Chapter.keys.words > 100))
    var long = store.observeQuery(for: Author.self, where: isLong).makeAsyncIterator()
    var short = store.observeQuery(for: Author.self, where: !isLong).makeAsyncIterator()
    var counts = store.observeAggregate([.count], of: Author.self, where: isLong).makeAsyncIterator()
    #expect(try await long.next()?.items.isEmpty == true)
    #expect(try await short.next()?.items.map(\.id) == ["a", "b"])
    #expect(try await counts.next() == [0])
    let book = Library.book("2", of: "b")
    try await store.save(Chapter(number: 1, part: "I", words: 10, book: book))
    try await store.save(Chapter(number: 2, part: "I", words: 500, book: book))
    #expect(try await long.next()?.items.map(\.id) == ["b"])
    #expect(try await short.next()?.items.map(\.id) == ["a"])
    #expect(try await counts.next() == [1])
    // The chapter moves to another author's book, and then is shortened.
    try await store.save(Chapter(number: 2, part: "I", words: 500, book: Library.book("1", of: "a")))
    #expect(try await long.next()?.items.map(\.id) == ["a"])
    try await store.save(Chapter(number: 2, part: "I", words: 5, book: Library.book("1", of: "a")))
    #expect(try await long.next()?.items.isEmpty == true)
    #expect(try await counts.next() == [0])
  }

  @Test func `a record that is read with another updates it in live queries`() async throws {
    let store = try Library.store()
    try await store.save(Library.author("a"))
    try await store.save(Library.book("b", of: "a", pages: 1))
    try await store.save(Chapter(number: 1, part: "I", words: 1, book: Library.book("b", of: "a")))
    var snapshots = store.observeQuery(for: Chapter.self).makeAsyncIterator()
    #expect(try await snapshots.next()?.items.first?.book?.pages == 1)
    try await store.save(Library.book("b", of: "a", pages: 2))
    let snapshot = try #require(try await snapshots.next())
    #expect(snapshot.items.first?.book?.pages == 2 && snapshot.changes.updates == [0])
    // A change of the author is none of the chapter: the book holds only its key.
    try await store.save(Library.author("a", active: false))
    try await store.save(Chapter(number: 2, part: "I", words: 1, book: nil))
    #expect(try await snapshots.next()?.changes.insertions == [1])
  }

  @Test func `observe's predicate can follow a relation`() async throws {
    let store = try Library.store()
    try await store.save(Library.author("a"))
    try await store.save(Library.author("b", active: false))
    let stream = store.observe(Book.self, where: Book.keys.author.with(Author.keys.isActive == true))
    try await stream.ready()
    try await store.save(Library.book("1", of: "b"))
    try await store.save(Library.book("2", of: "a"))
    try await store.delete(Author.self, withId: "a")
    var events = stream.makeAsyncIterator()
    let created = try #require(try await events.next())
    #expect(created.modelId == "2" && created.mutationType == .create)
    #expect(try await events.next()?.mutationType == .delete)
    #expect(try created.decodeModel(as: Book.self).author == LazyReference(id: "a"))
  }
}
