import Martlet
import MartletDataStore
import MartletServer
import Testing

/// Stores whose first server comes late, is left, or says how much is to come.
@Suite(.timeLimit(.minutes(1))) struct FirstSyncTests {
  private let notes = [
    Note(id: "a", text: "one", owner: "ada"), Note(id: "b", text: "two", owner: "ada"),
    Note(id: "c", text: "three", owner: "ada"),
  ]

  /// A store of its own with some notes, which is closed again.
  private func fill(_ storage: DataStoreStorage) async throws {
    let local = try DataStore(models: [Folder.self, Note.self], storage: storage)
    try await local.save(Folder(id: "f", name: "mine"))
    for note in notes { try await local.save(Note(id: note.id, text: note.text)) }
    try await local.save(Note(id: "gone", text: "gone"))
    try await local.delete(Note.self, withId: "gone")
  }

  @Test func `records that together are larger than a message are synced by several pages, in full and since`()
    async throws
  {
    let schema = "type Note @model @versioned { id: ID! text: String! rank: Int owner: String }"
    try await SyncedServer.with(schema) { server in
      let text = String(repeating: "x", count: 900_000)
      func write(_ range: Range<Int>) async throws {
        _ = try await server.transaction { transaction in
          for number in range {
            _ = try transaction.create("Note", ["id": .string("n\(number)"), "text": .string(text)])
          }
        }
      }
      // More than the 16 MiB that a client takes at once.
      for start in stride(from: 0, to: 20, by: 5) { try await write(start..<start + 5) }
      let ada = try SyncedStore(server, models: [Note.self], resumes: false)
      defer { ada.close() }
      try await ada.settle()
      #expect(try await ada.store.query(Note.self).count == 20)
      try await ada.cut()
      for start in stride(from: 20, to: 40, by: 5) { try await write(start..<start + 5) }
      try await ada.mend()
      try await ada.settle()
      #expect(try await ada.store.query(Note.self).count == 40)
    }
  }

  @Test func `what a store held before it had a server is created there, and stays here`() async throws {
    try await SyncedServer.with { server in
      try await TemporaryFolder.with { folder in
        let storage = DataStoreStorage.file(folder + "/store")
        try await fill(storage)
        let bob = try SyncedStore(server, as: "bob")
        try await bob.store.submit(Note(id: "z", text: "last")).reached(.durable)
        let ada = try SyncedStore(server, storage: storage)
        try await ada.settle()
        let last = Note(id: "z", text: "last", owner: "bob")
        try await ada.sees(notes + [last])
        try await bob.sees(notes + [last])
        #expect(try await ada.store.rejectedWrites().isEmpty)
        #expect(ada.wire.mutations == 4)
        ada.close()
        bob.close()
      }
    }
  }

  @Test func `the records of a store's time without a server are enqueued once, however often it is opened`()
    async throws
  {
    try await SyncedServer.with { server in
      try await TemporaryFolder.with { folder in
        let storage = DataStoreStorage.file(folder + "/store")
        try await fill(storage)
        for _ in 0..<2 {
          let offline = try SyncedStore(server, storage: storage)
          offline.wire.cut()
          try await offline.store.start()
          try await offline.wait { $0.pendingCount == 4 }
          try await offline.store.stop()
          offline.close()
        }
        let ada = try SyncedStore(server, storage: storage)
        try await ada.settle()
        #expect(ada.wire.mutations == 4)
        try await ada.store.stop()
        ada.close()
        let again = try SyncedStore(server, storage: storage)
        try await again.settle()
        #expect(again.wire.mutations == 0)
        again.close()
      }
    }
  }

  @Test func `a record that the server has already is a conflict, not a loss`() async throws {
    try await SyncedServer.with { server in
      try await TemporaryFolder.with { folder in
        let storage = DataStoreStorage.file(folder + "/store")
        try await fill(storage)
        let bob = try SyncedStore(server, as: "bob")
        try await bob.store.submit(Note(id: "a", text: "theirs")).reached(.durable)
        let ada = try SyncedStore(server, storage: storage)
        try await ada.settle()
        try await ada.sees([Note(id: "a", text: "theirs", owner: "bob")] + notes.dropFirst())
        let refused = try await ada.store.rejectedWrites()
        #expect(refused.map(\.reason) == [.conflict] && refused.map(\.modelId) == ["a"])
        ada.close()
        bob.close()
      }
    }
  }

  @Test func `what is written while a synced store is opened without its server is sent later`() async throws {
    try await SyncedServer.with { server in
      try await TemporaryFolder.with { folder in
        let storage = DataStoreStorage.file(folder + "/store")
        do {
          let ada = try SyncedStore(server, storage: storage)
          try await ada.settle()
          try await ada.store.save(Note(id: "a", text: "one"))
          try await ada.settle()
          try await ada.store.stop()
          ada.close()
        }
        do {
          let local = try DataStore(models: [Folder.self, Note.self], storage: storage)
          try await local.save(Note(id: "a", text: "changed", owner: "ada"))
          try await local.save(Note(id: "b", text: "two"))
          await #expect(throws: DataStoreError.self) { try await local.clear() }
        }
        let bob = try SyncedStore(server, as: "bob")
        let ada = try SyncedStore(server, storage: storage)
        try await ada.settle()
        try await bob.settle()
        let both = [Note(id: "a", text: "changed", owner: "ada"), notes[1]]
        try await ada.sees(both)
        try await bob.sees(both)
        ada.close()
        bob.close()
      }
    }
  }

  @Test func `the progress of a first sync says how many records are to come`() async throws {
    try await SyncedServer.with { server in
      let bob = try SyncedStore(server, as: "bob")
      for number in 0..<5 { try await bob.store.save(Note(id: "n\(number)", text: "t", rank: number)) }
      try await bob.settle()
      let ada = try SyncedStore(server) { configuration in
        configuration.syncPageSize = 2
        configuration.syncExpressions = [.syncExpression(Note.self) { Note.keys.rank > 0 }]
      }
      try await ada.settle()
      let progress = try #require(ada.store.syncStatus.models["Note"])
      #expect(progress.expected == 4 && progress.received == 4)
      #expect(ada.store.syncStatus.models["Folder"]?.expected == 0)
      ada.close()
      bob.close()
    }
  }

  @Test func `the progress of a sync that replaces what the store has says how many records are to come`()
    async throws
  {
    try await SyncedServer.with(
      SyncedServer.schema, { configuration in configuration.limits.store.retentionBytes = 1 }
    ) { server in
      let ada = try SyncedStore(server, resumes: false)
      defer { ada.close() }
      try await ada.store.submit(notes[0]).reached(.durable)
      try await ada.settle()
      try await ada.cut()
      // What has expired is looked for every 64 groups.
      for number in 0..<130 {
        _ = try await server.transaction { _ = try $0.create("Note", ["id": .string("n\(number)"), "text": "t"]) }
      }
      try await ada.mend()
      try await ada.wait { $0.isSettled && $0.models["Note"]?.received == 131 }
      #expect(ada.store.syncStatus.models["Note"]?.expected == 131)
    }
  }

  @Test func `a store over a transport that cannot resume follows the server, and syncs again after each loss`()
    async throws
  {
    try await SyncedServer.with { server in
      let bob = try SyncedStore(server, as: "bob")
      try await bob.store.submit(Note(id: "a", text: "one")).reached(.durable)
      let ada = try SyncedStore(server, resumes: false)
      try await ada.settle()
      try await bob.store.submit(Note(id: "b", text: "two")).reached(.durable)
      let two = [Note(id: "a", text: "one", owner: "bob"), Note(id: "b", text: "two", owner: "bob")]
      try await ada.sees(two)
      try await bob.store.submit(Note(id: "b", text: "more", owner: "bob")).reached(.durable)
      try await ada.sees([two[0], Note(id: "b", text: "more", owner: "bob")])
      try await ada.cut()
      try await bob.store.submitDeletion(of: two[0]).reached(.durable)
      try await ada.mend()
      try await ada.sees([Note(id: "b", text: "more", owner: "bob")])
      try await ada.store.submit(Note(id: "c", text: "mine")).reached(.durable)
      try await ada.settle()
      ada.close()
      bob.close()
    }
  }
}
