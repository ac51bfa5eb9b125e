import Martlet
import MartletDataStore
import MartletSQLite
import MartletServer
import Testing

/// Syncs that cannot begin, and disks that fail in the middle of one.
@Suite(.timeLimit(.minutes(1))) struct BrokenStartTests {
  @Test func `defect 11: a sync expression that cannot be read ends the sync with an event, and writes wait`()
    async throws
  {
    try await SyncedServer.with { server in
      let ada = try SyncedStore(server) { configuration in
        configuration.syncExpressions = [.syncExpression(Note.self) { Folder.keys.name == "x" }]
      }
      defer { ada.close() }
      var events = ada.store.events.makeAsyncIterator()
      try await ada.store.start()
      let first = try #require(await events.next())
      guard case .terminated(let error) = first else {
        Issue.record("\(first)")
        return
      }
      #expect(error.code == .invalidQuery)
      #expect(ada.store.syncStatus.lastError == error)
      try await ada.store.save(Note(id: "a", text: "one"))
      #expect(ada.store.syncStatus.pendingCount == 1)
    }
  }

  @Test func `P2: a page that the disk cannot take leaves its model owed, and the next start has all of it`()
    async throws
  {
    let schema = "type Note @model @versioned { id: ID! text: String! rank: Int owner: String }"
    try await SyncedServer.with(schema) { server in
      let text = String(repeating: "x", count: 2_000)
      _ = try await server.transaction { transaction in
        for number in 0..<200 {
          _ = try transaction.create("Note", ["id": .string("n\(number)"), "text": .string(text)])
        }
      }
      let files = MemoryFiles()
      var surroundings = StoreSurroundings.system
      surroundings.files = files
      let ada = try SyncedStore(server, models: [Note.self], on: surroundings)
      defer { ada.close() }
      // Enough for what says that a model is synced, and too little for its records.
      files.setCapacity(files.totalBytes + 150_000)
      var events = ada.store.events.makeAsyncIterator()
      try await ada.store.start()
      while let event = await events.next() { if case .terminated = event { break } }
      #expect(!ada.store.syncStatus.isSynced)
      files.setCapacity(nil)
      try await ada.settle()
      #expect(try await ada.store.query(Note.self).count == 200)
    }
  }

  @Test func `P4: after rights that change between two halves of a first sync the first half is synced again`()
    async throws
  {
    func schema(_ rule: String) -> String {
      """
      type Folder @model @versioned @auth(rules: [\(rule)]) { id: ID! name: String! owner: String }
      type Note @model @versioned @auth(rules: [\(rule)]) { id: ID! text: String! rank: Int owner: String }
      """
    }
    try await SyncedServer.with(schema("{allow: owner}")) { server in
      _ = try await server.transaction { transaction in
        for owner in ["ada", "bob"] {
          _ = try transaction.create("Folder", ["id": .string(owner), "name": "f", "owner": .string(owner)])
          _ = try transaction.create("Note", ["id": .string(owner), "text": "n", "owner": .string(owner)])
        }
      }
      // A delta begins with the last change that the sync before it has seen, and with all of the same millisecond.
      try await Task.sleep(for: .milliseconds(3))
      _ = try await server.transaction { transaction in
        _ = try transaction.create("Folder", ["id": "late", "name": "f", "owner": "ada"])
      }
      let ada = try SyncedStore(server)
      defer { ada.close() }
      let gate = ada.wire.gateQueries()
      try await ada.store.start()
      gate.yield()
      try await ada.wait { $0.models["Folder"]?.isSynced == true }
      #expect(try await ada.store.query(Folder.self).map(\.id).sorted() == ["ada", "late"])
      #expect(ada.store.syncStatus.models["Note"]?.isSynced == false)
      try await ada.store.stop()
      gate.finish()

      try await server.reload(schema: schema("{allow: private}"))
      try await ada.settle()
      #expect(try await ada.store.query(Note.self).count == 2)
      #expect(try await ada.store.query(Folder.self).count == 3)
    }
  }
}
