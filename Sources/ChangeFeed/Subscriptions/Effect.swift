internal import MartletModels

/// What a change does to the records that a condition selects.
package enum Effect: Sendable, Hashable {
  /// The condition selects the record now and did not before.
  case entered
  /// The condition selects the record as before.
  case stayed
  /// The condition no longer selects the record, or the record was deleted.
  case left

  /// The effect on the records that either of two conditions selects, when each has one.
  func joined(with other: Effect) -> Effect { self == other ? self : .stayed }
}

/// Which images of a record decide whether an update concerns a subscription.
package enum Judgement: Sendable, Hashable {
  /// The record after the update alone: what GraphQL's subscriptions mean by their filters. An update is never `left`,
  /// and `stayed` where it matches, so the record before is not evaluated.
  case after
  /// The records before and after it, so that updates are `entered`, `stayed` or `left`.
  case beforeAndAfter
}

extension Interest {
  /// What `change` does to the records that the interest selects; nil for nothing. The index answers the same for many
  /// interests at once.
  package func effect(of change: Change) -> Effect? {
    guard channel == change.channel else { return nil }
    guard let record = change.record else { return predicate.matches(change.looked) ? .entered : nil }
    let isSelected = predicate.matches(record.image)
    switch record.kind {
    case .create: return isSelected ? .entered : nil
    case .delete: return isSelected ? .left : nil
    case .update:
      guard judgement == .beforeAndAfter, let before = record.before else { return isSelected ? .stayed : nil }
      return switch (predicate.matches(before), isSelected) {
      case (false, false): nil
      case (false, true): .entered
      case (true, true): .stayed
      case (true, false): .left
      }
    }
  }
}
