internal import MartletModels

extension SubscriptionIndex {
  /// A group that a change concerns, and how.
  package struct Match: Sendable {
    package let group: GroupID
    package internal(set) var effect: Effect
  }

  /// Appends to `found` the groups that `change` concerns, each once. See `ConditionIndex`.
  package mutating func match(_ change: Change, into found: inout [Match]) {
    self.found.removeAll(keepingCapacity: true)
    conditions.match(change.images, in: change.channel, into: &self.found)
    for match in self.found {
      switch conditions.owners(of: match) {
      case .none: break
      case .one(let group): announce(group, match.effect, &found)
      case .many(let groups): for group in groups { announce(group, match.effect, &found) }
      }
    }
  }

  private mutating func announce(_ group: Int, _ effect: Effect, _ found: inout [Match]) {
    let event = conditions.counters.events
    var position = found.count
    // In place: a copy of a group costs more than the rest.
    groups.update(group) {
      if $0.markedAt == event { position = $0.foundAt }
      $0.markedAt = event
      $0.foundAt = position
    }
    if position < found.count {
      found[position].effect = found[position].effect.joined(with: effect)
    } else {
      found.append(Match(group: GroupID(number: group), effect: effect))
    }
  }
}

extension SubscriptionIndex.Match: Equatable {}

extension Change {
  /// The record as conditions are tried on it; an event and a change of the tree are creations.
  fileprivate var images: ConditionIndex.Images {
    guard let record else { return .created(looked) }
    switch record.kind {
    case .create: return .created(record.image)
    case .delete: return .removed(record.image)
    case .update: return .updated(after: record.image, old: record.old)
    }
  }
}
