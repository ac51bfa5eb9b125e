import Martlet
import MartletDataStore
import MartletServer
import Testing

/// A store meets its server on an older copy of its data: another server, whose log has never had what the store knows.
@Suite(.timeLimit(.minutes(1))) struct RestoredServerTests {
  @Test func `P19: a store takes the records of an older copy, though its own have later places in the log`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      try await SyncedServer.with { server in
        let ada = try SyncedStore(server, storage: .file("\(folder)/store"))
        try await ada.settle()
        for rank in 1...3 {
          try await ada.store.submit(Note(id: "a", text: "newest", rank: rank, owner: "bob")).reached(.seen)
        }
        try await ada.store.submit(Note(id: "b", text: "made later")).reached(.seen)
        try await ada.settle()
        try await ada.store.stop()
        ada.close()
      }
      try await SyncedServer.with { server in
        let bob = try SyncedStore(server, as: "bob")
        try await bob.settle()
        try await bob.store.submit(Note(id: "a", text: "older", rank: 1, owner: "bob")).reached(.seen)
        let ada = try SyncedStore(server, storage: .file("\(folder)/store"))
        try await ada.settle()
        try await ada.sees([Note(id: "a", text: "older", rank: 1, owner: "bob")])
        let next = Note(id: "a", text: "older", rank: 9, owner: "bob")
        try await ada.store.submit(next).reached(.seen)
        try await ada.sees([next])
        try await bob.sees([next])
        ada.close()
        bob.close()
      }
    }
  }
}
