import MartletChangeFeed
import MartletJSON
import MartletJSONTree
import MartletModelSDL
import MartletModels
import MartletRuntime
import MartletSQLite
import MartletServer
import MartletSimulation
import MartletStore
import MartletVocabulary

/// The real server in a simulation: imaginary wire, disk in memory, every job on the one seeded executor.
///
/// `@unchecked Sendable` holds because it is touched only inside the executor's pump, or before it runs.
final class SimulatedServer: @unchecked Sendable {
  static let port = 8_080
  static let url = "ws://localhost:8080/graphql"

  /// One change as it was committed, reported by the store itself.
  struct Logged: Sendable {
    var offset: Int64
    var kind: ChangeKind
    var id: String
    var group: Int64
    var value: Int64
  }

  /// One write of the tree as it was committed.
  struct LoggedLeaf: Sendable {
    var offset: Int64
    var path: String
    var value: JSONValue
  }

  private struct Running {
    let node: ServerNode
    let hubs: [LoopBound<LoopServer>]
    let listener: SimulatedListener
    let lanes: [LaneExecutor]
    let log: CommitLog
  }

  let executor: SimulatedExecutor
  let network: SimulatedNetwork
  private let loops: [SimulatedLoop]
  private let storeLoops: [SimulatedLoop]
  private let schema: String
  private let configure: (inout ServerConfiguration) -> Void
  private(set) var files = MemoryFiles()
  private var running: Running?
  private var starts: UInt64 = 0
  /// What was committed, in order, over all runs of the server.
  private(set) var log: [Logged] = []
  /// What was committed to the tree, in order, over all runs of the server.
  private(set) var treeLog: [LoggedLeaf] = []
  /// Terms of the runs so far.
  private(set) var terms: [UInt64] = []

  init(
    _ executor: SimulatedExecutor, _ network: SimulatedNetwork, schema: String, loops count: Int = 2,
    _ configure: @escaping (inout ServerConfiguration) -> Void = { _ in }
  ) {
    self.executor = executor
    self.network = network
    self.schema = schema
    self.configure = configure
    loops = (1...count).map { executor.makeLoop("server \($0)") }
    storeLoops = ["writer", "reader", "list reader"].map { executor.makeLoop($0) }
  }

  var isRunning: Bool { running != nil }
  var head: Int64 { running?.node.store.position.head ?? 0 }
  var firstRetained: Int64 { running?.node.store.position.firstRetained ?? 0 }

  /// Opens the disk and listens.
  func start() throws {
    starts += 1
    let executor = self.executor
    let milliseconds: @Sendable () -> Int64 = { 1_600_000_000_000 + executor.now.nanoseconds / 1_000_000 }
    let lanes = storeLoops.map { LaneExecutor($0) }
    let term = 0x1000 + starts
    terms.append(term)
    var options = StoreOptions(
      term: term, clock: StoreClock(now: { executor.now }, milliseconds: milliseconds), writer: lanes[0],
      readers: [lanes[1]])
    options.listReaders = [lanes[2]]
    var configuration = ServerConfiguration(schema: schema)
    configuration.access = .development
    configuration.log = .silent
    configure(&configuration)
    var surroundings = ServerAssembly.Surroundings(
      place: .memory(files), storeOptions: options, spawner: executor.spawner,
      calendar: Calendar(milliseconds: milliseconds, generator: SeededRandom(seed: starts)))
    surroundings.userCode = .inherited
    let node = try ServerAssembly.node(configuration, on: surroundings)
    let fields = node.models.models.first?.fields.map(\.name) ?? []
    let log = CommitLog { [weak self] change in
      if let tree = change.tree {
        let leaf = LoggedLeaf(offset: change.offset, path: tree.path.description, value: tree.node.json())
        self?.treeLog.append(leaf)
      }
      guard let record = change.record else { return }
      let values = record.image.values
      func number(_ name: String) -> Int64 {
        guard let index = fields.firstIndex(of: name), case .int(let value) = values[index] else { return -1 }
        return value
      }
      self?.log.append(
        Logged(
          offset: change.offset, kind: record.kind, id: record.key.values.first?.string ?? "",
          group: number("group"), value: number("value")))
    }
    node.store.register(log)
    let metrics = MetricsCollector(node.store)
    let hubs = loops.map { LoopBound(LoopServer(node, on: $0, metrics: metrics), on: $0) }
    for hub in hubs { hub.loop.execute { hub.value.start() } }
    let listener = network.listen(port: Self.port, on: loops) { channel in
      guard let hub = hubs.first(where: { $0.loop === channel.loop }) else { return nil }
      return HTTPConnection(hub.value.transport, channel)
    }
    for hub in hubs.prefix(1) { hub.loop.execute { hub.value.maintainPeriodically() } }
    running = Running(node: node, hubs: hubs, listener: listener, lanes: lanes, log: log)
    executor.record("server starts, term \(term), head \(node.store.position.head)")
  }

  /// The process dies: what was written stays, what was queued is gone, peers see a reset.
  func kill() {
    guard let running else { return }
    self.running = nil
    executor.record("server killed at \(running.node.store.position.head)")
    running.listener.stop()
    for lane in running.lanes { lane.die() }
    running.log.stop()
    network.cutAll()
    for hub in running.hubs {
      hub.loop.execute {
        hub.value.stop(); hub.value.transport.isDraining = true
      }
    }
    files = MemoryFiles(files.contents)
  }

  /// Ends in order: clients are asked to reconnect.
  func stop() async {
    guard let running else { return }
    self.running = nil
    executor.record("server stops at \(running.node.store.position.head)")
    running.listener.stop()
    for hub in running.hubs {
      await withCheckedContinuation { continuation in
        hub.loop.execute { hub.value.drain { continuation.resume() } }
      }
    }
    running.node.store.close()
    files = MemoryFiles(files.contents)
  }

  /// A copy of the disk, as a backup would be.
  var backup: [String: [UInt8]] { files.contents }

  /// Kills the server and puts an older disk in its place.
  func restore(_ backup: [String: [UInt8]], upTo offset: Int64) {
    kill()
    files = MemoryFiles(backup)
    log.removeAll { $0.offset > offset }
  }
}

/// One of the store's executors as a lane of the simulation, which can die with what is queued.
///
/// `@unchecked Sendable` holds because only the pump's thread uses it.
private final class LaneExecutor: StoreExecutor, @unchecked Sendable {
  private let loop: SimulatedLoop
  private var queue: [@Sendable () -> Void] = []
  private var isDead = false

  init(_ loop: SimulatedLoop) {
    self.loop = loop
  }

  func execute(_ work: @escaping @Sendable () -> Void) {
    guard !isDead else { return }
    queue.append(work)
    loop.execute { [self] in runOne() }
  }

  private func runOne() {
    if !queue.isEmpty { queue.removeFirst()() }
  }

  func stop() {
    while !queue.isEmpty { runOne() }
    isDead = true
  }

  func die() {
    isDead = true
    queue = []
  }
}

/// Called with every commit on the writer, before any other observer.
private final class CommitLog: StoreDestination, @unchecked Sendable {
  private var hear: ((Change) -> Void)?

  init(_ hear: @escaping (Change) -> Void) {
    self.hear = hear
  }

  func deliver(_ delivery: StoreDelivery) {
    for change in delivery.batch?.changes ?? [] { hear?(change) }
    delivery.finish()
  }

  func stop() { hear = nil }
}
