import MartletDataStore
import Testing

@Suite struct RelationTests {
  @Test func `a lazy reference gives the record as it is now, and nil when it leads to none`() async throws {
    let store = try Library.store()
    try await store.save(Library.author("a"))
    let saved = try await store.save(Library.book("b", of: "a"))
    #expect(saved.author.identifiers == ["id": "a"])
    var changed = Library.author("a")
    changed.name = "changed"
    try await store.save(changed)
    #expect(try await saved.author.get()?.name == "changed")
    #expect(try await saved.author.require().id == "a")
    let free = try await store.save(Book(id: "c", title: "", pages: 1, author: LazyReference(nil)))
    #expect(try await free.author.get() == nil)
    let error = await #expect(throws: DataStoreError.self) { try await free.author.require() }
    #expect(error?.code == .notFound)
    let found = try await store.query(Book.self, byId: "b")
    #expect(found == saved && found?.author == LazyReference(id: "a"))
  }

  @Test func `a list reads its records when it is fetched, and is a collection then`() async throws {
    let store = try Library.store()
    let author = try await store.save(Library.author("a"))
    try await store.save(Library.author("other"))
    for number in 1...3 { try await store.save(Library.book("b\(number)", of: "a")) }
    try await store.save(Library.book("b4", of: "other"))
    #expect(!author.books.isLoaded)
    try await author.books.fetch()
    #expect(author.books.isLoaded && author.books.map(\.id) == ["b1", "b2", "b3"])
    #expect(try await author.books[0].author.get()?.id == "a")
    #expect(!author.books.hasNextPage())
    try await store.save(Profile(id: "p", text: "x", author: LazyReference(author)))
    #expect(try await author.profile.get()?.id == "p")
  }

  @Test func `a record that is read with another is part of it, two deep and with a key of two fields`() async throws {
    let store = try Library.store()
    try await store.save(Library.author("a"))
    let book = try await store.save(Library.book("b", of: "a"))
    let chapter = try await store.save(Chapter(number: 1, part: "I", words: 10, book: book))
    #expect(chapter.book == book)
    let found = try await store.query(Chapter.self, byIdentifier: .identifier("I", 1))
    #expect(found?.book?.title == "title b")
    #expect(try await found?.book?.author.get()?.id == "a")
    for id in ["i2", "i1"] {
      try await store.save(Shelf(id: "s"))
      try await store.save(ShelfItem(id: id, shelfID: "s"))
    }
    #expect(try await store.query(Shelf.self).first?.items.map(\.id) == ["i1", "i2"])
  }

  @Test func `predicates follow relations in both directions, through several models and under not`() async throws {
    let store = try Library.store()
    for (id, active) in [("a", true), ("b", false), ("c", true)] {
      try await store.save(Library.author(id, active: active))
    }
    for (id, author, pages) in [("1", "a", 50), ("2", "a", 500), ("3", "b", 50)] {
      try await store.save(Library.book(id, of: author, pages: pages))
    }
    try await store.save(Chapter(number: 1, part: "I", words: 7, book: Library.book("1", of: "a")))
    let (author, book, chapter) = (Author.keys, Book.keys, Chapter.keys)
    func authors(_ predicate: QueryPredicate) async throws -> [String] {
      try await store.query(Author.self, where: predicate).map(\.id)
    }
    #expect(try await authors(author.books.with(.all)) == ["a", "b"])
    #expect(try await authors(!author.books.with(.all)) == ["c"])
    #expect(try await authors(author.books.with(book.pages > 100)) == ["a"])
    #expect(try await authors(!author.books.with(book.pages > 100) && author.isActive == true) == ["c"])
    #expect(
      try await authors(author.books.with(book.chapters.with(chapter.words == 7)) || author.id == "c") == ["a", "c"])
    let books = try await store.query(Book.self, where: book.author.with(author.isActive == true))
    #expect(books.map(\.id) == ["1", "2"])
    #expect(try await store.query(Book.self, where: book.author == "b").map(\.id) == ["3"])
    #expect(try await store.query(Book.self, where: book.author == nil).isEmpty)
    let values = try await store.aggregate(
      [.count, .sum(book.pages), .maximum(book.pages)], of: Book.self, where: book.author.with(author.id == "a"))
    #expect(values == [2, 550, 500])
    let wrong = await #expect(throws: DataStoreError.self) {
      try await store.query(Author.self, where: author.name.with(.all))
    }
    #expect(wrong?.code == .invalidQuery && wrong?.message == "Author has no relation name")
  }

  @Test func `a condition of a save or delete can follow a relation`() async throws {
    let store = try Library.store()
    try await store.save(Library.author("a", active: false))
    try await store.save(Library.book("b", of: "a"))
    let isActive = Book.keys.author.with(Author.keys.isActive == true)
    let error = await #expect(throws: DataStoreError.self) {
      try await store.save(Library.book("b", of: "a", pages: 1), where: isActive)
    }
    #expect(error?.code == .invalidCondition)
    try await store.save(Library.author("a"))
    try await store.save(Library.book("b", of: "a", pages: 1), where: isActive)
    try await store.delete(Library.book("b", of: "a"), where: isActive)
    #expect(try await store.query(Book.self).isEmpty)
  }

  @Test func `a local write with a reference to nothing, or to what another record has, is refused`() async throws {
    let store = try Library.store()
    try await store.save(Library.author("a"))
    try await store.save(Profile(id: "p", text: "", author: LazyReference(id: "a")))
    for operation in 0..<3 {
      let error = await #expect(throws: DataStoreError.self) {
        switch operation {
        case 0: try await store.save(Library.book("b", of: "nobody"))
        case 1: try await store.save(Profile(id: "q", text: "", author: LazyReference(id: "a")))
        case _: try await store.save(ShelfGuard(id: "g", shelf: LazyReference(nil)))
        }
      }
      #expect(error?.code == .constraint)
    }
    // The record itself can be saved again, and an author can be its own mentor.
    try await store.save(Profile(id: "p", text: "new", author: LazyReference(id: "a")))
    var own = Library.author("own")
    own.mentor = LazyReference(id: "own")
    try await store.save(own)
    #expect(try await store.query(Author.self, byId: "own")?.mentor.get()?.id == "own")
  }
}
