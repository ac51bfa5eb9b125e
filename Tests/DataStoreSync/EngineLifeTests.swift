import Martlet
import MartletDataStore
import MartletJSON
import MartletServer
import Testing

/// Starting and stopping the sync, and what it reports.
@Suite(.timeLimit(.minutes(1))) struct EngineLifeTests {
  private func notes(_ range: ClosedRange<Int>, owner: String? = nil) -> [Note] {
    range.map { Note(id: "n\($0)", text: "t", rank: $0, owner: owner) }
  }

  @Test func `the events of a first sync come under the original's names and in its order`() async throws {
    try await SyncedServer.with { server in
      let bob = try SyncedStore(server, as: "bob")
      for note in notes(1...3) { try await bob.store.save(note) }
      try await bob.settle()
      let ada = try SyncedStore(server)
      var events = ada.store.events.makeAsyncIterator()
      try await ada.store.start()
      var found: [DataStoreEvent] = []
      while let event = await events.next() {
        found.append(event)
        if case .outboxStatus = event { break }
      }
      #expect(
        found == [
          .networkStatus(active: false), .networkStatus(active: true), .subscriptionsEstablished,
          .syncQueriesStarted(models: ["Folder", "Note"]),
          .modelSynced(
            modelName: "Folder", isFullSync: true, isDeltaSync: false, added: 0, updated: 0, deleted: 0),
          .modelSynced(modelName: "Note", isFullSync: true, isDeltaSync: false, added: 3, updated: 0, deleted: 0),
          .syncQueriesReady, .syncStarted, .ready, .outboxStatus(isEmpty: true),
        ])
      #expect(ada.store.syncStatus.models["Note"]?.received == 3)
      #expect(ada.store.syncStatus.isSettled && ada.store.syncStatus.isSynced)
      ada.close()
      bob.close()
    }
  }

  @Test func `the events of a write are its upload, its acceptance and the empty outbox`() async throws {
    try await SyncedServer.with { server in
      let ada = try SyncedStore(server)
      try await ada.settle()
      var events = ada.store.events.makeAsyncIterator()
      try await ada.store.submit(Note(id: "a", text: "one")).reached(.durable)
      var names: [String] = []
      while let event = await events.next() {
        switch event {
        case .outboxStatus(let isEmpty): names.append("outbox \(isEmpty)")
        case .outboxMutationEnqueued(let mutation):
          names.append("enqueued")
          #expect(mutation.modelName == "Note" && mutation.modelId == "a" && mutation.version == nil)
          #expect(mutation.json?.contains("one") == true)
        case .outboxMutationProcessed(let mutation):
          names.append("processed")
          #expect(mutation.version == 1 && mutation.lastChangedAt != nil && !mutation.isDeleted)
        case _: continue
        }
        if names.last == "outbox true" { break }
      }
      #expect(names == ["outbox false", "enqueued", "processed", "outbox true"])
      ada.close()
    }
  }

  @Test func `a write that comes back by the feed has no syncReceived; those of other stores have one`() async throws {
    try await SyncedServer.with { server in
      let (ada, bob) = (try SyncedStore(server), try SyncedStore(server, as: "bob"))
      try await ada.settle()
      try await bob.settle()
      var events = ada.store.events.makeAsyncIterator()
      try await ada.store.submit(Note(id: "a", text: "one")).reached(.seen)
      try await bob.store.submit(Note(id: "b", text: "two")).reached(.durable)
      try await bob.sees([Note(id: "a", text: "one", owner: "ada"), Note(id: "b", text: "two", owner: "bob")])
      try await bob.store.submit(Note(id: "a", text: "three", owner: "ada")).reached(.durable)
      var found: [String] = []
      var isAnswered = false
      while found.last != "a", let event = await events.next() {
        switch event {
        case .outboxMutationProcessed: isAnswered = true
        // The feed can bring the write before the server's answer to it.
        case .syncReceived(let mutation) where isAnswered: found.append(mutation.modelId)
        case _: continue
        }
      }
      #expect(found == ["b", "a"])
      ada.close()
      bob.close()
    }
  }

  @Test func `streams are silent after stop, and give what was missed once the store is started`() async throws {
    try await SyncedServer.with { server in
      let (ada, bob) = (try SyncedStore(server), try SyncedStore(server, as: "bob"))
      try await ada.settle()
      try await bob.settle()
      let observed = ada.store.observe(Note.self)
      try await observed.ready()
      var snapshots = ada.store.observeQuery(for: Note.self, sort: .ascending(Note.keys.id)).makeAsyncIterator()
      #expect(try await snapshots.next()?.items.isEmpty == true)
      try await ada.store.stop()
      for note in notes(1...3) { try await bob.store.save(note) }
      try await bob.settle()
      // Without the network the sync cannot be faster than the consumer.
      ada.wire.cut()
      try await ada.store.start()
      // One snapshot at once, as the store was; the last one has everything.
      let first = try #require(try await snapshots.next())
      #expect(first.items.isEmpty && !first.isSynced)
      try await ada.mend()
      var last = first
      while !last.isSynced { last = try #require(try await snapshots.next()) }
      #expect(Array(last.items) == notes(1...3, owner: "bob"))
      var events = observed.makeAsyncIterator()
      var found: [MutationEvent] = []
      for _ in 0..<3 { found.append(try #require(try await events.next())) }
      #expect(found.map(\.modelId) == ["n1", "n2", "n3"])
      #expect(found.allSatisfy { $0.source == .live && $0.version == 1 && $0.isAcknowledged })
      ada.close()
      bob.close()
    }
  }

  @Test func `clear refuses to lose unsent writes, names those that it is asked to discard, and the sync refills`()
    async throws
  {
    try await SyncedServer.with { server in
      let ada = try SyncedStore(server)
      try await ada.settle()
      try await ada.store.save(Note(id: "a", text: "kept"))
      try await ada.settle()
      try await ada.cut()
      let handle = try await ada.store.submit(Note(id: "b", text: "unsent"))
      let error = await #expect(throws: DataStoreError.self) { try await ada.store.clear() }
      #expect(error?.code == .unsentWrites)
      #expect(try await ada.store.query(Note.self).count == 2)
      var snapshots = ada.store.observeQuery(for: Note.self).makeAsyncIterator()
      #expect(try await snapshots.next()?.items.count == 2)
      var events = ada.store.events.makeAsyncIterator()
      try await ada.store.clear(discardingPending: true)
      #expect(handle.end?.reason == .cleared)
      while let event = await events.next() {
        guard case .outboxMutationFailed(let mutation, let reason) = event else { continue }
        #expect(mutation.modelId == "b" && reason == .cleared)
        break
      }
      try await ada.store.start()
      #expect(try await snapshots.next()?.items.isEmpty == true)
      try await ada.mend()
      try await ada.sees([Note(id: "a", text: "kept", owner: "ada")])
      try await ada.settle()
      ada.close()
    }
  }

  @Test func `with rows on disk and no server, the first snapshot comes at once and says that it is not synced`()
    async throws
  {
    try await SyncedServer.with { server in
      try await TemporaryFolder.with { folder in
        let storage = DataStoreStorage.file(folder + "/store")
        do {
          let ada = try SyncedStore(server, storage: storage)
          try await ada.settle()
          try await ada.store.save(Note(id: "a", text: "one"))
          try await ada.settle()
          // So that it no longer runs the sync, of which the next store would have the status.
          try await ada.store.stop()
          ada.close()
        }
        let again = try SyncedStore(server, storage: storage)
        again.wire.cut()
        var snapshots = again.store.observeQuery(for: Note.self).makeAsyncIterator()
        let first = try #require(try await snapshots.next())
        #expect(first.items.map(\.id) == ["a"] && !first.isSynced)
        try await again.wait { $0.lastError != nil }
        #expect(!again.store.syncStatus.isSettled)
        try await again.mend()
        // What the sync changes may come in snapshots before the one that says that it is done.
        var isSynced = false
        while !isSynced, let snapshot = try await snapshots.next() { isSynced = snapshot.isSynced }
        #expect(isSynced)
        again.close()
      }
    }
  }
}
