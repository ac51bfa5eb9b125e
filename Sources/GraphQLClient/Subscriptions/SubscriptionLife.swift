/// News of a subscription's life, put between its events for streams that ask for it.
package enum SubscriptionLife: Sendable, Hashable {
  case connecting
  case connected
  case interrupted(reason: String, attempt: Int)
  case disconnected

  /// Why a subscription that was paused is interrupted.
  package static let pause = "paused"

  /// The element for a new state; nil when there is none, as for an error, which is thrown.
  package init?(_ state: SubscriptionState) {
    switch state {
    case .pending, .finished(.error): return nil
    case .active: self = .connected
    case .reconnecting: self = .interrupted(reason: "the connection was lost", attempt: 1)
    case .paused: self = .interrupted(reason: Self.pause, attempt: 0)
    case .finished(.completed), .finished(.cancelled): self = .disconnected
    }
  }

  var isInterruption: Bool {
    switch self {
    case .interrupted: true
    case .connecting, .connected, .disconnected: false
    }
  }
}
