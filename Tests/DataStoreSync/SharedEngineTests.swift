import Martlet
import MartletDataStore
import MartletServer
import MartletTestSupport
import Testing

/// Several stores on one file, as several processes have them: one runs the sync.
@Suite(.timeLimit(.minutes(1))) struct SharedEngineTests {
  @Test func `one of several stores on a file runs the sync for all, and another takes over when it ends`()
    async throws
  {
    try await SyncedServer.with { server in
      try await TemporaryFolder.with { folder in
        let storage = DataStoreStorage.file(folder + "/store")
        let bob = try SyncedStore(server, as: "bob")
        try await bob.settle()
        let first = try SyncedStore(server, storage: storage)
        try await first.settle()
        let second = try SyncedStore(server, storage: storage)
        try await second.store.start()
        try await second.wait { $0.isElsewhere && $0.isSettled }
        #expect(second.wire.queries.isEmpty)
        // Saved here, sent there.
        let handle = try await second.store.submit(Note(id: "a", text: "one"))
        try await handle.reached(.durable)
        #expect(second.wire.mutations == 0 && first.wire.mutations == 1)
        try await bob.sees([Note(id: "a", text: "one", owner: "ada")])
        // Received there, shown here.
        try await bob.store.save(Note(id: "b", text: "two"))
        let both = [Note(id: "a", text: "one", owner: "ada"), Note(id: "b", text: "two", owner: "bob")]
        try await second.sees(both)
        // A refusal there is known here.
        let refused = try await second.store.submit(Note(id: "c", text: "much longer than the server allows"))
        #expect(await refused.end(before: .durable) != nil)
        #expect(refused.end?.rejection != nil)
        try await first.store.stop()
        try await second.wait { !$0.isElsewhere && $0.isSettled }
        try await second.store.submit(Note(id: "d", text: "after")).reached(.durable)
        #expect(second.wire.mutations == 1)
        try await bob.sees(both + [Note(id: "d", text: "after", owner: "ada")])
        first.close()
        second.close()
        bob.close()
      }
    }
  }

  @Test func `a store whose sync another one runs says that it is settled while a write of its own waits`()
    async throws
  {
    try await SyncedServer.with { server in
      try await TemporaryFolder.with { folder in
        let storage = DataStoreStorage.file(folder + "/store")
        let first = try SyncedStore(server, storage: storage)
        try await first.settle()
        let second = try SyncedStore(server, storage: storage)
        try await second.store.start()
        try await second.wait { $0.isElsewhere && $0.isSettled }
        let gate = first.wire.gateMutations()
        for number in 1...3 {
          try await second.store.save(Note(id: "n\(number)", text: "t"))
          let status = second.store.syncStatus
          #expect(status.isElsewhere && status.pendingCount == number && !status.isSettled)
        }
        gate.finish()
        try await second.wait { $0.isElsewhere && $0.isSettled && $0.pendingCount == 0 }
        #expect(first.wire.mutations == 3)
        first.close()
        second.close()
      }
    }
  }

  @Test func `P12: a write that another store has sent or made needless is over for its handle, too`()
    async throws
  {
    try await SyncedServer.with { server in
      try await TemporaryFolder.with { folder in
        let storage = DataStoreStorage.file(folder + "/store")
        let first = try SyncedStore(server, storage: storage)
        try await first.settle()
        let second = try SyncedStore(server, storage: storage)
        try await second.store.start()
        try await second.wait { $0.isElsewhere && $0.isSettled }
        try await first.cut()
        // Deleted there before it was sent from here.
        let cancelled = try await first.store.submit(Note(id: "a", text: "one"))
        try await second.store.delete(Note.self, withId: "a")
        #expect(await cancelled.end(before: .durable) == .superseded)
        let sent = try await first.store.submit(Note(id: "b", text: "two"))
        let refused = try await first.store.submit(Note(id: "c", text: "much longer than the server allows"))
        try await first.store.stop()
        try await second.wait { !$0.isElsewhere && $0.isSettled }
        try await second.store.stop()
        try await first.mend()
        try await first.store.start()
        try await sent.reached(.seen)
        #expect(await refused.end(before: .durable) != nil)
        #expect(refused.end?.rejection != nil)
        #expect(first.wire.mutations == 0)
        first.close()
        second.close()
      }
    }
  }

  @Test func `a store that another one clears ends the handles of its writes`() async throws {
    try await SyncedServer.with { server in
      try await TemporaryFolder.with { folder in
        let storage = DataStoreStorage.file(folder + "/store")
        let first = try SyncedStore(server, storage: storage)
        try await first.settle()
        let second = try SyncedStore(server, storage: storage)
        try await second.store.start()
        try await second.wait { $0.isElsewhere && $0.isSettled }
        try await first.cut()
        let handle = try await first.store.submit(Note(id: "a", text: "one"))
        try await second.store.clear(discardingPending: true)
        #expect(await handle.end(before: .durable) == .cleared)
        first.close()
        second.close()
      }
    }
  }

  @Test func `of two processes one syncs the store for both, and when it is killed the other does`() async throws {
    let schema = "type SharedNote @model @versioned @auth(rules: [{allow: private}]) { id: ID! text: String! }"
    try await SyncedServer.with(schema) { server in
      try await TemporaryFolder.with { folder in
        let models: [any Model.Type] = [SharedNote.self]
        let address = "ws://127.0.0.1:\(server.port)/graphql"
        let bob = try SyncedStore(server, as: "bob", models: models)
        var seen = bob.store.observeQuery(for: SharedNote.self).makeAsyncIterator()
        func expect(_ ids: [String]) async throws {
          while let snapshot = try await seen.next(), snapshot.items.map(\.id) != ids {}
        }
        let first = try await SharingProcess(folder + "/store", ["--sync", address])
        try first.tell("status")
        try await first.expect("here")
        let second = try await SharingProcess(folder + "/store", ["--sync", address])
        try second.tell("status")
        try await second.expect("elsewhere")
        // Saved in one process, sent by the other, shown in both.
        try second.tell("save a x")
        try await expect(["a"])
        try first.tell("watch")
        try await first.expect("notes a")
        first.kill()
        try await second.expect("here")
        try second.tell("save b x")
        try await expect(["a", "b"])
        // What the server has meanwhile arrives at the process that took over.
        try await bob.store.save(SharedNote(id: "c", text: "x"))
        try second.tell("watch")
        try await second.expect("notes a b c")
        second.kill()
        bob.close()
      }
    }
  }
}

/// The record of `martlet-lab share`.
struct SharedNote: Model, Equatable {
  var id: String
  var text: String
  enum CodingKeys: String, ModelKey { case id, text }
}
