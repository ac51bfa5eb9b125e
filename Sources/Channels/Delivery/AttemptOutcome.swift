/// How an attempt to reach a target ended.
package enum AttemptOutcome: Sendable, Equatable {
  /// The event was delivered or was not.
  case settled(DeliveryMachine.Outcome)
  /// Nothing can be delivered to the target until it is described otherwise. The attempt does not count.
  case unreachable(String)
  /// The target no longer exists.
  case gone(String)
}
