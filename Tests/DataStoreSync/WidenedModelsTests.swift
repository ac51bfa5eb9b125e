import Martlet
import MartletDataStore
import MartletServer
import Testing

/// Several stores on one file, of which one has a model with more fields.
@Suite(.timeLimit(.minutes(1))) struct WidenedModelsTests {
  private enum Early {
    struct Note: Model, Equatable {
      var id: String
      var text: String
      enum CodingKeys: String, ModelKey { case id, text }
    }
  }

  @Test func `P2: a process that lacks fields syncs for one that has them, and their values are lost`() async throws {
    try await SyncedServer.with { server in
      try await TemporaryFolder.with { folder in
        let storage = DataStoreStorage.file(folder + "/store")
        let bob = try SyncedStore(server, as: "bob")
        try await bob.settle()
        let early = try SyncedStore(server, models: [Folder.self, Early.Note.self], storage: storage)
        try await early.settle()
        try await early.cut()
        try await early.store.save(Early.Note(id: "e", text: "early"))
        let late = try SyncedStore(server, storage: storage)
        try await late.settle()
        // The older one has given the sync up, and says so.
        try await early.wait { $0.isElsewhere && $0.isSettled }
        #expect(early.store.syncStatus.lastError?.code == .migration)
        #expect(early.wire.mutations == 0)
        try await bob.store.submit(Note(id: "b", text: "bob's", rank: 7)).reached(.durable)
        try await late.store.submit(Note(id: "l", text: "late", rank: 3)).reached(.seen)
        // Both still write: an edit of the older one leaves what it lacks.
        try await early.store.submit(Early.Note(id: "l", text: "edited")).reached(.durable)
        try await late.cut()
        try await late.store.save(Note(id: "n", text: "new", rank: 5))
        try await early.store.save(Early.Note(id: "n", text: "changed"))
        try await late.mend()
        let notes = [
          Note(id: "b", text: "bob's", rank: 7, owner: "bob"), Note(id: "e", text: "early", owner: "ada"),
          Note(id: "l", text: "edited", rank: 3, owner: "ada"), Note(id: "n", text: "changed", rank: 5, owner: "ada"),
        ]
        try await late.sees(notes)
        try await bob.sees(notes)
        // It does not take the sync when it is asked to, either.
        try await late.store.stop()
        try await early.store.start()
        #expect(early.store.syncStatus.isElsewhere)
        #expect(early.wire.mutations == 0)
        try await late.settle()
        early.close()
        late.close()
        bob.close()
      }
    }
  }
}
