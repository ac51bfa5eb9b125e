import Foundation
import Martlet
import MartletChangeFeed
import MartletGraphQLClient
import MartletRuntime
import MartletServer
import MartletSimulation
import MartletVocabulary

/// What one subscription asks for, and the same said naively.
struct Interest: Sendable {
  let name: String
  let document: String
  let matches: @Sendable (SimulatedServer.Logged) -> Bool

  static func creates(_ group: Int64) -> Interest {
    Interest(
      name: "creates \(group)",
      document: "subscription { onCreateItem(filter: { group: { eq: \(group) } }) { id value } }"
    ) { $0.kind == .create && $0.group == group }
  }
  static func updates(above limit: Int64) -> Interest {
    Interest(
      name: "updates > \(limit)",
      document: "subscription { onUpdateItem(filter: { value: { gt: \(limit) } }) { id value } }"
    ) { $0.kind == .update && $0.value > limit }
  }
  static let everyCreate = Interest(
    name: "every create", document: "subscription { onCreateItem { id group value } }"
  ) { $0.kind == .create }
  static let everyDelete = Interest(name: "every delete", document: "subscription { onDeleteItem { id } }") {
    $0.kind == .delete
  }
}

/// What one subscription was handed, as its consumer saw it. Written inside the pump only.
final class Follower: @unchecked Sendable {
  enum Seen: Equatable {
    case event(offset: Int64, id: String)
    case gap(EventGap)
  }
  let name: String
  let interest: Interest
  let stream: SubscriptionStream<ItemResult>
  /// The newest committed offset at the moment `ready()` returned.
  var readyAt: Int64?
  var seen: [Seen] = []
  var ended: String?

  init(_ name: String, _ interest: Interest, _ client: GraphQLClient) {
    self.name = name
    self.interest = interest
    stream = client.subscribe(interest.document)
  }

  var offsets: [Int64] {
    seen.compactMap { if case .event(let offset, id: _) = $0 { offset } else { nil } }
  }
  var gaps: [EventGap] { seen.compactMap { if case .gap(let gap) = $0 { gap } else { nil } } }
}

/// Clients, a server and its faults under one seed.
final class Scenario: @unchecked Sendable {
  static let schema = "type Item @model { id: ID! group: Int! value: Int! }"

  let executor: SimulatedExecutor
  let network: SimulatedNetwork
  let server: SimulatedServer
  private(set) var followers: [Follower] = []
  /// Ids of creates the server acknowledged.
  private(set) var acknowledged: [String] = []
  private var clients: [GraphQLClient] = []
  private var choices: SeededRandom

  init(seed: UInt64, _ configure: @escaping (inout ServerConfiguration) -> Void = { _ in }) {
    executor = SimulatedExecutor(seed: seed)
    network = SimulatedNetwork(executor)
    network.conditions.chunkBytes = 48
    server = SimulatedServer(executor, network, schema: Self.schema, configure)
    choices = SeededRandom(seed: seed &* 31 &+ 7)
  }

  func chance(_ bound: Int) -> Int { Int(choices.next() % UInt64(max(1, bound))) }

  /// A client whose pauses suit a story of seconds, and that never gives up.
  func client(_ name: String) throws -> GraphQLClient {
    let number = UInt64(clients.count + 1)
    let loop = executor.makeLoop(name)
    var configuration = ConnectionConfiguration()
    configuration.reconnect.firstDelay = .milliseconds(50)
    configuration.reconnect.longestDelay = .seconds(1)
    configuration.reconnect.attempts = nil
    configuration.openTimeout = .seconds(2)
    let environment = ClientEnvironment(
      loop: loop, sockets: WebSockets(network, chance: Chance(seed: number)), http: nil, requests: .socket,
      spawner: executor.spawner, seed: number)
    guard let url = URL(string: SimulatedServer.url) else { throw CancellationError() }
    let client = try GraphQLClient(url: url, configuration: configuration, environment: environment)
    clients.append(client)
    return client
  }

  /// Starts a follower and the task that consumes for it.
  @discardableResult
  func follow(_ interest: Interest, _ client: GraphQLClient, slow: Bool = false) -> Follower {
    let follower = Follower("\(followers.count + 1) (\(interest.name))", interest, client)
    followers.append(follower)
    executor.spawner.spawn { [self] in
      do {
        try await follower.stream.ready()
        follower.readyAt = server.log.last?.offset ?? 0
        executor.record("\(follower.name) ready at \(follower.readyAt ?? -1)")
        for try await result in follower.stream {
          note(result, follower)
          if slow { await executor.sleep(.milliseconds(20)) }
        }
        follower.ended = "completed"
      } catch {
        follower.ended = "\(error)"
      }
      executor.record("\(follower.name) ended: \(follower.ended ?? "")")
    }
    return follower
  }

  private func note(_ result: ItemResult, _ follower: Follower) {
    if let gap = result.gap {
      follower.seen.append(.gap(gap))
      executor.record("\(follower.name) gap \(gap.reason.rawValue) \(gap.from?.offset ?? -1)-\(gap.to?.offset ?? -1)")
      return
    }
    let id = result.data?.object?.first { _ in true }?.value["id"]?.string ?? "?"
    follower.seen.append(.event(offset: result.cursor?.offset ?? -1, id: id))
    executor.record("\(follower.name) event \(result.cursor?.offset ?? -1) \(id)")
  }

  /// One create; nil when its fate is unknown.
  func create(_ client: GraphQLClient, _ id: String, group: Int, value: Int) async -> Bool {
    let made = await mutate(
      client, "mutation { createItem(input: { id: \"\(id)\", group: \(group), value: \(value) }) { id } }")
    if made { acknowledged.append(id) }
    return made
  }

  func mutate(_ client: GraphQLClient, _ document: String) async -> Bool {
    do {
      let result = try await client.mutate(document)
      executor.record("wrote: \(document.utf8.count) bytes, errors \(result.errors.count)")
      return result.errors.isEmpty
    } catch {
      executor.record("write failed: \(error)")
      return false
    }
  }

  /// Whether each follower has seen everything committed so far that concerns it.
  var isSettled: Bool {
    followers.allSatisfy { follower in
      guard let ready = follower.readyAt else { return false }
      guard let last = server.log.last(where: { follower.interest.matches($0) })?.offset, last > ready else {
        return true
      }
      if let newest = follower.offsets.last, newest >= last { return true }
      return follower.gaps.contains { ($0.to?.offset ?? 0) >= last }
    }
  }

  /// Ends the faults and lets everything arrive. False when it does not within a minute.
  func settle() async throws -> Bool {
    network.conditions.cutsPerMillion = 0
    network.conditions.isPartitioned = false
    network.conditions.refuses = false
    if !server.isRunning { try server.start() }
    for _ in 0..<600 where !isSettled { await executor.sleep(.milliseconds(100)) }
    return isSettled
  }
}
