internal import MartletGraphQLClientWire

/// All sockets of one client to one endpoint: one, and more of them when it has as many operations as it may carry.
/// Confined to its loop.
final class ConnectionGroup {
  /// What its connections have in common.
  struct Home {
    var endpoint: GraphQLEndpoint
    var environment: ClientEnvironment
    var knowledge: ServerKnowledge
    var events: ConnectionEvents
  }

  private let home: Home
  private var configuration: ConnectionConfiguration
  /// In the order they were made. The first stays; the others go when they are empty.
  private var drivers: [SocketDriver] = []
  /// Operations on one socket at most: the configuration's, or fewer when the server has refused one before.
  private var most: Int
  private var isPaused = false
  private var isShutDown = false

  init(_ home: Home, _ configuration: ConnectionConfiguration) {
    self.home = home
    self.configuration = configuration
    most = max(1, configuration.subscriptionsPerConnection)
    _ = added()
  }

  private func added() -> SocketDriver {
    let driver = SocketDriver(home, configuration, isSpare: !drivers.isEmpty)
    driver.group = self
    drivers.append(driver)
    if isPaused { driver.pause() }
    return driver
  }

  // MARK: Operations

  func start(_ operation: SocketOperation) {
    // Cancelled before it came here: nothing is sent.
    if operation.isOver { return }
    guard !isShutDown else {
      return operation.finish(.error(GraphQLClientError(.shutDown, "the client was shut down")))
    }
    place(operation, instead: nil)
  }

  private func place(_ operation: SocketOperation, instead full: SocketDriver?) {
    if let driver = drivers.first(where: { $0 !== full && $0.operations.count < most }) {
      return driver.start(operation)
    }
    guard drivers.count < max(1, configuration.socketConnections) else {
      let text = "\(drivers.count) sockets have \(most) operations each"
      return operation.finish(.error(GraphQLClientError(.overloaded, text)))
    }
    added().start(operation)
  }

  /// The server has refused an operation because `driver` has as many as it may have; the others stay there.
  func move(_ operation: SocketOperation, from driver: SocketDriver) {
    most = max(1, min(most, driver.operations.count))
    if let core = operation.stream, case .active = core.state {
      core.move(to: .reconnecting, telling: .interrupted(reason: "the connection has no room for more", attempt: 1))
    }
    place(operation, instead: driver)
  }

  /// A spare connection is idle and empty.
  func released(_ driver: SocketDriver) {
    drivers.removeAll { $0 === driver }
  }

  func cancel(_ key: ObjectIdentifier) { for driver in drivers { driver.cancel(key) } }
  func hasRoom(_ key: ObjectIdentifier) { for driver in drivers { driver.hasRoom(key) } }

  // MARK: All of them

  func pause() {
    guard !isShutDown else { return }
    isPaused = true
    for driver in drivers { driver.pause() }
  }

  func resume() {
    isPaused = false
    for driver in drivers { driver.resume() }
  }

  func hasten() { for driver in drivers { driver.attempts.hasten() } }

  /// Changes what the next sockets open with. `reconnecting` replaces open sockets now.
  func update(reconnecting: Bool, _ change: (inout ConnectionConfiguration) -> Void) {
    change(&configuration)
    for driver in drivers { driver.update(reconnecting: reconnecting, change) }
  }

  func shutDown() {
    guard !isShutDown else { return }
    isShutDown = true
    for driver in drivers { driver.shutDown() }
    home.events.finish()
  }
}

extension ConnectionGroup: RequestCarrier {
  func start(_ request: RequestPayload, _ kind: ResendKind, _ extras: HTTPExtras, _ response: PendingResponse) {
    start(
      SocketOperation(
        home.knowledge.numbered(request, kind, response), .response(response, kind),
        repetition: kind == .numberedMutation ? .ifWritesAreAgreed : .never))
  }
}
