import MartletGraphQLClientWire
import MartletRuntime

/// The queries and mutations under way over HTTP. Confined to its loop.
final class HTTPOperations: RequestCarrier {
  private let home: HTTPOperation.Surroundings
  private var running: [ObjectIdentifier: HTTPOperation] = [:]
  private var order: [ObjectIdentifier] = []
  private var isShutDown = false

  init(_ home: HTTPOperation.Surroundings) {
    self.home = home
  }

  func start(_ request: RequestPayload, _ kind: ResendKind, _ extras: HTTPExtras, _ response: PendingResponse) {
    // Cancelled before it came here: nothing is sent.
    if response.isOver { return }
    guard !isShutDown else {
      return response.finish(throwing: GraphQLClientError(.shutDown, "the client was shut down"))
    }
    let key = ObjectIdentifier(response)
    let numbered = home.knowledge.numbered(request, kind, response)
    let operation = HTTPOperation(numbered, kind, extras, response, in: home) { [weak self] in self?.forget(key) }
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
    home.redirected.close()
  }
}
