import Martlet
import MartletDataStore
import MartletServer
import Testing

/// An application gets a version with other models while writes wait in its file.
@Suite(.timeLimit(.minutes(1))) struct MigratedOutboxTests {
  private enum Early {
    struct NotePad: Model, Equatable {
      var id: String
      var folderId: String?
      var text: String
      enum CodingKeys: String, ModelKey { case id, folderId, text }
      static var modelName: String { "Notepad" }
    }

    struct Tag: Model, Equatable {
      var id: String
      var name: String
      enum CodingKeys: String, ModelKey { case id, name }
    }
  }

  private enum Late {
    struct NotePad: Model, Equatable {
      var id: String
      var folderID: String?
      var text: String
      enum CodingKeys: String, ModelKey { case id, folderID, text }
    }

    struct Tag: Model, Equatable {
      var id: String
      var name: String
      var colour: String?
      enum CodingKeys: String, ModelKey { case id, name, colour }
    }
  }

  private static func schema(_ model: String, _ field: String) -> String {
    """
    type \(model) @model @versioned @auth(rules: [{allow: private}]) { id: ID! \(field): ID text: String! }
    type Tag @model @versioned @auth(rules: [{allow: private}]) { id: ID! name: String! colour: String }
    """
  }

  /// A server with its data in a folder.
  private static func with(_ schema: String, _ folder: String, _ body: (GraphQLServer) async throws -> Void)
    async throws
  {
    try await SyncedServer.with(schema, { $0.data = .folder(folder + "/server") }, body)
  }

  @Test func `P15: records of a store's time without a server are created there, though a field came before it`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      let storage = DataStoreStorage.file("\(folder)/store")
      do {
        let local = try DataStore(models: [Early.Tag.self], storage: storage)
        try await local.save(Early.Tag(id: "a", name: "one"))
      }
      do {
        let local = try DataStore(models: [Late.Tag.self], storage: storage)
        try await local.save(Late.Tag(id: "b", name: "two", colour: "red"))
      }
      try await SyncedServer.with(Self.schema("NotePad", "folderID")) { server in
        let ada = try SyncedStore(server, models: [Late.Tag.self], storage: storage)
        try await ada.settle()
        let tags = try await ada.store.query(Late.Tag.self, sort: .ascending(Late.Tag.keys.id))
        #expect(tags == [Late.Tag(id: "a", name: "one"), Late.Tag(id: "b", name: "two", colour: "red")])
        #expect(ada.wire.mutations == 2)
        ada.close()
      }
    }
  }

  @Test func `P15: writes and refused ones keep their values when a model and a field change the case of their names`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      let storage = DataStoreStorage.file("\(folder)/store")
      try await Self.with(Self.schema("Notepad", "folderId"), folder) { server in
        let ada = try SyncedStore(server, models: [Early.NotePad.self], storage: storage)
        try await ada.settle()
        for id in ["a", "b"] {
          try await ada.store.submit(Early.NotePad(id: id, folderId: "1", text: "seed")).reached(.seen)
        }
        ada.wire.refuse(with: [["message": "no", "extensions": ["code": "BAD_USER_INPUT"]]])
        let refused = try await ada.store.submit(Early.NotePad(id: "r", folderId: "r", text: "refused"))
        #expect(await refused.end(before: .durable) != nil)
        try await ada.cut()
        try await ada.store.save(Early.NotePad(id: "c", folderId: "3", text: "new"))
        try await ada.store.save(Early.NotePad(id: "a", folderId: "2", text: "seed"))
        let key = Early.NotePad.keys
        try await ada.store.save(Early.NotePad(id: "b", folderId: "4", text: "seed"), where: key.folderId == "1")
        try await ada.store.stop()
        ada.close()
      }
      try await Self.with(Self.schema("NotePad", "folderID"), folder) { server in
        let ada = try SyncedStore(server, models: [Late.NotePad.self], storage: storage)
        try await ada.settle()
        let letters = try await ada.store.rejectedWrites()
        #expect(letters.map(\.modelName) == ["NotePad"])
        for letter in letters { try await ada.store.retry(letter) }
        try await ada.settle()
        #expect(try await ada.store.rejectedWrites() == [])
        let bob = try SyncedStore(server, as: "bob", models: [Late.NotePad.self])
        try await bob.settle()
        for store in [ada, bob] {
          let found = try await store.store.query(Late.NotePad.self, sort: .ascending(Late.NotePad.keys.id))
          #expect(found.map(\.id) == ["a", "b", "c", "r"])
          #expect(found.map(\.folderID) == ["2", "4", "3", "r"])
        }
        ada.close()
        bob.close()
      }
    }
  }

  @Test func `P15: writes of a model that the application gave up wait, and are sent when it is back`() async throws {
    try await TemporaryFolder.with { folder in
      let storage = DataStoreStorage.file("\(folder)/store")
      try await SyncedServer.with(Self.schema("NotePad", "folderID")) { server in
        let ada = try SyncedStore(server, models: [Late.NotePad.self, Late.Tag.self], storage: storage)
        try await ada.settle()
        for id in ["a", "b"] { try await ada.store.submit(Late.Tag(id: id, name: "seed")).reached(.seen) }
        try await ada.cut()
        try await ada.store.save(Late.Tag(id: "a", name: "changed"))
        try await ada.store.delete(Late.Tag.self, withId: "b")
        try await ada.store.save(Late.Tag(id: "c", name: "new"))
        try await ada.store.stop()
        ada.close()
        let without = try SyncedStore(server, models: [Late.NotePad.self], storage: storage)
        try await without.settle()
        try await without.store.submit(Late.NotePad(id: "n", text: "other")).reached(.durable)
        try await without.store.stop()
        without.close()
        let again = try SyncedStore(server, models: [Late.NotePad.self, Late.Tag.self], storage: storage)
        try await again.settle()
        let found = try await again.store.query(Late.Tag.self, sort: .ascending(Late.Tag.keys.id))
        #expect(found.map(\.id) == ["a", "c"] && found.map(\.name) == ["changed", "new"])
        #expect(again.wire.mutations == 3)
        again.close()
      }
    }
  }
}
