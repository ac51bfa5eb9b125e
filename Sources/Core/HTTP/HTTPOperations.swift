import MartletRuntime
import MartletWireProtocols

/// The queries and mutations under way by HTTP. Confined to its loop.
final class HTTPOperations {
  private let home: HTTPOperation.Surroundings
  private var running: [ObjectIdentifier: HTTPOperation] = [:]
  private var order: [ObjectIdentifier] = []
  private var isShutDown = false

  init(_ home: HTTPOperation.Surroundings) {
    self.home = home
  }

  func start(
    _ request: GraphQLRequest, _ kind: OperationKind, _ extras: HTTPExtras,
    _ core: SubscriptionCore
  ) {
    // Cancelled before it came here: nothing is sent.
    if core.state.isFinished { return }
    guard !isShutDown else {
      return core.move(to: .finished(.error(GraphQLClientError(.shutDown, "the client was shut down"))))
    }
    let key = ObjectIdentifier(core)
    let operation = HTTPOperation(
      request, kind, extras, core, in: home, seed: home.environment.chance.next()
    ) { [weak self] in self?.forget(key) }
    running[key] = operation
    order.append(key)
    operation.start()
  }

  func cancel(_ key: ObjectIdentifier) {
    running[key]?.cancel()
    forget(key)
  }

  private func forget(_ key: ObjectIdentifier) {
    guard running.removeValue(forKey: key) != nil else { return }
    order.removeAll { $0 == key }
  }

  func shutDown() {
    isShutDown = true
    for key in order { running[key]?.shutDown() }
    running = [:]
    order = []
    home.pool.close()
  }
}
