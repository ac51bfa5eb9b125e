internal import MartletRuntime
internal import MartletVocabulary

/// The end of one loop's share of a server: it follows from what ends, not from looking again and again.
///
/// Whatever may bring the end nearer calls `lookNextTurn`: an operation that is answered, a response that is sent, a
/// connection that is closed. Two timers bound the wait: the grace, and the linger once only clients' ends are missing.
///
/// Confined to its loop.
final class ServerEnding {
  private unowned let server: LoopServer
  private var completion: (() -> Void)?
  private var isLookScheduled = false
  private var grace: LoopTimer?
  private var linger: LoopTimer?
  private var hasLingered = false
  /// Between looks at clients that have not taken their bytes, of which a connection that ends is not notified.
  private static let slowReaders = Duration.milliseconds(50)

  private var loop: any Loop { server.loop }
  private var limits: ServerLimits { server.node.limits }

  init(_ server: LoopServer, _ completion: @escaping () -> Void) {
    self.server = server
    self.completion = completion
  }

  func begin() {
    grace = loop.schedule(at: loop.now + limits.http.shutdownGrace) { [weak self] in self?.abort() }
    // Bytes that are on their way leave at the end of this turn.
    lookNextTurn()
  }

  /// Looks again when this turn is over: bytes written in it leave at its end.
  func lookNextTurn() {
    guard !isLookScheduled, completion != nil else { return }
    isLookScheduled = true
    let bound = LoopBound(self, on: loop)
    loop.execute {
      bound.value.isLookScheduled = false
      bound.value.look()
    }
  }

  private func look() {
    guard completion != nil else { return }
    for session in server.sessions where !session.hasRunningOperations { session.leave() }
    if server.transport.connections.isEmpty { return finish() }
    guard server.transport.connections.values.allSatisfy(\.owesNothing) else {
      linger?.cancel()
      linger = nil
      return
    }
    guard linger == nil else { return }
    // After the first time only clients are left that have not taken their bytes.
    let time = hasLingered ? max(limits.http.shutdownLinger, Self.slowReaders) : limits.http.shutdownLinger
    linger = loop.schedule(at: loop.now + time) { [weak self] in self?.lingered() }
  }

  /// Nothing was owed to any client for the time of the linger; clients that keep unused connections may never close
  /// them. Bytes that a slow client has not taken keep their connection until it takes them, or the grace is over.
  private func lingered() {
    linger = nil
    hasLingered = true
    let connections = server.transport.connectionsInOrder
    for connection in connections where connection.awaitsPeerOnly { connection.abort() }
    lookNextTurn()
  }

  private func abort() {
    guard completion != nil else { return }
    for connection in server.transport.connectionsInOrder { connection.abort() }
    finish()
  }

  private func finish() {
    guard let completion else { return }
    self.completion = nil
    grace?.cancel()
    linger?.cancel()
    server.transport.onProgress = nil
    server.stop()
    completion()
  }
}
