import Foundation
import Martlet
import MartletDatasync
import MartletGraphQLClient
import MartletJSON
import MartletRuntime
import MartletServer
import MartletSimulation
import MartletVocabulary

/// Clients of the tree, a server and its faults under one seed. The nodes:
///
/// - `/clock` is set to greater and greater numbers by one client.
/// - `/counts/NAME` is incremented by every client, `/pushes/NAME` gets numbers in a row from the client of that name.
/// - `/items` has children that every client sets, merges, removes and overwrites as a whole.
final class TreeScenario: @unchecked Sendable {
  static let rules = """
    {"rules": {
      ".read": true,
      "clock": {".write": true}, "counts": {".write": true}, "pushes": {".write": true},
      "items": {".write": true, "$key": {".validate": "newData.child('n').val() !== 13"}}
    }}
    """

  let executor: SimulatedExecutor
  let network: SimulatedNetwork
  let server: SimulatedServer
  let folder: String
  private(set) var followers: [TreeFollower] = []
  private(set) var writes: [DatasyncWrite] = []
  /// Increments that were made, by counter.
  private(set) var increments: [String: Int] = [:]
  /// Numbers pushed by each client.
  private(set) var pushed: [String: Int] = [:]
  private(set) var rejected = 0
  private var choices: SeededRandom
  private var starts: UInt64 = 0

  init(seed: UInt64, folder: String, _ adjust: @escaping (inout ServerLimits.Tree) -> Void = { _ in }) {
    self.folder = folder
    executor = SimulatedExecutor(seed: seed)
    network = SimulatedNetwork(executor)
    network.conditions.chunkBytes = 96
    network.conditions.windowBytes = 1_024
    // Every value with more than a few leaves comes in parts.
    server = SimulatedServer(executor, network, schema: Scenario.schema) { configuration in
      configuration.treeRules = Self.rules
      configuration.limits.tree.partBytes = 40
      configuration.limits.tree.readsAtOnce = 2
      configuration.limits.tree.pendingBytes = 512
      adjust(&configuration.limits.tree)
    }
    choices = SeededRandom(seed: seed &* 131 &+ 17)
  }

  func chance(_ bound: Int) -> Int { Int(choices.next() % UInt64(max(1, bound))) }

  /// One start of the client `name`, with the file that its earlier starts have left.
  func client(_ name: String, keeps: Bool = false) -> MartletApplication {
    starts += 1
    var configuration = DatasyncConfiguration(url: "ws://localhost:8080")
    configuration.connection.reconnect.firstDelay = .milliseconds(50)
    configuration.connection.reconnect.longestDelay = .seconds(1)
    configuration.connection.reconnect.attempts = nil
    configuration.connection.openTimeout = .seconds(2)
    if keeps { configuration.cacheMode = .automatic(file: folder + "/" + name) }
    let loop = executor.makeLoop("\(name) \(starts)")
    let environment = ClientEnvironment(
      loop: loop, sockets: WebSockets(network, chance: Chance(seed: starts)), http: nil, requests: .socket,
      spawner: executor.spawner, seed: starts)
    return MartletApplication(configuration: configuration, environment: environment)
  }

  func node(_ application: MartletApplication, _ path: String) throws -> DatasyncNode {
    try application.datasyncService.createManager().nodeThrows(for: path)
  }

  /// Starts a follower and the task that consumes for it.
  @discardableResult
  func follow(
    _ name: String, _ application: MartletApplication, _ path: String, _ type: DatasyncEventType,
    _ window: DatasyncWindow = .all
  ) throws -> TreeFollower {
    let follower = TreeFollower(name, path, type, window, try node(application, path))
    followers.append(follower)
    let events = try follower.node.events(type, window: window)
    executor.spawner.spawn { [executor] in
      do {
        for try await event in events {
          follower.take(event)
          executor.record("\(name) \(follower.lines.last ?? "")")
        }
        follower.ended = "cancelled"
      } catch {
        follower.ended = "\(error)"
        executor.record("\(name) ended: \(error)")
      }
    }
    return follower
  }

  // MARK: Writes

  func increment(_ application: MartletApplication, _ counter: String) throws {
    increments[counter, default: 0] += 1
    writes.append(try node(application, "/counts/\(counter)").set(DatasyncServerValue.increment(1)))
  }

  func push(_ application: MartletApplication, _ name: String) throws {
    pushed[name, default: 0] += 1
    writes.append(try node(application, "/pushes/\(name)").push(pushed[name] ?? 0).write)
  }

  func tick(_ application: MartletApplication, _ number: Int) throws {
    writes.append(try node(application, "/clock").set(number))
  }

  /// Some write below `/items`; every one with 13 is refused.
  func change(_ application: MartletApplication) throws {
    let item = "k\(chance(8))"
    switch chance(8) {
    case 0: writes.append(try node(application, "/items/\(item)").clear())
    case 1: writes.append(try node(application, "/items").merge(["\(item)/n": chance(20), "k9/n": chance(20)]))
    case 2: writes.append(try node(application, "/items/\(item)/n").set(chance(20)))
    case 3 where chance(4) == 0:
      writes.append(try node(application, "/items").set(["k1": ["n": 1], "k5": ["n": 5]]))
    case 4: writes.append(try node(application, "/items/\(item)").set(["n": JSONValue.int(13)]))
    default:
      let value: JSONValue = ["n": .int(Int64(chance(12))), "text": .string("of \(chance(1_000))")]
      writes.append(try node(application, "/items/\(item)").set(value))
    }
  }

  // MARK: The end

  /// Ends the faults and lets everything arrive. False when it does not within two minutes.
  func settle(_ reader: MartletApplication) async throws -> Bool {
    network.conditions.cutsPerMillion = 0
    network.conditions.isPartitioned = false
    network.conditions.delay = .microseconds(50) ... .milliseconds(2)
    if !server.isRunning { try server.start() }
    for _ in 0..<1_200 {
      await executor.sleep(.milliseconds(100))
      guard !writes.contains(where: { $0.state == .pending }) else { continue }
      var isSettled = true
      for follower in followers where follower.ended == nil {
        let wanted = try await node(reader, follower.path).value(window: follower.window).value.json
        if follower.value != wanted || !follower.isAcknowledged { isSettled = false }
      }
      if isSettled { return true }
    }
    return false
  }

  /// What does not hold at the end.
  func faults(_ reader: MartletApplication) async throws -> [String] {
    var faults = followers.flatMap(\.faults)
    for (counter, count) in increments.sorted(by: { $0.key < $1.key }) {
      let value = try await node(reader, "/counts/\(counter)").value().value.asInt ?? 0
      if value != count { faults.append("exactly once: \(counter) is \(value) after \(count) increments") }
    }
    for (name, count) in pushed.sorted(by: { $0.key < $1.key }) {
      let numbers = server.treeLog.filter { $0.path.hasPrefix("/pushes/\(name)/") }.compactMap(\.value.int)
      if numbers != Array(1...Int64(count)) { faults.append("order: \(name) pushed \(numbers), of \(count)") }
    }
    for write in writes {
      guard case .rejected(let error) = write.state, error.code != .shutDown else { continue }
      rejected += 1
      if error.code != .denied { faults.append("a write was refused: \(error)") }
    }
    for follower in followers where follower.ended == nil {
      let wanted = try await node(reader, follower.path).value(window: follower.window).value.json
      if follower.value != wanted { faults.append("\(follower.name) has \(follower.value), the server \(wanted)") }
      let known = try await follower.node.cachedValue(window: follower.window).value.json
      if known != wanted { faults.append("\(follower.name) knows \(known), the server \(wanted)") }
    }
    return faults
  }
}
