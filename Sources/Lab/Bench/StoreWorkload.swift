import Foundation
import MartletChangeFeed
import MartletJSON
import MartletJSONTree
import MartletModelSDL
import MartletModels
import MartletRuntime
import MartletStore
import MartletVocabulary
import Synchronization

/// Durable creations of one record each, by the store alone.
enum StoreWorkload {
  /// The model all benchmarks write: five fields and an index, about 200 bytes in an event.
  static let schema = """
    type Reading @model {
      id: ID!
      topic: String! @index
      number: Int!
      text: String!
      sent: String!
    }
    """

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Commits in groups of exactly `group` writes, on the calling thread.
  static func runGroups(folder: String, group: Int, writes: Int) throws {
    let executor = ManualExecutor()
    let (store, model) = try open(folder, writer: executor)
    let failures = Atomic<Int>(0)
    let done = Atomic<Int>(0)
    var random = SeededRandom(seed: 1)
    // A first group, so that statements are compiled and the file is there.
    var next = 0
    func commitGroup(_ count: Int) {
      for _ in 0..<count {
        store.commit(WriteRequest(.create(model: model, record: record(next, &random)))) { result in
          switch result {
          case .success: done.wrappingAdd(1, ordering: .relaxed)
          case .failure: failures.wrappingAdd(1, ordering: .relaxed)
          }
        }
        next += 1
      }
      executor.runAll()
    }
    commitGroup(1)
    let start = CPUTime.now()
    while next <= writes { commitGroup(min(group, writes + 1 - next)) }
    let cost = CPUTime.now() - start
    store.close()
    guard done.load(ordering: .relaxed) == next, failures.load(ordering: .relaxed) == 0 else {
      throw Failure(description: "\(failures.load(ordering: .relaxed)) of \(next) writes failed")
    }
    report("groups", "group", group, writes, cost)
  }

  /// Keeps `inFlight` writes waiting on the store's own thread: each completion asks for the next.
  ///
  /// - Parameter isTree: whether they are new nodes of the tree with the fields of a record, in place of records.
  static func runThreaded(folder: String, inFlight: Int, writes: Int, isTree: Bool) async throws {
    let (store, number) = try open(folder, writer: StoreThread())
    let model = isTree ? nil : number
    let start = CPUTime.now()
    let failures: Int = await withCheckedContinuation { continuation in
      let run = Closed(store: store, model: model, writes: writes, continuation: continuation)
      for _ in 0..<min(inFlight, writes) { run.next() }
    }
    let cost = CPUTime.now() - start
    store.close()
    guard failures == 0 else { throw Failure(description: "\(failures) writes failed") }
    report(isTree ? "tree" : "threaded", "in_flight", inFlight, writes, cost)
  }

  private static func open(_ folder: String, writer: any StoreExecutor) throws -> (Store, Int) {
    let schema = try ModelSchema(schema)
    let clock = StoreClock(
      now: { MonotonicClock.now() }, milliseconds: { Int64(Date().timeIntervalSince1970 * 1000) })
    var random = SystemChance.generator()
    let options = StoreOptions(term: random.next() >> 16, clock: clock, writer: writer, readers: [])
    let store = try Store(.folder(folder), schema: schema, options: options)
    guard let model = schema.models.first else { throw Failure(description: "no model") }
    return (store, model.number)
  }

  /// A record with a random key, its other fields of the same size each.
  static func record(_ number: Int, _ random: inout SeededRandom) -> Record {
    let text = hexadecimal(random.next())
    let time = "2013-01-07T06:15:00.000Z"
    return Record(values: [
      .string(text + hexadecimal(random.next())), "t42", .int(Int64(number)),
      .string(text + " and some more text for the size of it"), "1700000000000000000", .string(time), .string(time),
    ])
  }

  /// The same fields as a node below a list.
  static func node(_ number: Int, _ random: inout SeededRandom) -> TreeChange {
    let text = hexadecimal(random.next())
    let fields: [(String, TreeScalar)] = [
      ("topic", .string("t42")), ("number", .int(Int64(number))),
      ("text", .string(text + " and some more text for the size of it")), ("sent", .string("1700000000000000000")),
    ]
    let node = fields.reduce(TreeNode.empty) { $0.setting([TreeKey(unchecked: $1.0)], to: TreeNode($1.1)) }
    return TreeChange(path: ["open", "list", TreeKey(unchecked: text + hexadecimal(random.next()))], node: node)
  }

  private static func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func report(_ mode: String, _ sizeName: String, _ size: Int, _ writes: Int, _ cost: CPUTime) {
    var figure = BenchFigure("store")
    figure.add("mode", text: mode)
    figure.add(sizeName, size)
    figure.add("writes", writes)
    figure.add("seconds", Double(cost.elapsed) / 1e9)
    figure.add("cpu_us", Double(cost.processor) / Double(writes) / 1000)
    figure.add("per_second", Double(writes) / (Double(cost.elapsed) / 1e9))
    figure.print()
  }
}

/// Runs what it was given on request, on the caller's thread.
private final class ManualExecutor: StoreExecutor {
  private let queue = Lock<[@Sendable () -> Void]>([])

  func execute(_ work: @escaping @Sendable () -> Void) {
    queue.withLock { $0.append(work) }
  }

  func runAll() {
    while true {
      let work = queue.withLock { queue in
        defer { queue = [] }
        return queue
      }
      if work.isEmpty { return }
      for piece in work { piece() }
    }
  }

  func stop() {
    runAll()
  }
}

/// A closed loop of writes on the store's thread.
private final class Closed: Sendable {
  private struct State {
    var random = SeededRandom(seed: 1)
    var started = 0
    var ended = 0
    var failures = 0
  }

  private let store: Store
  /// Nil for the tree.
  private let model: Int?
  private let writes: Int
  private let continuation: CheckedContinuation<Int, Never>
  private let state = Lock(State())

  init(store: Store, model: Int?, writes: Int, continuation: CheckedContinuation<Int, Never>) {
    self.store = store
    self.model = model
    self.writes = writes
    self.continuation = continuation
  }

  func next() {
    let operation: WriteOperation? = state.withLock { [model] state in
      guard state.started < writes else { return nil }
      state.started += 1
      if let model {
        return .create(model: model, record: StoreWorkload.record(state.started, &state.random))
      }
      let change = StoreWorkload.node(state.started, &state.random)
      return .transaction { try $0.put(change) }
    }
    guard let operation else { return }
    store.commit(WriteRequest(operation)) { [self] result in
      let failures: Int? = state.withLock { state in
        state.ended += 1
        if case .failure = result { state.failures += 1 }
        return state.ended == writes ? state.failures : nil
      }
      if let failures { continuation.resume(returning: failures) } else { next() }
    }
  }
}
