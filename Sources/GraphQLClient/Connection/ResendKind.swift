/// What kind of operation is sent, as far as sending it again is concerned.
package enum ResendKind: Sendable, Hashable {
  /// Has no effect: may be sent again.
  case query
  /// Is sent at most once.
  case mutation
  /// Carries a write number: may be sent again to servers that remember it.
  case numberedMutation
}

extension ResendKind {
  /// Why an operation that was sent fails when its connection is lost before the answer.
  var lost: GraphQLClientError {
    self == .query
      ? GraphQLClientError(.connectionLost, "the connection was lost while the query was on its way")
      : GraphQLClientError(.outcomeUnknown, "the connection was lost while the mutation was on its way")
  }

  /// Why an operation fails that has no answer within `time`.
  func timedOut(after time: Duration, wasSent: Bool) -> GraphQLClientError {
    GraphQLClientError(wasSent && self != .query ? .outcomeUnknown : .timeout, "no answer within \(time)")
  }
}
