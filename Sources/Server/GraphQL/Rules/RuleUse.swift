package import MartletModels

/// A place where the outcome of a model's rules is applied.
package enum RuleUse: String, Sendable, Hashable, CaseIterable {
  /// One record by its key.
  case get
  /// A list by the primary key, and a list by an index.
  case list, index
  /// What a sync query shows, and what it says has left.
  case sync
  /// Whether a relation is followed from a record, and which records it leads to.
  case relation, related
  /// Whether a write is allowed, what its condition may read, and what its answer shows.
  case create, update, delete, condition, answer
  /// The events that a subscription is for, what they show, and which subscriptions share them.
  case interest, payload, group
}

/// Replaces an outcome where it is used, for tests that plant a leak and look for it. Gets the outcome and one that
/// allows everything.
package typealias RuleLens = @Sendable (RuleUse, _ outcome: RuleOutcome, _ open: RuleOutcome) -> RuleOutcome
