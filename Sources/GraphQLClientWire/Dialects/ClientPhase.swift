package import MartletVocabulary

/// Where a client's session stands, in any dialect.
package enum ClientPhase: Equatable, Sendable {
  /// No socket. Next: `waitingForAcknowledgement`.
  case disconnected
  /// Next: `open`, or `disconnected` at the deadline, on a refusal or a protocol error.
  case waitingForAcknowledgement(deadline: Instant)
  case open
}
