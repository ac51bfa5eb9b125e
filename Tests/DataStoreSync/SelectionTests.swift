import Martlet
import MartletDataStore
import MartletJSON
import MartletServer
import Testing

struct Author: StoredModel, Equatable {
  var id: String
  var name: String
  enum CodingKeys: String, ModelKey { case id, name }
}

struct Book: StoredModel, Equatable {
  var id: String
  var title: String
  var author: LazyReference<Author>
  enum CodingKeys: String, ModelKey { case id, title, author }
  static var relations: [CodingKeys: ModelAssociation] { [.author: .belongsTo(Author.self, fields: "authorID")] }
}

/// Stores that keep a part of the server's records, and records that refer to others.
@Suite(.timeLimit(.minutes(1))) struct SelectionTests {
  private func ranked(_ ranks: Int...) -> [Note] {
    ranks.map { Note(id: "n\($0)", text: "t", rank: $0, owner: "bob") }
  }

  @Test func `a store with a sync expression has the records that fulfil it, as they enter and leave`() async throws {
    try await SyncedServer.with { server in
      let bob = try SyncedStore(server, as: "bob")
      for rank in 1...5 { try await bob.store.save(Note(id: "n\(rank)", text: "t", rank: rank)) }
      try await bob.settle()
      try await TemporaryFolder.with { folder in
        let storage = DataStoreStorage.file(folder + "/store")
        do {
          let ada = try SyncedStore(server, storage: storage) { configuration in
            configuration.syncExpressions = [.syncExpression(Note.self) { Note.keys.rank > 3 }]
          }
          try await ada.settle()
          try await ada.sees(ranked(4, 5))
          var note = ranked(5)[0]
          note.rank = 1
          try await bob.store.save(note)
          try await ada.sees(ranked(4))
          note.rank = 5
          try await bob.store.save(note)
          try await ada.sees(ranked(4, 5))
          try await ada.settle()
          try await ada.store.stop()
          ada.close()
        }
        // Another expression: what it no longer selects leaves, what it selects comes.
        let again = try SyncedStore(server, storage: storage) { configuration in
          configuration.syncExpressions = [.syncExpression(Note.self) { Note.keys.rank < 3 }]
        }
        try await again.sees(ranked(1, 2))
        try await again.settle()
        again.close()
      }
      bob.close()
    }
  }

  @Test func `a store whose sync expression selects nothing is not taken for one that the rules refuse`() async throws {
    try await SyncedServer.with { server in
      let none: [String] = []
      let ada = try SyncedStore(server, models: [Note.self]) { configuration in
        configuration.syncExpressions = [.syncExpression(Note.self) { Note.keys.id.in(none) }]
      }
      let bob = try SyncedStore(server, as: "bob")
      try await ada.settle()
      try await ada.store.submit(Note(id: "a", text: "one")).reached(.durable)
      try await bob.sees([Note(id: "a", text: "one", owner: "ada")])
      try await ada.sees([])
      #expect(try await ada.store.rejectedWrites().isEmpty)
      ada.close()
      bob.close()
    }
  }

  @Test func `records that left by another expression come back with the first one, although nothing was written`()
    async throws
  {
    try await SyncedServer.with { server in
      let bob = try SyncedStore(server, as: "bob")
      for rank in 1...5 { try await bob.store.save(Note(id: "n\(rank)", text: "t", rank: rank)) }
      try await bob.settle()
      try await TemporaryFolder.with { folder in
        let storage = DataStoreStorage.file(folder + "/store")
        for (least, ranks) in [(3, [4, 5]), (4, [5]), (3, [4, 5])] {
          let ada = try SyncedStore(server, storage: storage) { configuration in
            configuration.syncExpressions = [.syncExpression(Note.self) { Note.keys.rank > least }]
          }
          try await ada.settle()
          try await ada.sees(ranks.flatMap { ranked($0) })
          try await ada.store.stop()
          ada.close()
        }
      }
      bob.close()
    }
  }

  @Test func `a right that is withdrawn and given again without a write takes the records and brings them back`()
    async throws
  {
    func schema(_ reader: String) -> String {
      """
      type Folder @model @versioned @auth(rules: [{allow: private}]) { id: ID! name: String! }
      type Note @model @versioned @auth(rules: [{allow: owner}, {allow: \(reader), operations: [read]}]) {
        id: ID! text: String! rank: Int
      }
      """
    }
    try await SyncedServer.with(schema("private")) { server in
      let (ada, bob) = (try SyncedStore(server), try SyncedStore(server, as: "bob"))
      try await bob.store.save(Note(id: "n1", text: "t", rank: 1))
      try await bob.settle()
      try await ada.settle()
      try await ada.sees(ranked(1))
      for _ in 0..<2 {
        try await server.reload(schema: schema("groups, groups: [\"staff\"]"))
        try await ada.sees([])
        try await server.reload(schema: schema("private"))
        try await ada.sees(ranked(1))
      }
      ada.close()
      bob.close()
    }
  }

  @Test func `children of a parent that the caller may not read are in the store, with an empty reference`()
    async throws
  {
    let schema = """
      type Author @model @versioned @auth(rules: [{allow: owner}]) { id: ID! name: String! }
      type Book @model @versioned @auth(rules: [{allow: private}]) {
        id: ID! title: String! authorID: ID author: Author @belongsTo(fields: ["authorID"])
      }
      """
    try await SyncedServer.with(schema) { server in
      func author(_ id: String, of owner: String) async throws {
        let values: JSONObject = ["id": .string(id), "name": "n", "owner": .string(owner)]
        _ = try await server.transaction { _ = try $0.create("Author", values) }
      }
      func book(_ id: String, by author: String) async throws {
        let values: JSONObject = ["id": .string(id), "title": "t", "authorID": .string(author)]
        _ = try await server.transaction { _ = try $0.create("Book", values) }
      }
      try await author("bob's", of: "bob")
      try await author("ada's", of: "ada")
      try await book("1", by: "bob's")
      try await book("2", by: "ada's")
      let ada = try SyncedStore(server, models: [Book.self, Author.self])
      defer { ada.close() }
      try await ada.settle()
      // One that comes by the feed, after its parent.
      try await author("bob's other", of: "bob")
      try await book("3", by: "bob's other")
      var books: [Book] = []
      for try await snapshot in ada.store.observeQuery(for: Book.self) where snapshot.items.count == 3 {
        books = Array(snapshot.items)
        break
      }
      var found: [String?] = []
      for book in books { found.append(try await book.author.get()?.id) }
      #expect(found == [nil, "ada's", nil])
      #expect(books.map { $0.author.identifiers?["id"] } == ["bob's", "ada's", "bob's other"])
      #expect(try await ada.store.query(Author.self).map(\.id) == ["ada's"])
      #expect(ada.store.syncStatus.isSettled)
    }
  }

  @Test func `a record is shown before the one that it refers to, and its reference is empty until that comes`()
    async throws
  {
    let schema = """
      type Author @model @versioned { id: ID! name: String! }
      type Book @model @versioned { id: ID! title: String! authorID: ID author: Author @belongsTo(fields: ["authorID"]) }
      """
    try await SyncedServer.with(schema) { server in
      _ = try await server.transaction { _ = try $0.create("Book", ["id": "b", "title": "t", "authorID": "x"]) }
      let ada = try SyncedStore(server, models: [Book.self, Author.self])
      var events = ada.store.events.makeAsyncIterator()
      try await ada.settle()
      while let event = await events.next() {
        guard case .syncQueriesStarted(let models) = event else { continue }
        #expect(models == ["Author", "Book"])
        break
      }
      let book = try #require(try await ada.store.query(Book.self, byId: "b"))
      #expect(try await book.author.get() == nil)
      let authors = ada.store.observe(Author.self)
      try await authors.ready()
      _ = try await server.transaction { _ = try $0.create("Author", ["id": "x", "name": "n"]) }
      for try await _ in authors { break }
      #expect(try await book.author.get()?.name == "n")
      ada.close()
    }
  }
}
