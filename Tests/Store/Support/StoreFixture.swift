import MartletChangeFeed
import MartletJSON
import MartletModels
import MartletRuntime
import MartletSQLite
import MartletStore
import MartletVocabulary
import Testing

/// Runs work when the test says so, on the test's thread: deterministic.
final class ManualExecutor: StoreExecutor {
  private let queue = Lock<[@Sendable () -> Void]>([])
  func execute(_ work: @escaping @Sendable () -> Void) {
    queue.withLock { $0.append(work) }
  }

  /// Pieces of work that wait.
  var count: Int { queue.withLock { $0.count } }

  /// Runs everything, also what comes meanwhile.
  func run() {
    while true {
      let work = queue.withLock { queue -> [@Sendable () -> Void] in
        defer { queue = [] }
        return queue
      }
      if work.isEmpty { return }
      for piece in work { piece() }
    }
  }

  /// Runs what was given so far, not what comes meanwhile.
  func runOnce() {
    let work = queue.withLock { queue -> [@Sendable () -> Void] in
      defer { queue = [] }
      return queue
    }
    for piece in work { piece() }
  }

  func stop() { run() }
}

/// Keeps what a store delivers.
final class Recorder: StoreDestination {
  struct Kept {
    var batches: [ChangeBatch] = []
    var deliveries = 0
  }
  let kept = Lock(Kept())

  func deliver(_ delivery: StoreDelivery) {
    kept.withLock { kept in
      kept.deliveries += 1
      if let batch = delivery.batch { kept.batches.append(batch) }
    }
    delivery.finish()
  }

  var batches: [ChangeBatch] { kept.withLock { $0.batches } }
  var changes: [Change] { batches.flatMap(\.changes) }
  var deliveries: Int { kept.withLock { $0.deliveries } }
}

/// A clock the test moves.
final class ManualClock: Sendable {
  private let milliseconds: Lock<Int64>
  init(_ start: Int64 = 1_000_000) { milliseconds = Lock(start) }
  func advance(_ amount: Int64) { milliseconds.withLock { $0 += amount } }
  var now: Int64 { milliseconds.withLock { $0 } }

  var clock: StoreClock {
    StoreClock(
      now: { [self] in Instant(nanoseconds: now * 1_000_000) }, milliseconds: { [self] in now })
  }
}

/// The models tests use: flight 0 (key id), leg 1 (key flight and number, goes with its flight), mixed 2 (every
/// storage).
enum Models {
  static let flight = 0
  static let leg = 1
  static let mixed = 2

  static func column(
    _ name: String, _ storage: ColumnStorage = .text, required: Bool = false, default value: JSONValue = .null
  ) -> RecordColumn {
    RecordColumn(
      name: name, field: name, storage: storage, signature: storage.rawValue, isRequired: required, defaultValue: value)
  }

  static var flights: RecordShape {
    RecordShape(
      model: flight, name: "Flight", tableName: "Flight",
      columns: [
        column("id", required: true), column("origin", required: true), column("delay", .integer), column("gate"),
        column("code"),
      ], key: [0],
      indexes: [
        RecordIndex(name: "byOrigin", fields: [1, 2], isUnique: false),
        RecordIndex(name: "byCode", fields: [4], isUnique: true),
      ], cascades: [RecordShape.Cascade(child: leg, reference: [0])])
  }

  static var legs: RecordShape {
    RecordShape(
      model: leg, name: "Leg", tableName: "Leg",
      columns: [column("flight", required: true), column("number", .integer, required: true), column("place")],
      key: [0, 1], indexes: [], cascades: [])
  }

  static var mixedShape: RecordShape {
    RecordShape(
      model: mixed, name: "Mixed", tableName: "Mixed",
      columns: [
        column("id", required: true), column("text"), column("whole", .integer), column("real", .real),
        column("flag", .boolean), column("list", .json),
      ], key: [0],
      indexes: [
        RecordIndex(name: "byText", fields: [1], isUnique: false),
        RecordIndex(name: "byWhole", fields: [2], isUnique: false),
        RecordIndex(name: "byReal", fields: [3], isUnique: false),
      ], cascades: [])
  }

  static var all: [RecordShape] { [flights, legs, mixedShape] }

  static func flight(_ id: String, _ origin: String = "JFK", delay: Int64? = nil, code: String? = nil) -> Record {
    Record(values: [
      .string(id), .string(origin), delay.map { .int($0) } ?? .null, .null, code.map { .string($0) } ?? .null,
    ])
  }

  static func key(_ values: JSONValue...) -> RecordKey { RecordKey(values: values) }
}

/// A store in memory whose executors the test runs.
final class StoreFixture {
  /// The last offset that opening a new store takes: its term and its schema are entries 1 and 2.
  static let opening: Int64 = 2

  let files: MemoryFiles
  let clock: ManualClock
  let writer = ManualExecutor()
  let reader = ManualExecutor()
  let store: Store
  let recorder = Recorder()
  let failures = Failures()

  final class Failures: Sendable {
    let list = Lock<[StoreError]>([])
  }

  init(
    files: MemoryFiles = MemoryFiles(), clock: ManualClock = ManualClock(), shapes: [RecordShape] = Models.all,
    term: UInt64 = 1, dropping: Bool = false, limits: StoreLimits = StoreLimits(),
    ledger: (any Ledger & Sendable)? = nil, _ adjust: (inout StoreOptions) -> Void = { _ in }
  ) throws {
    self.files = files
    self.clock = clock
    var options = StoreOptions(term: term, clock: clock.clock, writer: writer, readers: [reader])
    options.limits = limits
    options.allowsDropping = dropping
    if let ledger { options.ledger = { ledger } }
    adjust(&options)
    let failures = failures
    options.onFailure = { error in failures.list.withLock { $0.append(error) } }
    store = try Store(.memory(files), shapes: shapes, options: options)
    store.register(recorder)
  }

  /// Commits the writes as one group.
  @discardableResult
  func commit(_ requests: [WriteRequest]) throws -> [Result<Receipt, StoreError>] {
    final class Results: Sendable { let list = Lock<[Result<Receipt, StoreError>]>([]) }
    let results = Results()
    for request in requests {
      store.commit(request, to: recorder) { result in results.list.withLock { $0.append(result) } }
    }
    writer.run()
    let list = results.list.withLock { $0 }
    try #require(list.count == requests.count)
    return list
  }

  @discardableResult
  func commit(_ operation: WriteOperation, _ id: WriteNumber? = nil) throws -> Receipt {
    let results = try commit([WriteRequest(operation, writeNumber: id)])
    return try #require(results.first).get()
  }

  func read<Value: Sendable>(
    _ body: @escaping @Sendable (ReadSnapshot) throws(StoreError) -> Value
  ) throws -> Value {
    let box = Box<Value>()
    store.read([ReadRequest(read: body) { result in box.value.withLock { $0 = result } }], to: DirectDestination())
    reader.run()
    return try #require(box.value.withLock { $0 }).get()
  }

  /// Migrates the open store, between the pieces of what its writer is doing.
  func migrate(to shapes: [RecordShape], schema: String = "") async throws {
    let isDone = Lock(false)
    let (store, writer, reader) = (store, writer, reader)
    let waiting = writer.count
    async let migrated: Void = {
      defer { isDone.withLock { $0 = true } }
      try await store.migrate(to: shapes, schema: schema)
    }()
    // A write in slices would be made whole before the migration is there.
    while writer.count == waiting, !isDone.withLock({ $0 }) { await Task.yield() }
    while !isDone.withLock({ $0 }) {
      writer.run()
      reader.run()
      await Task.yield()
    }
    try await migrated
  }

  /// Copies the store, step by step to the end.
  func backup(to copy: MemoryFiles) throws {
    let box = Box<Void>()
    store.backup(to: .memory(copy)) { result in box.value.withLock { $0 = result } }
    writer.run()
    try #require(box.value.withLock { $0 }).get()
  }

  func get(_ model: Int, _ key: JSONValue...) throws -> StoredRecord? {
    let key = RecordKey(values: key)
    return try read { snapshot throws(StoreError) in try snapshot.get(model, key) }
  }

  /// Rows of one of the store's own tables.
  func rows(_ table: String) throws -> Int64 {
    let rows = try Database(path: StoreFormat.databaseName, on: files).statement("SELECT count(*) FROM \(table)")
    return try rows.step() ? rows.int64(0) : -1
  }

  /// Whether entries of a large write are in the log and have no rows yet.
  var isWaitingForRows: Bool {
    get throws {
      guard try rows("sqlite_schema WHERE name = 'martlet_staging'") == 1 else { return false }
      return try rows("martlet_staging WHERE state = 2") == 1
    }
  }

  func log(after offset: Int64 = 0) throws -> [Change] {
    let range = try read { snapshot throws(StoreError) in try snapshot.log(after: offset) }
    guard case .changes(let changes, _, _, _) = range else {
      Issue.record("the log has a gap")
      return []
    }
    return changes
  }
}

final class Box<Value: Sendable>: Sendable {
  let value = Lock<Result<Value, StoreError>?>(nil)
}

extension Result where Failure == StoreError {
  var errorCode: StoreError.Code? {
    switch self {
    case .success: nil
    case .failure(let error): error.code
    }
  }
}
