internal import MartletDataStore
internal import MartletModels
internal import MartletRuntime
internal import MartletServer
internal import MartletSimulation
internal import MartletVocabulary

/// One server, its clients, the network between them and everything that goes wrong, under one seed.
///
/// Real are the clients' `DataStore` with its engine, its live queries and its SQLite store; the server's `Store` and
/// the code behind the fields of a sync. Imaginary are clocks, disks, network, and the sockets' part of a subscription.
///
/// `@unchecked Sendable` holds because it is touched only inside the executor's pump, or before and after it runs.
final class World: @unchecked Sendable {
  let seed: UInt64
  let executor: SimulatedExecutor
  let network: WorldNetwork
  private(set) lazy var server = WorldServer(self, firstSchema)
  private(set) var clients: [WorldClient] = []
  let checks: Checks
  /// What was counted, by name.
  private(set) var counts: [String: Int] = [:]
  var diskChance: SeededRandom
  /// The service that gives tokens is away until then.
  var staleTokensUntil = Instant.zero
  /// The faults have ended: applications write nothing more, and everything is to come to rest.
  private(set) var isSettling = false
  /// The story is over: applications do nothing more.
  private(set) var isOver = false
  /// Tasks of applications that run.
  private(set) var tasks = 0
  private let schemas: SchemaCache
  private let firstSchema: WorldSchema

  init(seed: UInt64, clients count: Int, _ schema: WorldSchema, _ schemas: SchemaCache) {
    self.seed = seed
    self.schemas = schemas
    firstSchema = schema
    executor = SimulatedExecutor(seed: seed)
    network = WorldNetwork(executor, seed: seed &* 3 &+ 1)
    diskChance = SeededRandom(seed: seed &* 5 &+ 2)
    checks = Checks()
    checks.world = self
    clients = (0..<count).map { WorldClient(self, $0) }
  }

  func record(_ text: String) { executor.record(text) }

  func count(_ name: String) {
    counts[name, default: 0] += 1
    record(name)
  }

  /// Runs a task of an application, which ends with the story.
  func spawn(_ body: @escaping @Sendable () async -> Void) {
    tasks += 1
    executor.spawner.spawn { [self] in
      await body()
      tasks -= 1
    }
  }

  func served(_ schema: WorldSchema, keeping previous: [ModelDefinition] = []) throws -> ServedSchema {
    try schemas.schema(schema, keeping: previous)
  }

  // MARK: The end

  /// Ends the faults and lets everything come to rest. False when it does not within ten minutes.
  func settle() async throws -> Bool {
    isSettling = true
    network.conditions = WorldNetwork.Conditions()
    server.overloadedUntil = .zero
    staleTokensUntil = .zero
    server.disarm()
    for client in clients { client.disarm() }
    if !server.isRunning { try server.start() }
    for client in clients {
      client.isPartitioned = false
      client.isDeaf = false
      if client.process == nil { client.start() }
      await client.reconnect()
    }
    for _ in 0..<1_200 {
      if isQuiet { return true }
      await executor.sleep(.milliseconds(500))
      // Applications start a sync again that has ended.
      for client in clients where client.isTerminated { await client.reconnect() }
    }
    return isQuiet
  }

  /// Where everything stands, for a story that does not come to rest.
  var standing: String {
    clients.map { client in
      guard let process = client.process, let store = process.store else { return "\(client.name) does not run" }
      let status = store.syncStatus
      return
        "\(client.name): settled \(status.isSettled), connected \(status.isConnected), synced \(status.isSynced), "
        + "\(status.pendingCount) pending, quiet \(process.transport.isQuiet), "
        + "last error \(status.lastError.map { "\($0)" } ?? "none")"
    }.joined(separator: "; ")
  }

  private var isQuiet: Bool { clients.allSatisfy(\.isQuiet) }

  /// Ends all processes, so that no call waits any longer.
  func end() async {
    isOver = true
    for client in clients { client.end() }
    for _ in 0..<100 where tasks > 0 { await executor.sleep(.milliseconds(100)) }
    if tasks > 0 { checks.fail(.failure, "\(tasks) tasks do not end") }
    server.stop()
  }
}

/// Schemas that were read, for all stories of a process: reading one takes longer than a story.
///
/// `@unchecked Sendable` holds because what it keeps is behind a lock.
package final class SchemaCache: @unchecked Sendable {
  private struct Name: Hashable {
    var schema: WorldSchema
    /// The fields of the schema before, whose positions are kept.
    var before: [[String]]
  }

  private let known = Lock<[Name: ServedSchema]>([:])

  package init() {}

  func schema(_ schema: WorldSchema, keeping previous: [ModelDefinition]) throws -> ServedSchema {
    let name = Name(schema: schema, before: previous.map { $0.fields.map(\.name) })
    if let found = known.withLock({ $0[name] }) { return found }
    let read = try SyncService.schema(schema.text, keeping: previous)
    known.withLock { $0[name] = read }
    return read
  }
}
