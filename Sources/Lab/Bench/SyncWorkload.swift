import Foundation
import Martlet
import MartletCommandLine
import MartletDataStore

/// The record of Benchmarks/lines/sync.py.
struct SyncedReading: StoredModel {
  var id: String
  var topic: String
  var number: Int
  var text: String
  var sent: String
  enum CodingKeys: String, ModelKey { case id, topic, number, text, sent }
  static let modelName = "Reading"
  static var indexes: [StoredIndex] { [StoredIndex("byTopic", fields: "topic")] }
}

/// The first sync of a store from a server that is there: processor time of this process, and its memory.
enum SyncWorkload {
  static func run(url: URL, file: String?) async throws {
    let client = try GraphQLClient(url: url)
    let storage = file.map { DataStoreStorage.file($0) } ?? .inMemory
    let store = try DataStore(
      models: [SyncedReading.self], storage: storage,
      sync: DataStoreSync(client.networkTransport))
    // A view that is shown while the sync runs.
    let shown = store.observeQuery(
      for: SyncedReading.self, sort: .ascending(SyncedReading.keys.number), paginate: .page(0, limit: 50))
    let start = CPUTime.now()
    try await store.start()
    var snapshots = 0
    for try await snapshot in shown {
      snapshots += 1
      if snapshot.isSynced { break }
    }
    for await status in store.syncStatuses where status.isSettled { break }
    let cost = CPUTime.now() - start
    let records = store.syncStatus.models["Reading"]?.received ?? 0
    var figure = BenchFigure("sync")
    figure.add("records", records)
    figure.add("seconds", Double(cost.elapsed) / 1e9)
    figure.add("cpu_us_per_record", Double(cost.processor) / 1_000 / Double(max(records, 1)))
    figure.add("snapshots_meanwhile", snapshots)
    figure.add("peak_memory_mib", PeakMemory.kibibytes >> 10)
    if let file { figure.add("file_mib", bytes(of: file) >> 20) }
    figure.print()
    client.shutDown()
  }

  /// The database with its log.
  private static func bytes(of file: String) -> Int {
    ["", "-wal"].reduce(0) { sum, suffix in
      let attributes = try? FileManager.default.attributesOfItem(atPath: file + suffix)
      return sum + ((attributes?[.size] as? NSNumber)?.intValue ?? 0)
    }
  }
}
