import CMartletSQLite
import Foundation
import MartletDataStore
import MartletGraphQLClient

/// What a program's start costs until it can show something: from a file with records to the first snapshot of a live
/// query, opening included. Once for a page of a hundred and once for the whole table, with a predicate that all
/// records fulfil and without one, without a server and with one that never answers, and once for a page of records
/// that all wait for such a server.
enum FirstWorkload {
  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// A server that never answers.
  private struct Silent: NetworkTransport {
    func send(_ request: OperationRequest) async throws -> OperationPayload {
      try await Task.sleep(for: .seconds(3_600))
      throw CancellationError()
    }

    func subscribe(_ request: OperationRequest, feeding feed: SubscriptionFeed) throws {}
  }

  private static let rounds = 9

  static func run(file: String, rows: Int) async throws {
    try await fill(file, rows, nil)
    let waiting = file + "-waiting"
    try await fill(waiting, rows, DataStoreSync(Silent()))
    var costs: [String: [Double]] = [:]
    // A page's rounds are not among those of the table, whose rows are still being freed.
    for (name, limit) in [("window", 100), ("table", nil), ("all", nil)] as [(String, Int?)] {
      for _ in 0..<rounds {
        for sync in [nil, DataStoreSync(Silent())] {
          let (open, whole) = try await first(file, rows, limit, sync, hasPredicate: name != "all")
          let ending = sync == nil ? "_us" : "_offline_us"
          costs[name + ending, default: []].append(whole)
          costs["open" + ending, default: []].append(open)
        }
        if let limit {
          costs["window_waiting_us", default: []].append(
            try await first(waiting, rows, limit, DataStoreSync(Silent())).whole)
        }
        costs["peer_table_us", default: []].append(try peer(file, rows))
      }
    }
    var figure = BenchFigure("first")
    figure.add("rows", rows)
    for (name, values) in costs.sorted(by: { $0.key < $1.key }) {
      figure.add(name, values.sorted()[values.count / 2])
    }
    figure.print()
  }

  private static func fill(_ file: String, _ rows: Int, _ sync: DataStoreSync?) async throws {
    let store = try DataStore(models: [BenchReading.self], storage: .file(file), sync: sync)
    for first in stride(from: 0, to: rows, by: 1_000) {
      try await store.transaction { transaction in
        for number in first..<min(first + 1_000, rows) { try transaction.save(LiveWorkload.reading(number)) }
      }
    }
    try await store.stop()
  }

  /// Microseconds of processor time until the store is open, and until the first snapshot is there.
  private static func first(
    _ file: String, _ rows: Int, _ limit: Int?, _ sync: DataStoreSync?, hasPredicate: Bool = true
  ) async throws -> (open: Double, whole: Double) {
    let keys = BenchReading.keys
    let start = CPUTime.now()
    let store = try DataStore(models: [BenchReading.self], storage: .file(file), sync: sync)
    let open = CPUTime.now() - start
    let stream = store.observeQuery(
      for: BenchReading.self, where: hasPredicate ? keys.number >= 0 : nil, sort: .ascending(keys.number),
      paginate: limit.map { .page(0, limit: UInt($0)) })
    var snapshots = stream.makeAsyncIterator()
    let snapshot = try await snapshots.next()
    let whole = CPUTime.now() - start
    let count = min(limit ?? rows, rows)
    guard let snapshot, snapshot.items.count == count, snapshot.isSynced == (sync == nil),
      snapshot.items.enumerated().allSatisfy({ $0.offset == $0.element.number })
    else { throw Failure(description: "the first snapshot does not have the rows") }
    stream.cancel()
    try await store.stop()
    return (Double(open.processor) / 1_000, Double(whole.processor) / 1_000)
  }

  /// The same rows by a loop over SQLite's C interface, which opens the file and copies each text.
  private static func peer(_ file: String, _ rows: Int) throws -> Double {
    var connection: OpaquePointer?
    var statement: OpaquePointer?
    let sql = """
      SELECT "id", "topic", "number", "text" FROM "record_BenchReading" WHERE "number" >= 0 ORDER BY "number", "id"
      """
    defer {
      unsafe sqlite3_finalize(statement)
      unsafe sqlite3_close_v2(connection)
    }
    let start = CPUTime.now()
    guard unsafe sqlite3_open_v2(file, &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK,
      unsafe sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK
    else { throw Failure(description: "\(file): \(unsafe String(cString: sqlite3_errmsg(connection)))") }
    var texts: [UnsafeMutableRawPointer?] = unsafe []
    unsafe texts.reserveCapacity(3 * rows)
    var sum = 0
    while unsafe sqlite3_step(statement) == SQLITE_ROW {
      sum += Int(unsafe sqlite3_column_int64(statement, 2))
      for column in [0, 1, 3] as [Int32] {
        let bytes = unsafe sqlite3_column_text(statement, column)
        let count = Int(unsafe sqlite3_column_bytes(statement, column)) + 1
        let copy = unsafe malloc(count)
        if let bytes = unsafe bytes, let copy = unsafe copy { unsafe memcpy(copy, bytes, count) }
        unsafe texts.append(copy)
      }
    }
    let cost = CPUTime.now() - start
    for index in 0..<(unsafe texts.count) { unsafe free(texts[index]) }
    guard sum == rows * (rows - 1) / 2 else { throw Failure(description: "the peer has read other rows") }
    return Double(cost.processor) / 1_000
  }
}
