import Martlet
import MartletDataStore
import MartletServer
import Testing

/// An application gets a version whose model has a field more.
@Suite(.timeLimit(.minutes(1))) struct NewFieldTests {
  private enum Early {
    struct Note: Model, Equatable {
      var id: String
      var text: String
      enum CodingKeys: String, ModelKey { case id, text }
    }
  }

  @Test func `P2: a field that the application did not know is filled for the records that it had`() async throws {
    try await TemporaryFolder.with { folder in
      try await SyncedServer.with { server in
        let bob = try SyncedStore(server, as: "bob")
        let note = Note(id: "a", text: "one", rank: 7, owner: "bob")
        try await bob.settle()
        try await bob.store.submit(note).reached(.seen)
        let early = try SyncedStore(
          server, models: [Folder.self, Early.Note.self], storage: .file("\(folder)/store"))
        try await early.settle()
        #expect(try await early.store.query(Early.Note.self).map(\.text) == ["one"])
        try await early.store.stop()
        early.close()
        let ada = try SyncedStore(server, storage: .file("\(folder)/store"))
        try await ada.settle()
        try await ada.sees([note])
        ada.close()
        bob.close()
      }
    }
  }
}
