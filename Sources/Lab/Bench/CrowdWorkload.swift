import Foundation
import Martlet
import MartletCommandLine
import MartletDataStore
import MartletRuntime

/// Many synced stores, each with three live queries over a topic of its own: how long after a write each query has a
/// snapshot with it. The writer gives the moment of each write in `sent`, in nanoseconds of the monotonic clock.
enum CrowdWorkload {
  /// Prints a figure for every ten seconds, until standard input ends.
  static func run(url: URL, members: Int) async throws {
    let delays = Lock<[Int64]>([])
    var devices: [(client: GraphQLClient, store: DataStore)] = []
    for member in 0..<members {
      let client = try GraphQLClient(url: url)
      var configuration = DataStoreConfiguration()
      configuration.syncExpressions = [
        .syncExpression(SyncedReading.self) { SyncedReading.keys.topic == "t\(member)" }
      ]
      let store = try DataStore(
        models: [SyncedReading.self], storage: .inMemory,
        sync: DataStoreSync(client.networkTransport, configuration: configuration))
      devices.append((client, store))
      try await store.start()
      for await status in store.syncStatuses where status.isSettled { break }
      let keys = SyncedReading.keys
      for sort in [QuerySort.descending(keys.number), .descending(keys.sent), .ascending(keys.id)] {
        let query = store.observeQuery(for: SyncedReading.self, sort: sort, paginate: .page(0, limit: 50))
        ConcurrentSpawner().spawn { try? await follow(query, delays) }
      }
    }
    Console.out("ready")
    let printing = ConcurrentSpawner().spawn {
      while !Task.isCancelled {
        try? await Task.sleep(for: .seconds(10))
        show(taken(delays))
      }
    }
    while readLine() != nil {}
    printing.cancel()
    // What has come since the last figure.
    show(taken(delays))
    for device in devices { device.client.shutDown() }
  }

  private static func follow(
    _ query: MartletAsyncThrowingSequence<DataStoreQuerySnapshot<SyncedReading>>, _ delays: Lock<[Int64]>
  ) async throws {
    for try await snapshot in query {
      let now = CPUTime.now().elapsed
      for index in snapshot.changes.insertions + snapshot.changes.updates {
        guard let sent = Int64(snapshot.items[index].sent), sent > 0 else { continue }
        delays.withLock { $0.append(now - sent) }
      }
    }
  }

  private static func taken(_ delays: Lock<[Int64]>) -> [Int64] {
    delays.withLock { delays in
      defer { delays = [] }
      return delays
    }
  }

  private static func show(_ delays: [Int64]) {
    let delays = delays.sorted()
    guard let last = delays.last else { return }
    var figure = BenchFigure("crowd")
    figure.add("snapshots_with_a_write", delays.count)
    figure.add("p50_ms", Double(delays[delays.count / 2]) / 1e6)
    figure.add("p99_ms", Double(delays[delays.count * 99 / 100]) / 1e6)
    figure.add("longest_ms", Double(last) / 1e6)
    figure.print()
  }
}
