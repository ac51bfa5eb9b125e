import Foundation
import Martlet
import MartletDataStore
import MartletGraphQLClient
import MartletServer
import Testing

/// A store that takes this package's server for an AppSync endpoint.
@Suite(.timeLimit(.minutes(1))) struct OwnServerAsAppSyncTests {
  @Test func `a store with AppSync's documents and protocol agrees with the server, also after it was away`()
    async throws
  {
    try await SyncedServer.with { server in
      var connection = ConnectionConfiguration()
      connection.dialect = .appSync
      connection.credentials = { _ in
        Credentials(headers: [(name: "Authorization", value: "ada")], payload: ["Authorization": "ada"])
      }
      let client = try GraphQLClient(
        url: try #require(URL(string: "http://127.0.0.1:\(server.port)/graphql")), configuration: connection)
      var configuration = DataStoreConfiguration()
      configuration.syncPageSize = 2
      let store = try DataStore(
        models: [Folder.self, Note.self], storage: .inMemory,
        sync: DataStoreSync(client.networkTransport, documents: .appSync, configuration: configuration))
      func sees(_ texts: [String]) async throws {
        let note = Note.keys
        for try await snapshot in store.observeQuery(for: Note.self, sort: .ascending(note.id))
        where snapshot.items.map(\.text) == texts { return }
      }
      func settle() async throws {
        try await store.start()
        for await status in store.syncStatuses where status.isSettled { return }
      }
      let bob = try SyncedStore(server, as: "bob")
      var notes = (0..<5).map { Note(id: "n\($0)", text: "\($0)") }
      for note in notes { try await bob.store.save(note) }
      try await bob.settle()
      try await settle()
      try await sees(["0", "1", "2", "3", "4"])
      notes = try await bob.store.query(Note.self).sorted { $0.id < $1.id }
      notes[0].text = "zero"
      try await bob.store.save(notes[0])
      try await bob.store.delete(notes[1])
      try await sees(["zero", "2", "3", "4"])
      try await store.stop()
      notes[2].text = "two"
      try await bob.store.save(notes[2])
      try await bob.store.delete(notes[3])
      try await bob.settle()
      try await settle()
      try await sees(["zero", "two", "4"])
      let handle = try await store.submit(Note(id: "own", text: "ada's"))
      try await handle.reached(.durable)
      try await bob.sees([
        notes[0], notes[2], notes[4], Note(id: "own", text: "ada's", owner: "ada"),
      ])
      try await store.delete(try #require(try await store.query(Note.self).first { $0.id == "n4" }))
      try await settle()
      try await bob.sees([notes[0], notes[2], Note(id: "own", text: "ada's", owner: "ada")])
      client.shutDown()
      bob.close()
    }
  }
}
