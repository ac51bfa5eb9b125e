import Foundation
import Martlet
import MartletDataStore
import MartletJSON
import MartletServer
import Testing

/// A line of a list, whose key has two fields of different types.
struct Line: Model, Equatable {
  var list: String
  var number: Int
  var text: String
  enum CodingKeys: String, ModelKey { case list, number, text }
  static var primaryKey: [CodingKeys] { [.list, .number] }
}

/// Two models that refer to each other.
struct Person: StoredModel, Equatable {
  var id: String
  var name: String
  var home: LazyReference<House>
  enum CodingKeys: String, ModelKey { case id, name, home }
  static var relations: [CodingKeys: ModelAssociation] { [.home: .belongsTo(House.self, fields: "homeID")] }
}

struct House: StoredModel, Equatable {
  var id: String
  var street: String
  var owner: LazyReference<Person>
  enum CodingKeys: String, ModelKey { case id, street, owner }
  static var relations: [CodingKeys: ModelAssociation] { [.owner: .belongsTo(Person.self, fields: "ownerID")] }
}

/// Syncs of models that are not the usual ones.
@Suite(.timeLimit(.minutes(1))) struct ShapesTests {
  @Test func `records with a key of two fields are created, changed, refused, retried and deleted like others`()
    async throws
  {
    let schema = """
      type Line @model @versioned(conflicts: OPTIMISTIC_CONCURRENCY) {
        list: String! @primaryKey(sortKeyFields: ["number"]) number: Int! text: String!
      }
      """
    try await SyncedServer.with(schema) { server in
      let ada = try SyncedStore(server, models: [Line.self]) { configuration in
        configuration.conflictHandler = { conflict in
          // Nearly the same key: another record.
          conflict.attempt == 0 && conflict.local?.contains("stray") == true
            ? .retry(Line(list: "x", number: 2, text: "stray")) : .applyRemote
        }
      }
      let bob = try SyncedStore(server, as: "bob", models: [Line.self])
      defer {
        ada.close()
        bob.close()
      }
      func lines(_ store: SyncedStore, _ expected: [Line]) async throws {
        let line = Line.keys
        for try await snapshot in store.store.observeQuery(for: Line.self, sort: .ascending(line.number))
        where Array(snapshot.items) == expected { return }
      }
      try await ada.settle()
      for number in 1...2 { try await ada.store.save(Line(list: "x", number: number, text: "t")) }
      try await ada.store.save(Line(list: "x", number: 1, text: "u"))
      try await ada.settle()
      try await bob.settle()
      try await lines(bob, [Line(list: "x", number: 1, text: "u"), Line(list: "x", number: 2, text: "t")])
      try await ada.cut()
      let stray = try await ada.store.submit(Line(list: "x", number: 1, text: "stray"))
      try await bob.store.submit(Line(list: "x", number: 1, text: "bob")).reached(.durable)
      try await ada.mend()
      #expect(await stray.end(before: .durable) == .rejected(.conflict))
      let both = [Line(list: "x", number: 1, text: "bob"), Line(list: "x", number: 2, text: "t")]
      try await ada.settle()
      try await lines(ada, both)
      try await lines(bob, both)
      let letter = try #require(try await ada.store.rejectedWrites().first)
      #expect(letter.json == #"{"text":"stray"}"#)
      try await ada.store.retry(letter)
      try await ada.settle()
      try await bob.store.delete(Line.self, withIdentifier: .identifier("x", 2))
      try await lines(ada, [Line(list: "x", number: 1, text: "stray")])
      try await lines(bob, [Line(list: "x", number: 1, text: "stray")])
    }
  }

  @Test func `models that refer to each other are synced, and each record finds the other once both are there`()
    async throws
  {
    let schema = """
      type Person @model @versioned { id: ID! name: String! homeID: ID home: House @belongsTo(fields: ["homeID"]) }
      type House @model @versioned {
        id: ID! street: String! ownerID: ID owner: Person @belongsTo(fields: ["ownerID"])
      }
      """
    try await SyncedServer.with(schema) { server in
      _ = try await server.transaction { transaction in
        _ = try transaction.create("Person", ["id": "p", "name": "n", "homeID": "h"])
        _ = try transaction.create("House", ["id": "h", "street": "s", "ownerID": "p"])
      }
      let ada = try SyncedStore(server, models: [Person.self, House.self])
      let bob = try SyncedStore(server, as: "bob", models: [House.self, Person.self])
      defer {
        ada.close()
        bob.close()
      }
      try await ada.settle()
      let person = try #require(try await ada.store.query(Person.self, byId: "p"))
      let house = try #require(try await person.home.get())
      #expect(try await house.owner.get()?.id == "p")
      // A local pair that refers to each other, written without a network.
      try await ada.cut()
      try await ada.store.transaction { transaction in
        try transaction.save(Person(id: "q", name: "m", home: LazyReference(nil)))
        try transaction.save(House(id: "i", street: "t", owner: LazyReference(id: "q")))
        try transaction.save(Person(id: "q", name: "m", home: LazyReference(id: "i")))
      }
      try await ada.mend()
      try await ada.settle()
      try await bob.settle()
      let seen = try #require(try await bob.store.query(Person.self, byId: "q"))
      let home = try #require(try await seen.home.get())
      #expect(try await home.owner.get()?.id == "q")
      #expect(try await ada.store.rejectedWrites().isEmpty)
    }
  }

  @Test func `a record whose parent's creation is refused is not lost: it is sent, or refused and kept`() async throws {
    let schema = """
      type Author @model @versioned { id: ID! name: String! @validate(type: maxLength, value: "5") }
      type Book @model @versioned {
        id: ID! title: String! authorID: ID author: Author @belongsTo(fields: ["authorID"])
      }
      """
    try await SyncedServer.with(schema) { server in
      let ada = try SyncedStore(server, models: [Book.self, Author.self])
      defer { ada.close() }
      try await ada.settle()
      try await ada.cut()
      let author = Author(id: "x", name: "much too long")
      let parent = try await ada.store.submit(author)
      let child = try await ada.store.submit(Book(id: "b", title: "t", author: LazyReference(id: "x")))
      try await ada.mend()
      #expect(await parent.end(before: .durable)?.isRejection == true)
      let end = await child.end(before: .durable)
      try await ada.settle()
      let letters = try await ada.store.rejectedWrites().map(\.modelId)
      if end == nil {
        #expect(letters == ["x"])
        let book = try #require(try await ada.store.query(Book.self, byId: "b"))
        #expect(try await book.author.get() == nil)
      } else {
        #expect(letters == ["x", "b"])
      }
      // Discarding the parent takes nothing of the child.
      try await ada.store.discard(try #require(try await ada.store.rejectedWrites().first))
      #expect(try await ada.store.rejectedWrites().count == letters.count - 1)
    }
  }

  @Test func `a local change out of the sync expression leaves the store once the server has it, and one back returns`()
    async throws
  {
    try await SyncedServer.with(
      SyncedServer.schema, { configuration in configuration.limits.session.positionInterval = .milliseconds(20) }
    ) { server in
      let bob = try SyncedStore(server, as: "bob")
      let ada = try SyncedStore(server) { configuration in
        configuration.syncExpressions = [.syncExpression(Note.self) { Note.keys.rank > 3 }]
      }
      defer {
        ada.close()
        bob.close()
      }
      try await ada.settle()
      try await bob.settle()
      try await ada.store.submit(Note(id: "a", text: "t", rank: 5)).reached(.seen)
      // One that never fulfils it, too.
      try await ada.store.submit(Note(id: "b", text: "t", rank: 1)).reached(.seen)
      try await ada.sees([Note(id: "a", text: "t", rank: 5, owner: "ada")])
      // The feed would take the record away before it is written back.
      let gate = ada.wire.holdMutations()
      let out = try await ada.store.submit(Note(id: "a", text: "t", rank: 2, owner: "ada"))
      try await out.reached(.sent)
      #expect(try await ada.store.query(Note.self, byId: "a")?.rank == 2)
      let back = try await ada.store.submit(Note(id: "a", text: "t", rank: 9, owner: "ada"))
      gate.yield()
      try await out.reached(.durable)
      gate.finish()
      try await back.reached(.seen)
      try await ada.sees([Note(id: "a", text: "t", rank: 9, owner: "ada")])
      try await ada.store.submit(Note(id: "a", text: "t", rank: 0, owner: "ada")).reached(.seen)
      try await ada.sees([])
      try await bob.sees([
        Note(id: "a", text: "t", rank: 0, owner: "ada"), Note(id: "b", text: "t", rank: 1, owner: "ada"),
      ])
      try await bob.store.save(Note(id: "b", text: "t", rank: 7, owner: "ada"))
      try await ada.sees([Note(id: "b", text: "t", rank: 7, owner: "ada")])
      #expect(try await ada.store.rejectedWrites().isEmpty)
    }
  }
}

extension WriteHandle.Ended.Reason {
  fileprivate var isRejection: Bool { if case .rejected = self { true } else { false } }
}
