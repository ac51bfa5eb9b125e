internal import MartletGraphQLClient
internal import MartletJSON
internal import MartletSimulation
internal import MartletVocabulary

/// The way of one client process to the server, over the imaginary network.
///
/// `@unchecked Sendable` holds because it is touched only inside the executor's pump.
final class WorldTransport: NetworkTransport, @unchecked Sendable {
  private unowned let world: World
  unowned let client: WorldClient
  /// The process has ended: nothing is sent, and nothing arrives.
  private(set) var isDead = false
  private(set) var token = 0
  private var links: [WorldLink] = []
  private var waiting: [Int: CheckedContinuation<OperationPayload, any Error>] = [:]
  private var lastRequest = 0

  init(_ world: World, _ client: WorldClient) {
    self.world = world
    self.client = client
    token = world.server.oldestToken
  }

  private static let lost = GraphQLClientError(.connectionLost, "the connection was lost")
  private static let unknown = GraphQLClientError(.outcomeUnknown, "no answer came")

  /// Whether the feed is complete and nothing is on its way.
  var isQuiet: Bool { waiting.isEmpty && links.last?.isCurrent == true }

  /// Asks the service that gives tokens for a fresh one; while it is away the old one stays.
  func renewToken() {
    if world.executor.now < world.staleTokensUntil { return world.count("stale token") }
    token = world.server.oldestToken
  }

  func die() {
    isDead = true
    for link in links { link.end() }
    links = []
    let all = waiting.sorted { $0.key < $1.key }.map(\.value)
    waiting = [:]
    for continuation in all { continuation.resume(throwing: Self.lost) }
  }

  /// Connections break.
  func cut() {
    for link in links { link.lost("the connection was cut") }
    for number in waiting.keys.sorted() { finish(number, .failure(Self.lost)) }
  }

  // MARK: Requests

  func send(_ request: OperationRequest) async throws -> OperationPayload {
    if isDead { throw Self.lost }
    return try await withCheckedThrowingContinuation { continuation in
      lastRequest += 1
      waiting[lastRequest] = continuation
      begin(lastRequest, request)
    }
  }

  private func begin(_ number: Int, _ request: OperationRequest) {
    let isWrite = request.kind == .mutation
    guard !client.isPartitioned, world.server.isRunning else {
      return world.network.after(client) { [weak self] in self?.finish(number, .failure(Self.lost)) }
    }
    world.network.wait(.seconds(5)) { [weak self] in
      self?.finish(number, .failure(isWrite ? Self.unknown : Self.lost))
    }
    let conditions = world.network.conditions
    if world.network.happens(conditions.requestLoss) { return world.count("request lost") }
    let copies = world.network.happens(conditions.duplication) ? 2 : 1
    if copies == 2 { world.count("request doubled") }
    let token = token
    for _ in 0..<copies {
      world.network.after(client) { [weak self] in
        guard let self, !client.isPartitioned else { return }
        world.server.handle(request, as: client.name, token: token) { [weak self] response in
          self?.answer(number, request, response)
        }
      }
    }
  }

  private func answer(_ number: Int, _ request: OperationRequest, _ response: JSONValue) {
    if world.network.happens(world.network.conditions.answerLoss) { return world.count("answer lost") }
    world.network.after(client) { [weak self] in
      guard let self, !client.isPartitioned, !client.isDeaf else { return }
      if response["errors"]?[0]?["extensions"]?["code"] == "UNAUTHENTICATED" { renewToken() }
      finish(number, .success(OperationPayload(response)))
    }
  }

  private func finish(_ number: Int, _ result: Result<OperationPayload, GraphQLClientError>) {
    guard let continuation = waiting.removeValue(forKey: number) else { return }
    continuation.resume(with: result.mapError { $0 as any Error })
  }

  // MARK: The feed

  func subscribe(_ request: OperationRequest, feeding feed: SubscriptionFeed) throws {
    if isDead { throw Self.lost }
    let link = WorldLink(world, self, request, feed)
    for earlier in links { earlier.end() }
    links = [link]
    feed.onCancel { [weak link] in link?.end() }
    link.connect()
  }
}

/// The imaginary network: how long a message takes, and whether it arrives.
final class WorldNetwork {
  struct Conditions {
    /// The longest time that a message takes one way, in microseconds.
    var slowest = 3_000
    /// In percent.
    var requestLoss = 0
    var answerLoss = 0
    var duplication = 0
  }

  private let executor: SimulatedExecutor
  private let loop: SimulatedLoop
  private var random: SeededRandom
  var conditions = Conditions()

  init(_ executor: SimulatedExecutor, seed: UInt64) {
    self.executor = executor
    loop = executor.makeLoop("network")
    random = SeededRandom(seed: seed)
  }

  func happens(_ percent: Int) -> Bool { percent > 0 && Int(random.next() % 100) < percent }

  func delay(_ client: WorldClient) -> Duration {
    .microseconds(100 + Int64(random.next() % UInt64(conditions.slowest)))
  }

  /// Does something when a message to or from a client has arrived.
  func after(_ client: WorldClient, _ work: @escaping () -> Void) { wait(delay(client), work) }

  func wait(_ time: Duration, _ work: @escaping () -> Void) { at(executor.now + time, work) }

  func at(_ time: Instant, _ work: @escaping () -> Void) { loop.schedule(at: time, work) }
}
