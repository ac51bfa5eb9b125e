internal import MartletRuntime
internal import MartletStore
internal import MartletVocabulary
internal import MartletWireProtocols

extension LoopHub {
  /// Ends what can end now, and the rest within the grace: idle connections at once, requests with their answers,
  /// sockets with 1001 once their queries and mutations are answered. `completion` runs once, on the loop.
  package func drain(_ completion: @escaping () -> Void) {
    isDraining = true
    for connection in connectionsInOrder { connection.drain() }
    waitForEnd(until: loop.now + node.limits.shutdownGrace, completion)
  }

  /// Oldest first; a copy, because ending one takes it out.
  private var connectionsInOrder: [ServerConnection] {
    connections.values.sorted { $0.serial < $1.serial }
  }

  private func waitForEnd(until deadline: Instant, _ completion: @escaping () -> Void) {
    for session in sessions.values.sorted(by: { $0.serial < $1.serial }) where !session.hasRunningOperations {
      session.end(1001, "The server goes away; come back.")
    }
    if connections.isEmpty {
      stop()
      return completion()
    }
    if loop.now >= deadline {
      for connection in connectionsInOrder { connection.abort() }
      stop()
      return completion()
    }
    loop.schedule(at: loop.now + .milliseconds(10)) { self.waitForEnd(until: deadline, completion) }
  }

  /// Lets the store forget what is beyond retention, every minute.
  package func maintainPeriodically() {
    guard !isDraining else { return }
    node.store.maintain()
    loop.schedule(at: loop.now + .seconds(60)) { [weak self] in self?.maintainPeriodically() }
  }
}
