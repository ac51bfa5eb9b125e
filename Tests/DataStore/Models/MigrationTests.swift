import Foundation
import MartletDataStore
import Testing

/// The models of an application as they were and as they are.
private enum Before {
  struct Note: StoredModel, Equatable {
    var id: String
    var text: String
    var old: Int
    enum CodingKeys: String, ModelKey { case id, text, old }
    static var indexes: [StoredIndex] { [StoredIndex("byOld", fields: "old")] }
  }

  struct Gone: Model {
    var id: String
    enum CodingKeys: String, ModelKey { case id }
  }
}

private enum After {
  struct Note: StoredModel, Equatable {
    var id: String
    var text: String
    var stars: Int
    var tag: String?
    var folder: LazyReference<Folder>
    enum CodingKeys: String, ModelKey { case id, text, stars, tag, folder }
    static var relations: [CodingKeys: ModelAssociation] { [.folder: .belongsTo(Folder.self, fields: "folderID")] }
    static var indexes: [StoredIndex] { [StoredIndex("byStars", fields: "stars")] }
    static var fieldDefaults: [CodingKeys: JSONValue] { [.stars: 3] }
  }

  struct Folder: StoredModel, Equatable {
    var id: String
    var notes: List<Note> = []
    enum CodingKeys: String, ModelKey { case id, notes }
    static var relations: [CodingKeys: ModelAssociation] { [.notes: .hasMany(Note.self, fields: "folderID")] }
  }
}

private enum Refused {
  struct Note: Model {
    var id: String
    var text: Int
    enum CodingKeys: String, ModelKey { case id, text }
  }
}

@Suite struct MigrationTests {
  private static func withFile(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.appendingPathComponent("store.sqlite").path)
  }

  @Test func `models and fields that come and go keep the other data, and the file is opened again and again`()
    async throws
  {
    try await Self.withFile { path in
      do {
        let store = try DataStore(models: [Before.Note.self, Before.Gone.self], storage: .file(path))
        try await store.save(Before.Note(id: "1", text: "one", old: 7))
        try await store.save(Before.Gone(id: "x"))
      }
      for round in 0..<2 {
        let store = try DataStore(models: [After.Note.self, After.Folder.self], storage: .file(path))
        let found = try #require(try await store.query(After.Note.self, byId: "1"))
        #expect(found == After.Note(id: "1", text: "one", stars: 3, tag: nil, folder: found.folder), "round \(round)")
        try await store.save(After.Folder(id: "f"))
        var note = found
        note.folder = LazyReference(id: "f")
        try await store.save(note)
        let folder = try #require(try await store.query(After.Folder.self, byId: "f"))
        #expect(try await folder.notes.get().map(\.id) == ["1"])
      }
    }
  }

  @Test func `a field whose type changed is refused, and the file stays as it is`() async throws {
    try await Self.withFile { path in
      do {
        let store = try DataStore(models: [Before.Note.self], storage: .file(path))
        try await store.save(Before.Note(id: "1", text: "one", old: 7))
      }
      let error = #expect(throws: DataStoreError.self) {
        try DataStore(models: [Refused.Note.self], storage: .file(path))
      }
      #expect(error?.code == .migration && error?.message.contains("text") == true)
      let store = try DataStore(models: [Before.Note.self], storage: .file(path))
      #expect(try await store.query(Before.Note.self).map(\.old) == [7])
    }
  }

  @Test func `a key for a SQLite that does not encrypt is refused, and nothing is written in the clear`() async throws {
    try await Self.withFile { path in
      let error = #expect(throws: DataStoreError.self) {
        try DataStore(models: [Before.Note.self], storage: .encryptedFile(path, key: "it's secret"))
      }
      #expect(error?.code == .storage && error?.message.contains("does not encrypt") == true)
      let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
      #expect(size == 0)
    }
  }

  @Test func `stores of several users are apart`() async throws {
    try await Self.withFile { path in
      let stores = try ["ann", "bob"].map { try DataStore(models: [Before.Gone.self], storage: .file(path + $0)) }
      try await stores[0].save(Before.Gone(id: "ann's"))
      #expect(try await stores[1].query(Before.Gone.self).isEmpty)
      #expect(try await stores[0].query(Before.Gone.self).map(\.id) == ["ann's"])
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a file is one store by each of its names, and none without a name`() async throws {
    try await Self.withFile { path in
      for name in ["", " odd?mode=memory#%20", "e\u{301}"] {
        let store = try DataStore(models: [Before.Gone.self], storage: .file(path + name))
        #expect(FileManager.default.fileExists(atPath: path + name))
        var snapshots = store.observeQuery(for: Before.Gone.self).makeAsyncIterator()
        #expect(try await snapshots.next()?.items.isEmpty == true)
        try FileManager.default.createSymbolicLink(atPath: path + name + "-link", withDestinationPath: path + name)
        let other = try DataStore(models: [Before.Gone.self], storage: .file(path + name + "-link"))
        try await other.save(Before.Gone(id: "by the other name"))
        #expect(try await snapshots.next()?.items.map(\.id) == ["by the other name"])
      }
      let error = #expect(throws: DataStoreError.self) {
        try DataStore(models: [Before.Gone.self], storage: .file(""))
      }
      #expect(error?.code == .storage && error?.message == "the path of the store's file is empty")
    }
  }

  @Test func `a declaration that does not fit is refused by name`() throws {
    struct Child: StoredModel {
      var id: String
      var parent: LazyReference<After.Folder>
      enum CodingKeys: String, ModelKey { case id, parent }
    }
    struct Wrong: StoredModel {
      var id: String
      var notes: List<Before.Note> = []
      enum CodingKeys: String, ModelKey { case id, notes }
      static var relations: [CodingKeys: ModelAssociation] { [.notes: .hasMany(Before.Note.self, fields: "wrongID")] }
    }
    let undeclared = #expect(throws: DataStoreError.self) { try DataStore(models: [Child.self], storage: .inMemory) }
    #expect(undeclared?.message == "Child.parent is a relation that Child.relations does not declare")
    let missing = #expect(throws: DataStoreError.self) {
      try DataStore(models: [Wrong.self, Before.Note.self], storage: .inMemory)
    }
    #expect(missing?.message == "Wrong.notes names Note.wrongID, which is not a stored field")
    let absent = #expect(throws: DataStoreError.self) { try DataStore(models: [Wrong.self], storage: .inMemory) }
    #expect(absent?.message == "Wrong.notes relates to Note, which is not one of the store's models")
    // The file could not be opened a second time.
    struct Listed: StoredModel {
      var id: String
      var both: String
      enum CodingKeys: String, ModelKey { case id, both = "a,b" }
      static var indexes: [StoredIndex] { [StoredIndex("byBoth", fields: "a,b")] }
    }
    let listed = #expect(throws: DataStoreError.self) { try DataStore(models: [Listed.self], storage: .inMemory) }
    #expect(
      listed?.message == "the index byBoth names Listed.a,b: what finds records has no comma in its name")
  }
}
