import Martlet
import MartletDataStore
import MartletServer
import Testing

/// How snapshots come while a model is synced, three pages of ten records here.
@Suite(.timeLimit(.minutes(1))) struct PaceTests {
  private typealias Snapshots = SubscriptionStream<DataStoreQuerySnapshot<Note>>.Iterator

  /// A store whose pages come one by one, after its first snapshot.
  private func sync(
    _ adjust: @escaping (inout DataStoreConfiguration) -> Void,
    _ body: (_ page: () -> Void, _ snapshots: inout Snapshots) async throws -> Void
  ) async throws {
    try await SyncedServer.with { server in
      try await server.transaction { transaction in
        for number in 10..<40 {
          try transaction.create("Note", ["id": .string("n\(number)"), "text": "t", "owner": "bob"])
        }
      }
      let ada = try SyncedStore(server, models: [Note.self]) { configuration in
        configuration.syncPageSize = 10
        // Nothing is shown because of the time, unless a test says so.
        configuration.snapshotInterval = .seconds(3_600)
        adjust(&configuration)
      }
      let pages = ada.wire.gateQueries()
      var snapshots = ada.store.observeQuery(for: Note.self).makeAsyncIterator()
      let first = try await snapshots.next()
      #expect(first?.items.isEmpty == true && first?.isSynced == false)
      try await body({ pages.yield() }, &snapshots)
      ada.close()
    }
  }

  private func expect(_ count: Int, isSynced: Bool, _ snapshots: inout Snapshots) async throws {
    let snapshot = try #require(try await snapshots.next())
    #expect(snapshot.items.count == count && snapshot.isSynced == isSynced)
  }

  @Test func `as many changes as are set make a snapshot while a model is synced`() async throws {
    try await sync({ $0.snapshotChanges = 20 }) { page, snapshots in
      page()
      page()
      try await expect(20, isSynced: false, &snapshots)
      page()
      try await expect(30, isSynced: true, &snapshots)
    }
  }

  @Test func `fewer changes than are set wait for the end of the sync, which is shown at once`() async throws {
    try await sync({ $0.snapshotChanges = 1_000 }) { page, snapshots in
      for _ in 0..<3 { page() }
      try await expect(30, isSynced: true, &snapshots)
    }
  }

  @Test func `what waits is shown when the interval is over`() async throws {
    try await sync({ $0.snapshotInterval = .milliseconds(1) }) { page, snapshots in
      for count in [10, 20] {
        page()
        try await expect(count, isSynced: false, &snapshots)
      }
      page()
      var isSynced = false
      while !isSynced, let snapshot = try await snapshots.next() {
        isSynced = snapshot.isSynced
        #expect(snapshot.items.count == 30)
      }
      #expect(isSynced)
    }
  }

  @Test func `the defaults are the original's, but for the number of records, which has no bound`() {
    for configuration in [DataStoreConfiguration(), .default, .custom()] {
      #expect(configuration.snapshotInterval == .seconds(2) && configuration.snapshotChanges == 1_000)
      #expect(configuration.syncInterval == .seconds(24 * 60 * 60) && configuration.syncPageSize == 1_000)
      #expect(configuration.syncMaxRecords == nil)
      #expect(configuration.retryDelay == .milliseconds(100) && configuration.retryJitter == .milliseconds(100))
      #expect(configuration.longestRetryDelay == .seconds(5 * 60))
    }
  }
}
