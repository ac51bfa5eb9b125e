package import MartletVocabulary

/// Where a client's session stands, in any dialect.
package enum ClientPhase: Equatable, Sendable {
  /// No socket. Next: `waitingForAcknowledgement`.
  case disconnected
  /// Next: `open`, or `disconnected` at the deadline, on a refusal or a protocol error.
  case waitingForAcknowledgement(deadline: Instant)
  case open
}

/// Where a server's connection stands, in any dialect.
package enum ServerPhase: Equatable, Sendable {
  /// Next: `authenticating` by `connection_init`, `closed` at the deadline.
  case waitingForInit(deadline: Instant)
  /// Next: `open` by `accept`, `closed` by `refuse`.
  case authenticating
  case open
  case closed
}
