internal import MartletDataStore
internal import MartletGraphQLClient
internal import MartletJSON
internal import MartletSimulation
internal import MartletVocabulary

/// A subscription at a client: its connection, which is made again whenever it breaks, and the cursor from which it
/// continues. Does what the client's connection does with a socket.
///
/// `@unchecked Sendable` holds because it is touched only inside the executor's pump.
final class WorldLink: @unchecked Sendable {
  enum Message {
    /// - Parameter views: `Checks.views` when it was sent.
    case ready(Cursor, view: String?, views: Int)
    case event([UInt8], Cursor, endsTransaction: Bool)
    case gap(EventGap)
  }

  private unowned let world: World
  private let transport: WorldTransport
  private let feed: SubscriptionFeed
  let arguments: JSONObject
  private var cursor: Cursor?
  private var view: String?
  private var isOver = false
  /// Names the present connection: messages of an earlier one are lost.
  private var connection = 0
  private var isConnected = false
  /// A message of the present connection was lost, and so is everything after it.
  private var isBroken = false
  private var failures = 0
  private var wasReady = false
  /// Messages keep their order.
  private var lastArrival = Instant.zero
  /// Messages that are on their way.
  private(set) var underWay = 0

  init(_ world: World, _ transport: WorldTransport, _ request: OperationRequest, _ feed: SubscriptionFeed) {
    self.world = world
    self.transport = transport
    self.feed = feed
    arguments = request.variables
    if case .after(let cursor) = request.start { self.cursor = cursor }
    view = request.extensions["martlet"]?["view"]?.string
    feed.core.expectsMark = true
    world.checks.subscribes(transport.client, resumes: cursor != nil)
  }

  private var client: WorldClient { transport.client }
  /// The client's, for lines of the history.
  var name: String { client.name }
  /// Whether the server has a session for it, and nothing is on its way or was lost.
  var isCurrent: Bool { isConnected && !isBroken && underWay == 0 && !isOver }

  func end() {
    isOver = true
    connection += 1
    world.server.drop(self)
  }

  // MARK: Connecting

  func connect() {
    guard !isOver, !transport.isDead else { return }
    connection += 1
    let attempt = connection
    guard !client.isPartitioned, world.server.isRunning else { return lost("the server cannot be reached") }
    world.network.after(client) { [weak self] in
      guard let self, attempt == connection, !isOver, !transport.isDead else { return }
      guard world.server.isRunning, !client.isPartitioned else { return lost("the server cannot be reached") }
      isConnected = true
      isBroken = false
      lastArrival = world.executor.now
      world.server.open(self, as: client.name, token: transport.token, after: cursor, view: view)
    }
  }

  /// The connection broke, or could not be made.
  func lost(_ reason: String) {
    guard !isOver, !transport.isDead else { return }
    connection += 1
    isConnected = false
    underWay = 0
    failures += 1
    world.server.drop(self)
    if case .pending = feed.core.state {
      feed.core.tell(.interrupted(reason: reason, attempt: failures))
    } else {
      feed.core.move(to: .reconnecting)
    }
    let pause = min(50 << min(failures, 5), 1_000)
    let attempt = connection
    world.network.wait(.milliseconds(pause)) { [weak self] in
      // It may be lost again before: then it connects once all the same.
      guard let self, attempt == connection else { return }
      connect()
    }
  }

  /// The server refuses the subscription, or has ended it.
  func refused(_ error: JSONValue) {
    let attempt = connection
    world.network.after(client) { [weak self] in
      guard let self, attempt == connection, !isOver, !transport.isDead else { return }
      isOver = true
      let code = error["extensions"]?["code"]?.string
      if code == "UNAUTHENTICATED" {
        transport.renewToken()
        return feed.finish(throwing: GraphQLClientError(.unauthorized, "the token has expired"))
      }
      feed.finish(throwing: GraphQLClientError(.operationFailed, "the server ended it", errors: [error]))
    }
  }

  // MARK: Messages

  /// Sends a message of the server on its way.
  func send(_ message: Message) {
    guard isConnected, !isOver else { return }
    let attempt = connection
    underWay += 1
    let arrival = max(world.executor.now + world.network.delay(client), lastArrival)
    lastArrival = arrival
    world.network.at(arrival) { [weak self] in
      guard let self, attempt == connection, !isOver, !transport.isDead else { return }
      underWay -= 1
      // What is lost on the way is sent again by the transport below; a connection on which nothing passes is found
      // dead by its silence.
      if isBroken { return }
      if client.isPartitioned || client.isDeaf {
        world.count(client.isDeaf ? "half-open message" : "partitioned message")
        isBroken = true
        return silent(attempt)
      }
      received(message)
    }
  }

  private func silent(_ attempt: Int) {
    world.network.wait(.seconds(2)) { [weak self] in
      guard let self, attempt == connection else { return }
      lost("nothing came from the server")
    }
  }

  private func received(_ message: Message) {
    failures = 0
    switch message {
    case .event(let payload, let cursor, let endsTransaction):
      if let last = self.cursor, last.term == cursor.term, cursor.offset <= last.offset {
        world.checks.fail(.order, "\(client.name) gets \(cursor) after \(last)")
      }
      self.cursor = cursor
      feed.yield(OperationPayload(bytes: payload), cursor: cursor, endsTransaction: endsTransaction)
      lookAtHeld()
    case .gap(let gap):
      world.checks.gap(client, gap)
      cursor = gap.to
      feed.yield(gap: gap)
    case .ready(let cursor, let view, let views):
      self.cursor = max(self.cursor, cursor)
      self.view = view
      if !wasReady { world.checks.ready(client, cursor, views: views) }
      wasReady = true
      feed.core.move(to: .active, isConfirmed: true)
      feed.core.deliver(SubscriptionMark(cursor: cursor, view: view))
    }
  }

  /// Looks at what waits in memory while a sync runs.
  private func lookAtHeld() {
    guard let store = client.process?.store, !store.syncStatus.isSynced else { return }
    let client = client
    world.spawn { [world] in
      guard let count = try? await store.heldChanges() else { return }
      world.checks.holds(client, count)
    }
  }

  private func max(_ known: Cursor?, _ cursor: Cursor) -> Cursor {
    guard let known, known.term == cursor.term, known.offset > cursor.offset else { return cursor }
    return known
  }

  private func max(_ left: Instant, _ right: Instant) -> Instant { left > right ? left : right }
}
