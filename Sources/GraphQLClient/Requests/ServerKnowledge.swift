import MartletGraphQLClientWire

/// What all operations of a client know about its server, and the numbers of its writes. Confined to its loop.
final class ServerKnowledge {
  /// The server remembers write numbers, so that a repeated mutation applies once.
  var remembersWrites: Bool
  private let writes: WriteNumbering

  init(remembersWrites: Bool, writes: WriteNumbering) {
    self.remembersWrites = remembersWrites
    self.writes = writes
  }

  /// The request as it is sent: a numbered mutation with its number. `response` is what its caller waits for.
  func numbered(_ request: RequestPayload, _ kind: ResendKind, _ response: PendingResponse) -> RequestPayload {
    switch kind {
    case .query, .mutation: return request
    case .numberedMutation:
      var request = request
      let (write, acknowledged) = writes.next(for: response)
      request.extensions = RequestContinuity(write: write, acknowledged: acknowledged).added(to: request.extensions)
      return request
    }
  }
}
