/// One element of a subscription of `Martlet.API`: where its connection stands, or data.
public enum GraphQLSubscriptionEvent<R: Sendable>: Sendable {
  /// News of the connection.
  case connection(SubscriptionConnectionState)
  /// A value, or why one did not come whole. The subscription continues after a failure.
  case data(Result<R, GraphQLResponseError<R>>)
}

/// Where a subscription's connection stands.
///
/// The order is `connecting`, `connected`, then any number of times `interrupted` and `connected`, at last
/// `disconnected`. Data comes after `connected`. A subscription that fails ends with the error instead of
/// `disconnected`.
public enum SubscriptionConnectionState: Sendable, Hashable {
  /// The subscription was asked for.
  case connecting
  /// The server has it: confirmed by the server, or, with servers that do not confirm, sent.
  case connected
  /// The connection was lost, or an attempt to have one failed, and it is tried again: why, and how many attempts
  /// have failed in a row. Also for a client that is paused, with 0 attempts.
  case interrupted(reason: String, attempt: Int)
  /// Events are missing here and nothing can bring them: why, and the places around the hole as far as they are known.
  case gap(reason: EventGap.Reason, from: Cursor?, to: Cursor?)
  /// It is over, by the server's word or by `cancel()`.
  case disconnected
}

extension SubscriptionConnectionState: CustomStringConvertible {
  /// The state in words.
  public var description: String {
    switch self {
    case .connecting: "connecting"
    case .connected: "connected"
    case .interrupted(let reason, let attempt): "interrupted(\(reason), attempt \(attempt))"
    case .gap(let reason, let from, let to):
      "gap(\(reason.rawValue), from \(from.map { "\($0)" } ?? "?"), to \(to.map { "\($0)" } ?? "?"))"
    case .disconnected: "disconnected"
    }
  }

  init(_ life: SubscriptionLife) {
    switch life {
    case .connecting: self = .connecting
    case .connected: self = .connected
    case .interrupted(let reason, let attempt): self = .interrupted(reason: reason, attempt: attempt)
    case .disconnected: self = .disconnected
    }
  }
}
