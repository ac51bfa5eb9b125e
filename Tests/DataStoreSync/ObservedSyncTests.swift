import Martlet
import MartletDataStore
import MartletServer
import Testing

/// What observers and live queries say of a sync.
@Suite(.timeLimit(.minutes(1))) struct ObservedSyncTests {
  /// The events of a store's notes, each as its type, whether it is acknowledged, and its source.
  private struct Observed {
    var iterator: SubscriptionStream<MutationEvent>.Iterator

    init(_ synced: SyncedStore) async throws {
      let stream = synced.store.observe(Note.self)
      try await stream.ready()
      iterator = stream.makeAsyncIterator()
    }

    mutating func next() async throws -> String {
      var event = try #require(try await iterator.next())
      // The feed can bring a write's change before the server's answer to it.
      while event.source == .live, !event.isAcknowledged { event = try #require(try await iterator.next()) }
      return "\(event.mutationType) \(event.isAcknowledged) \(event.source)"
    }
  }

  @Test func `the event of a deletion says of the record before it whether that was acknowledged`() async throws {
    try await SyncedServer.with { server in
      let ada = try SyncedStore(server)
      try await ada.settle()
      var events = try await Observed(ada)
      try await ada.store.submit(Note(id: "a", text: "one")).reached(.seen)
      #expect(try await events.next() == "create false local")
      #expect(try await events.next() == "update true mutationResponse")
      try await ada.cut()
      // The server has the record, and does not know of its deletion.
      try await ada.store.delete(Note.self, withId: "a")
      #expect(try await events.next() == "delete false local")
      // The server never gets the record.
      try await ada.store.save(Note(id: "b", text: "two"))
      try await ada.store.delete(Note.self, withId: "b")
      #expect(try await events.next() == "create false local")
      #expect(try await events.next() == "delete true local")
      try await ada.mend()
      try await ada.settle()
      // A record that the server has refused is gone, and nothing of it waits.
      let refused = try await ada.store.submit(Note(id: "c", text: "much longer than the server allows"))
      #expect(await refused.end(before: .durable) != nil)
      #expect(try await events.next() == "create false local")
      #expect(try await events.next() == "delete true mutationResponse")
      ada.close()
    }
  }

  @Test func `a store says that it is settled when an observer has a write that was not sent`() async throws {
    try await SyncedServer.with { server in
      let ada = try SyncedStore(server)
      let gate = ada.wire.gateMutations()
      try await ada.settle()
      let observed = ada.store.observe(Note.self)
      try await observed.ready()
      let settled = Task {
        for try await event in observed where event.source == .local { return ada.store.syncStatus.isSettled }
        return true
      }
      // Many, so that the engine gets the last of them later than an observer the first.
      try await ada.store.transaction { transaction in
        for number in 0..<500 { try transaction.save(Note(id: "n\(number)", text: "t")) }
      }
      #expect(try await !settled.value)
      #expect(!ada.store.syncStatus.isSettled && ada.store.syncStatus.pendingCount > 0)
      // One that is taken back changes nothing.
      gate.finish()
      try await ada.wait { $0.isSettled }
      struct Refusal: Error {}
      await #expect(throws: Refusal.self) {
        try await ada.store.transaction { transaction in
          try transaction.save(Note(id: "n0", text: "u", owner: "ada"))
          throw Refusal()
        }
      }
      #expect(ada.store.syncStatus.isSettled)
      ada.close()
    }
  }

  @Test func `a live query whose consumer is slow does not say when its model was synced`() async throws {
    try await SyncedServer.with { server in
      let ada = try SyncedStore(server)
      let notes = ada.store.observeQuery(for: Note.self)
      try await notes.ready()
      try await ada.settle()
      let figures = try #require(try await ada.store.liveQueries().first)
      #expect(try #require(figures.serverTime) >= #require(figures.localTime))
      notes.cancel()
      ada.close()
    }
  }

  @Test func `the pages that another process syncs are shown one by one`() async throws {
    try await SyncedServer.with { server in
      try await server.transaction { transaction in
        for number in 10..<40 {
          try transaction.create("Note", ["id": .string("n\(number)"), "text": "t", "owner": "bob"])
        }
      }
      try await TemporaryFolder.with { folder in
        let storage = DataStoreStorage.file(folder + "/store")
        func open() throws -> SyncedStore {
          try SyncedStore(server, models: [Note.self], storage: storage) { configuration in
            configuration.syncPageSize = 10
            // Nothing is shown because of the time.
            configuration.snapshotInterval = .seconds(3_600)
          }
        }
        let first = try open()
        let pages = first.wire.gateQueries()
        try await first.store.start()
        let second = try open()
        var snapshots = second.store.observeQuery(for: Note.self).makeAsyncIterator()
        let empty = try #require(try await snapshots.next())
        #expect(empty.items.isEmpty && !empty.isSynced)
        try await second.wait { $0.isElsewhere }
        for count in [10, 20] {
          pages.yield()
          while try await second.store.query(Note.self).count < count { await Task.yield() }
        }
        pages.yield()
        let snapshot = try #require(try await snapshots.next())
        #expect(snapshot.items.count == 30 && snapshot.isSynced)
        second.close()
        first.close()
      }
    }
  }
}
