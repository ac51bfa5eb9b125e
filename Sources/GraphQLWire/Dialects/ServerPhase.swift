package import MartletVocabulary

/// Where a server's connection stands, in any dialect.
package enum ServerPhase: Equatable, Sendable {
  /// Next: `authenticating` by `connection_init`, `closed` at the deadline.
  case waitingForInit(deadline: Instant)
  /// Next: `open` by `accept`, `closed` by `refuse`.
  case authenticating
  case open
  case closed
}
