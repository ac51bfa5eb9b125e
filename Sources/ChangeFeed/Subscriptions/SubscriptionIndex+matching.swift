internal import MartletModels

extension SubscriptionIndex {
  /// A group that a change concerns, and how.
  package struct Match: Sendable {
    package let group: GroupID
    package internal(set) var effect: Effect
  }

  /// Appends to `found` the groups that `change` concerns, each once.
  ///
  /// A creation has the effect `entered`, a deletion `left`, judged by the record's last image. Updates are looked up
  /// by the record after them and, only where an interest is judged by both images, by the record before them.
  package mutating func match(_ change: Change, into found: inout [Match]) {
    counters.events += 1
    guard let tables = channels[change.channel] else { return }
    guard let record = change.record else { return look(change.looked, in: tables, .entered, into: &found) }
    switch record.kind {
    case .create: look(record.image, in: tables, .entered, into: &found)
    case .delete: look(record.image, in: tables, .left, into: &found)
    case .update:
      guard tables.judgedByBoth > 0, !record.old.isEmpty, let before = record.before else {
        return look(record.image, in: tables, .stayed, into: &found)
      }
      let update = Update(before: before, changed: Set(record.old.map(\.field)))
      look(record.image, in: tables, .stayed, update, into: &found)
      look(before, in: tables, .left, update, into: &found)
    }
  }

  /// What the record was before an update, and the fields that the update changed.
  private struct Update {
    let before: Record
    let changed: Set<Int>
  }

  /// Tries the branches whose equalities `record` fulfils, and those that are scanned.
  private mutating func look(
    _ record: Record, in tables: ChannelTables, _ effect: Effect, _ update: Update? = nil, into found: inout [Match]
  ) {
    for case let table? in tables.tables {
      counters.lookups += 1
      if let bucket = table.buckets[table.key(of: record)] {
        for branch in bucket { tryBranch(branch, record, effect, update, &found) }
      }
    }
    for branch in tables.scanned { tryBranch(branch, record, effect, update, &found) }
  }

  private mutating func tryBranch(
    _ number: Int, _ record: Record, _ effect: Effect, _ update: Update?, _ found: inout [Match]
  ) {
    guard let branch = branches.get(number), let node = nodes.get(branch.node), node.markedAt != counters.events
    else { return }
    // A condition that reads none of the changed fields selects the record as before.
    let isTouched = node.interest.judgement == .beforeAndAfter && update.map { node.reads($0.changed) } == true
    if effect == .left, update != nil, !isTouched { return }
    guard evaluate(branch.residue, record) else { return }
    counters.matches += 1
    let event = counters.events
    nodes.update(branch.node) { $0.markedAt = event }
    var effect = effect
    if effect == .stayed, isTouched, let update {
      effect = evaluate(node.interest.predicate, update.before) ? .stayed : .entered
    }
    for group in node.groups { announce(group, effect, &found) }
  }

  private mutating func evaluate(_ predicate: Predicate, _ record: Record) -> Bool {
    if predicate == .all { return true }
    counters.evaluations += 1
    return predicate.matches(record)
  }

  private mutating func announce(_ group: GroupID, _ effect: Effect, _ found: inout [Match]) {
    let event = counters.events
    var position = found.count
    // In place: a copy of a group costs more than the rest.
    groups.update(group.number) {
      if $0.markedAt == event { position = $0.foundAt }
      $0.markedAt = event
      $0.foundAt = position
    }
    if position < found.count {
      found[position].effect = found[position].effect.joined(with: effect)
    } else {
      found.append(Match(group: group, effect: effect))
    }
  }
}

extension SubscriptionIndex.Match: Equatable {}
