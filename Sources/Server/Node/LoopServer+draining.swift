extension LoopServer {
  /// Ends what can end now, and the rest within the grace: idle connections at once, requests with their answers,
  /// sockets with 1001 once their queries and mutations are answered. `completion` runs once, on the loop.
  package func drain(_ completion: @escaping () -> Void) {
    let ending = ServerEnding(self, completion)
    self.ending = ending
    transport.isDraining = true
    transport.onProgress = { [unowned ending] in ending.lookNextTurn() }
    for connection in transport.connectionsInOrder { connection.drain() }
    ending.begin()
  }
}
