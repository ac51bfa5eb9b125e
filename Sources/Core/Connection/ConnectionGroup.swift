internal import MartletWireProtocols

/// All sockets of one client to one endpoint: one, and more of them when it has as many operations as it may carry.
/// Confined to its loop.
final class ConnectionGroup {
  private let endpoint: GraphQLEndpoint
  private var configuration: ConnectionConfiguration
  private let environment: ClientEnvironment
  private let knowledge: ServerKnowledge
  private let events: ConnectionEvents
  /// In the order they were made. The first stays; the others go when they are empty.
  private var drivers: [ConnectionDriver] = []
  /// Operations on one socket at most: the configuration's, or fewer when the server has refused one before.
  private var most: Int
  private var isPaused = false
  private var isShutDown = false

  init(
    _ endpoint: GraphQLEndpoint, _ configuration: ConnectionConfiguration, _ environment: ClientEnvironment,
    _ knowledge: ServerKnowledge, _ events: ConnectionEvents
  ) {
    self.endpoint = endpoint
    self.configuration = configuration
    self.environment = environment
    self.knowledge = knowledge
    self.events = events
    most = max(1, configuration.subscriptionsPerConnection)
    _ = added()
  }

  private func added() -> ConnectionDriver {
    let driver = ConnectionDriver(
      endpoint, configuration, environment, knowledge, events, isSpare: !drivers.isEmpty)
    driver.group = self
    drivers.append(driver)
    if isPaused { driver.pause() }
    return driver
  }

  // MARK: Operations

  func start(_ operation: SocketOperation) {
    // Cancelled before it came here: nothing is sent.
    if operation.core.state.isFinished { return }
    guard !isShutDown else {
      return operation.core.move(to: .finished(.error(GraphQLClientError(.shutDown, "the client was shut down"))))
    }
    place(operation, instead: nil)
  }

  private func place(_ operation: SocketOperation, instead full: ConnectionDriver?) {
    if let driver = drivers.first(where: { $0 !== full && $0.operationCount < most }) {
      return driver.start(operation)
    }
    guard drivers.count < max(1, configuration.socketConnections) else {
      let text = "\(drivers.count) sockets have \(most) operations each"
      return operation.core.move(to: .finished(.error(GraphQLClientError(.overloaded, text))))
    }
    added().start(operation)
  }

  /// The server has refused an operation because `driver` has as many as it may have; the others go on there.
  func move(_ operation: SocketOperation, from driver: ConnectionDriver) {
    most = max(1, min(most, driver.operationCount))
    switch operation.core.state {
    case .active:
      operation.core.move(
        to: .reconnecting, telling: .interrupted(reason: "the connection has no room for more", attempt: 1))
    case .pending, .reconnecting, .paused, .finished: break
    }
    place(operation, instead: driver)
  }

  /// A spare connection that nobody needs any more is gone.
  func released(_ driver: ConnectionDriver) {
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

  /// Changes what the next sockets open with. `reconnecting` replaces open sockets now.
  func update(reconnecting: Bool, _ change: (inout ConnectionConfiguration) -> Void) {
    change(&configuration)
    for driver in drivers { driver.update(reconnecting: reconnecting, change) }
  }

  func shutDown() {
    guard !isShutDown else { return }
    isShutDown = true
    for driver in drivers { driver.shutDown() }
    events.finish()
  }
}
