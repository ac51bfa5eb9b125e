import MartletDataStore
import Testing

/// Leaves its items without their reference when it is deleted.
private struct Crate<Item: Model>: StoredModel {
  var id: String
  var items = List<Item>()
  enum CodingKeys: String, ModelKey { case id, items }
  static var modelName: String { "Crate" }
  static var relations: [CodingKeys: ModelAssociation] {
    [.items: .hasMany(Item.self, fields: "crateID", onDelete: .setNull)]
  }
}

/// Items that need their reference, each for another reason.
private enum CrateItem {
  struct Keyed: Model {
    var crateID: String?
    var number: Int
    enum CodingKeys: String, ModelKey { case crateID, number }
    static var primaryKey: [CodingKeys] { [.number, .crateID] }
  }

  struct Plain: Model {
    var id: String
    var crateID: String
    enum CodingKeys: String, ModelKey { case id, crateID }
  }

  struct Bound: StoredModel {
    var id: String
    var crate: LazyReference<Crate<Bound>>
    enum CodingKeys: String, ModelKey { case id, crate }
    static var relations: [CodingKeys: ModelAssociation] {
      [.crate: .belongsTo(Crate<Bound>.self, fields: "crateID", isRequired: true)]
    }
  }

  struct Whole: StoredModel {
    var id: String
    var crate: Crate<Whole>
    enum CodingKeys: String, ModelKey { case id, crate }
    static var relations: [CodingKeys: ModelAssociation] {
      [.crate: .belongsTo(Crate<Whole>.self, fields: "crateID")]
    }
  }

  /// These do not.
  struct Free: StoredModel {
    var id: String
    var crate: LazyReference<Crate<Free>>
    enum CodingKeys: String, ModelKey { case id, crate }
    static var relations: [CodingKeys: ModelAssociation] {
      [.crate: .belongsTo(Crate<Free>.self, fields: "crateID")]
    }
  }

  struct Lenient: Model {
    var id: String
    var crateID: String
    enum CodingKeys: String, ModelKey { case id, crateID }

    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: CodingKeys.self)
      id = try fields.decode(String.self, forKey: .id)
      crateID = try fields.decodeIfPresent(String.self, forKey: .crateID) ?? ""
    }
  }
}

@Suite struct CascadeTests {
  @Test func `deleting a record deletes its children first, each with its event, in one transaction`() async throws {
    let store = try Library.store()
    try await store.save(Library.author("a"))
    try await store.save(Library.author("b"))
    try await store.save(Profile(id: "p", text: "", author: LazyReference(id: "a")))
    for number in 1...2 { try await store.save(Library.book("b\(number)", of: "a")) }
    try await store.save(Library.book("kept", of: "b"))
    try await store.save(Chapter(number: 1, part: "I", words: 1, book: Library.book("b1", of: "a")))
    let chapters = store.observe(Chapter.self)
    let books = store.observe(Book.self)
    try await chapters.ready()
    try await books.ready()
    try await store.delete(Library.author("a"))
    #expect(try await store.query(Author.self).map(\.id) == ["b"])
    #expect(try await store.query(Book.self).map(\.id) == ["kept"])
    #expect(try await store.query(Chapter.self).isEmpty)
    #expect(try await store.query(Profile.self).isEmpty)
    var chapterEvents = chapters.makeAsyncIterator()
    var bookEvents = books.makeAsyncIterator()
    let chapter = try #require(try await chapterEvents.next())
    var deleted = [try #require(try await bookEvents.next())]
    deleted.append(try #require(try await bookEvents.next()))
    #expect(chapter.mutationType == .delete && deleted.allSatisfy { $0.mutationType == .delete })
    #expect(deleted.map(\.modelId).sorted() == ["b1", "b2"])
    let first = try #require(Int(chapter.id))
    let last = try #require(deleted.first { $0.modelId == "b1" }.flatMap { Int($0.id) })
    #expect(first < last)
  }

  @Test func `relations that restrict keep a record, and those that set null keep its children`() async throws {
    let store = try Library.store()
    for id in ["s", "t"] {
      try await store.save(Shelf(id: id))
      try await store.save(ShelfItem(id: "i\(id)", shelfID: id))
    }
    try await store.save(ShelfGuard(id: "g", shelf: LazyReference(id: "s")))
    let error = await #expect(throws: DataStoreError.self) { try await store.delete(Shelf.self, withId: "s") }
    #expect(error?.code == .constraint)
    #expect(try await store.query(ShelfItem.self, byId: "is")?.shelfID == "s")
    try await store.delete(Shelf.self, withId: "t")
    #expect(try await store.query(ShelfItem.self, byId: "it") == ShelfItem(id: "it", shelfID: nil))
  }

  @Test func `a deletion by predicate takes children along, and a failing one changes nothing`() async throws {
    let store = try Library.store()
    for id in ["a", "b", "c"] {
      try await store.save(Library.author(id, active: id != "b"))
      try await store.save(Library.book("of \(id)", of: id))
    }
    try await store.delete(Author.self, where: Author.keys.isActive == true)
    #expect(try await store.query(Author.self).map(\.id) == ["b"])
    #expect(try await store.query(Book.self).map(\.id) == ["of b"])
    try await store.save(Shelf(id: "free"))
    try await store.save(Shelf(id: "held"))
    try await store.save(ShelfGuard(id: "g", shelf: LazyReference(id: "held")))
    await #expect(throws: DataStoreError.self) { try await store.delete(Shelf.self, where: .all) }
    #expect(try await store.query(Shelf.self).map(\.id) == ["free", "held"])
  }

  @Test func `records that go round in a circle are each deleted once`() async throws {
    let store = try Library.store()
    try await store.save(Author(id: "1", name: ""))
    try await store.save(Author(id: "2", name: "", mentor: LazyReference(id: "1")))
    try await store.save(Author(id: "1", name: "", mentor: LazyReference(id: "2")))
    try await store.delete(Author.self, withId: "1")
    // A mentor does not have its pupils: no relation says that they go with it.
    #expect(try await store.query(Author.self).map(\.id) == ["2"])
  }

  @Test func `a relation that would clear what its records need is refused by name`() {
    func refusal<Child: Model>(of child: Child.Type) -> String? {
      let error = #expect(throws: DataStoreError.self) {
        try DataStore(models: [Crate<Child>.self, child], storage: .inMemory)
      }
      return error?.code == .invalidModel ? error?.message : nil
    }
    let rule = "Crate.items says onDelete: .setNull, and "
    #expect(refusal(of: CrateItem.Keyed.self) == rule + "Keyed.crateID cannot be null")
    #expect(refusal(of: CrateItem.Plain.self) == rule + "Plain.crateID cannot be null")
    #expect(refusal(of: CrateItem.Bound.self) == rule + "Bound.crate cannot be null")
    #expect(refusal(of: CrateItem.Whole.self) == rule + "Whole.crate cannot be null")
    #expect(throws: Never.self) {
      _ = try DataStore(models: [Crate<CrateItem.Free>.self, CrateItem.Free.self], storage: .inMemory)
      _ = try DataStore(models: [Crate<CrateItem.Lenient>.self, CrateItem.Lenient.self], storage: .inMemory)
    }
  }
}
