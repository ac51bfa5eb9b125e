import MartletDataStore

/// Models with every kind of relation: lazy and eager, one and many, one that names itself, and a key of two fields.
struct Author: StoredModel, Equatable {
  var id: String
  var name: String
  var isActive = true
  var books = List<Book>()
  var profile = LazyReference<Profile>(nil)
  var mentor = LazyReference<Author>(nil)
  enum CodingKeys: String, ModelKey { case id, name, isActive, books, profile, mentor }
  static var relations: [CodingKeys: ModelAssociation] {
    [
      .books: .hasMany(Book.self, fields: "authorID"), .profile: .hasOne(Profile.self, fields: "authorID"),
      .mentor: .belongsTo(Author.self, fields: "mentorID"),
    ]
  }
}

struct Profile: StoredModel, Equatable {
  var id: String
  var text: String
  var author: LazyReference<Author>
  enum CodingKeys: String, ModelKey { case id, text, author }
  static var relations: [CodingKeys: ModelAssociation] { [.author: .belongsTo(Author.self, fields: "authorID")] }
}

struct Book: StoredModel, Equatable {
  var id: String
  var title: String
  var pages: Int
  var author: LazyReference<Author>
  var chapters = List<Chapter>()
  enum CodingKeys: String, ModelKey { case id, title, pages, author, chapters }
  static var relations: [CodingKeys: ModelAssociation] {
    [
      .author: .belongsTo(Author.self, fields: "authorID"),
      .chapters: .hasMany(Chapter.self, fields: "bookID"),
    ]
  }
  static var indexes: [StoredIndex] { [StoredIndex("byPages", fields: "pages", "title")] }
}

/// Its book is read with it.
struct Chapter: StoredModel, Equatable {
  var number: Int
  var part: String
  var words: Int
  var book: Book?
  enum CodingKeys: String, ModelKey { case number, part, words, book }
  static var primaryKey: [CodingKeys] { [.part, .number] }
  static var relations: [CodingKeys: ModelAssociation] { [.book: .belongsTo(Book.self, fields: "bookID")] }
}

/// Holds the same tables with other delete rules, and reads its lists with it.
struct Shelf: StoredModel, Equatable {
  var id: String
  var items: [ShelfItem] = []
  var guards = List<ShelfGuard>()
  enum CodingKeys: String, ModelKey { case id, items, guards }
  static var relations: [CodingKeys: ModelAssociation] {
    [
      .items: .hasMany(ShelfItem.self, fields: "shelfID", onDelete: .setNull),
      .guards: .hasMany(ShelfGuard.self, fields: "shelfID", onDelete: .restrict),
    ]
  }
}

struct ShelfItem: StoredModel, Equatable {
  var id: String
  var shelfID: String?
  enum CodingKeys: String, ModelKey { case id, shelfID }
}

struct ShelfGuard: StoredModel, Equatable {
  var id: String
  var shelf: LazyReference<Shelf>
  enum CodingKeys: String, ModelKey { case id, shelf }
  static var relations: [CodingKeys: ModelAssociation] {
    [.shelf: .belongsTo(Shelf.self, fields: "shelfID", isRequired: true)]
  }
}

enum Library {
  static let models: [any Model.Type] = [
    Author.self, Profile.self, Book.self, Chapter.self, Shelf.self, ShelfItem.self, ShelfGuard.self,
  ]

  static func store() throws -> DataStore { try DataStore(models: models, storage: .inMemory) }

  static func author(_ id: String, active: Bool = true) -> Author {
    Author(id: id, name: "name \(id)", isActive: active)
  }

  static func book(_ id: String, of author: String, pages: Int = 100) -> Book {
    Book(id: id, title: "title \(id)", pages: pages, author: LazyReference(id: author))
  }
}
