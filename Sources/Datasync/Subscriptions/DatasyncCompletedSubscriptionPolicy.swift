/// What stays of the value of a subscription that has ended, for reads without the server and for the next
/// subscription.
///
/// A policy is about cancellation, and about a node that became too large. A revocation by rules or credentials always
/// forgets the value.
public enum DatasyncCompletedSubscriptionPolicy: Sendable, Hashable {
  /// Nothing.
  case forgetData
  /// The last value, which is not updated any longer.
  case keepData
  /// The value, which is kept up to date in silence; with the next subscription, and until `cleanCache()`.
  case keepUpdatingData
  /// As `keepUpdatingData` when the subscription ended with its manager, as `keepData` otherwise.
  case keepUpdatingDataWhenImplicit
}
