internal import MartletRuntime
internal import MartletStore
internal import MartletVocabulary
internal import MartletWire

extension LoopServer {
  /// Ends what can end now, and the rest within the grace: idle connections at once, requests with their answers,
  /// sockets with 1001 once their queries and mutations are answered. `completion` runs once, on the loop.
  package func drain(_ completion: @escaping () -> Void) {
    transport.isDraining = true
    for connection in transport.connectionsInOrder { connection.drain() }
    waitForEnd(until: loop.now + node.limits.http.shutdownGrace, lingeringSince: nil, completion)
  }

  private func waitForEnd(until deadline: Instant, lingeringSince: Instant?, _ completion: @escaping () -> Void) {
    for session in sessions where !session.hasRunningOperations {
      session.leave()
    }
    if transport.connections.isEmpty {
      stop()
      return completion()
    }
    // Nothing is owed to any client; clients that keep unused connections may never close them. Only what a look before
    // this one found counts: bytes written in this turn leave at its end.
    let isOnlyLingering = transport.connections.values.allSatisfy(\.awaitsPeerOnly)
    let linger = isOnlyLingering && lingeringSince.map { loop.now >= $0 + node.limits.http.shutdownLinger } ?? false
    if loop.now >= deadline || linger {
      for connection in transport.connectionsInOrder { connection.abort() }
      stop()
      return completion()
    }
    let since = isOnlyLingering ? lingeringSince ?? loop.now : nil
    loop.schedule(at: loop.now + .milliseconds(10)) {
      self.waitForEnd(until: deadline, lingeringSince: since, completion)
    }
  }

  /// Looks every second for a request for a backup.
  package func serveBackupsPeriodically() {
    guard !transport.isDraining else { return }
    node.store.serveBackupRequest()
    loop.schedule(at: loop.now + .seconds(1)) { [weak self] in self?.serveBackupsPeriodically() }
  }

  /// Deletes what is beyond retention from time to time, also when nothing is written.
  package func maintainPeriodically() {
    guard !transport.isDraining else { return }
    node.store.maintain()
    loop.schedule(at: loop.now + node.store.limits.maintenanceInterval) { [weak self] in self?.maintainPeriodically() }
  }

  /// Another schema is in force: ends the subscriptions that mean nothing under it.
  ///
  /// - Returns: how many those were.
  func recheckSchema() -> Int {
    // What they hold has the shape of the old models.
    feed.pages.forget()
    return sessions.reduce(0) { $0 + $1.recheckSchema() }
  }

  /// Other keys are in force: ends what withdrawn ones admitted.
  func recheckAccess() {
    let ended = sessions.reduce(0) { $0 + $1.recheckAccess() }
    guard ended > 0 else { return }
    node.log.write(
      .info, "Sockets, streams and subscriptions were ended: their key was withdrawn.", [(.count, "\(ended)")])
  }
}
