/// What kind of operation is sent, as far as sending it again is concerned.
package enum OperationKind: Sendable, Hashable {
  /// Has no effect: may be sent again.
  case query
  /// Is sent at most once.
  case mutation
  /// Carries a write number: may be sent again to servers that remember it.
  case numberedMutation
}
