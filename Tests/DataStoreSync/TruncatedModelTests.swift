import Martlet
import MartletDataStore
import MartletRuntime
import MartletServer
import Testing

/// A model with more records at the server than `syncMaxRecords`.
@Suite(.timeLimit(.minutes(1))) struct TruncatedModelTests {
  /// A server with 30 notes, read in pages of 10 where nothing else is said.
  private func with(
    limit: Int?, page: Int = 10, _ body: (GraphQLServer, SyncedStore, Lock<[DataStoreError]>) async throws -> Void
  ) async throws {
    try await SyncedServer.with { server in
      try await server.transaction { transaction in
        for number in 10..<40 {
          try transaction.create("Note", ["id": .string("n\(number)"), "text": "t", "owner": "bob"])
        }
      }
      let errors = Lock<[DataStoreError]>([])
      let ada = try SyncedStore(server, models: [Note.self]) { configuration in
        configuration.syncPageSize = page
        configuration.syncMaxRecords = limit
        configuration.errorHandler = { error in errors.withLock { $0.append(error) } }
      }
      try await body(server, ada, errors)
      ada.close()
    }
  }

  @Test func `a model with more records than the limit is reported, is not synced, and its changes are followed`()
    async throws
  {
    try await with(limit: 20) { server, ada, errors in
      let events = ada.store.events
      try await ada.store.start()
      var seen: [DataStoreEvent] = []
      for await event in events {
        seen.append(event)
        if event == .ready { break }
      }
      #expect(seen.contains(.modelTruncated(modelName: "Note", limit: 20)))
      let synced = seen.filter { if case .modelSynced = $0 { true } else { false } }
      #expect(synced.isEmpty)
      #expect(errors.withLock { $0.map(\.code) } == [.truncated])
      #expect(errors.withLock { $0.first?.message.contains("Note has more than 20 records") } == true)
      let status = ada.store.syncStatus
      #expect(status.models["Note"]?.isSynced == false && !status.isSettled)
      #expect(try await ada.store.query(Note.self).count == 20)

      try await server.transaction { transaction in
        try transaction.create("Note", ["id": "later", "text": "t", "owner": "bob"])
      }
      for try await snapshot in ada.store.observeQuery(for: Note.self) where snapshot.items.count == 21 {
        #expect(snapshot.items.contains { $0.id == "later" })
        break
      }
      let own = try await ada.store.submit(Note(id: "own", text: "ada's"))
      try await own.reached(.durable)
    }
  }

  @Test(arguments: [(25, 10), (5, 1_000), (29, 1_000)])
  func `a sync brings no more records than the limit, whatever the size of a page`(limit: Int, page: Int) async throws {
    try await with(limit: limit, page: page) { _, ada, errors in
      let events = ada.store.events
      try await ada.store.start()
      for await event in events where event == .ready { break }
      #expect(try await ada.store.query(Note.self).count == limit)
      #expect(errors.withLock { $0.map(\.code) } == [.truncated] && !ada.store.syncStatus.isSynced)
      let asked = ada.wire.queries.map { $0.variables["limit"]?.int ?? 0 }
      #expect(asked == (page == 10 ? [10, 10, 5] : [Int64(limit)]))
    }
  }

  @Test(arguments: [nil, 30]) func `a model that the limit holds is synced whole`(limit: Int?) async throws {
    try await with(limit: limit) { _, ada, errors in
      try await ada.settle()
      #expect(try await ada.store.query(Note.self).count == 30)
      #expect(errors.withLock { $0.isEmpty })
    }
  }
}
