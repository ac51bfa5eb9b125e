package import MartletJSON
package import MartletModels

extension ConditionIndex {
  /// What a change did to a record.
  package enum Images {
    case created(Record)
    case removed(Record)
    /// With the values that fields had before. Without any, what matches has stayed.
    case updated(after: Record, old: [(field: Int, value: JSONValue)])
    /// The same with the record before, and the fields in which it differs.
    case replaced(after: Record, before: Record, changed: FieldSet)
  }

  /// A condition that a change concerns, and how.
  package struct Match: Sendable {
    let node: Int
    package let effect: Effect
  }

  /// Appends to `found` the conditions that a change in a channel concerns, each once.
  ///
  /// A creation has the effect `entered`, a deletion `left`, judged by the record's last image. Updates are looked up
  /// by the record after them and, only where an interest is judged by both images, by the record before them.
  package mutating func match(_ images: Images, in channel: ChangeChannel, into found: inout [Match]) {
    counters.events += 1
    guard let tables = channels[channel] else { return }
    switch images {
    case .created(let record): look(record, in: tables, .entered, into: &found)
    case .removed(let record): look(record, in: tables, .left, into: &found)
    case .updated(let record, let old):
      // The record before is made where it is needed only.
      guard tables.judgedByBoth > 0, !old.isEmpty else { return look(record, in: tables, .stayed, into: &found) }
      var update = Update(before: record, changed: FieldSet())
      for (field, value) in old {
        update.before.values[field] = value
        update.changed.insert(field)
      }
      lookTwice(record, update, in: tables, into: &found)
    case .replaced(let record, let before, let changed):
      guard tables.judgedByBoth > 0, !changed.isEmpty else { return look(record, in: tables, .stayed, into: &found) }
      lookTwice(record, Update(before: before, changed: changed), in: tables, into: &found)
    }
  }

  private mutating func lookTwice(
    _ record: Record, _ update: Update, in tables: ChannelTables, into found: inout [Match]
  ) {
    look(record, in: tables, .stayed, update, into: &found)
    look(update.before, in: tables, .left, update, into: &found)
  }

  /// What the record was before an update, and the fields that the update changed.
  private struct Update {
    var before: Record
    var changed: FieldSet
  }

  /// Tries the branches whose equalities `record` fulfils, and those that are scanned.
  private mutating func look(
    _ record: Record, in tables: ChannelTables, _ effect: Effect, _ update: Update? = nil, into found: inout [Match]
  ) {
    for case let table? in tables.tables {
      counters.lookups += 1
      switch table.buckets[table.key(of: record)] {
      case nil, .some(.none): break
      case .one(let branch)?: tryBranch(branch, record, effect, update, &found)
      case .many(let branches)?: for branch in branches { tryBranch(branch, record, effect, update, &found) }
      }
    }
    for branch in tables.scanned { tryBranch(branch, record, effect, update, &found) }
  }

  private mutating func tryBranch(
    _ number: Int, _ record: Record, _ effect: Effect, _ update: Update?, _ found: inout [Match]
  ) {
    guard let branch = branches[number], let node = nodes[Int(branch.node)], node.markedAt != counters.events
    else { return }
    // A condition that reads none of the changed fields selects the record as before.
    let isTouched = node.judgement == .beforeAndAfter && update.map { node.predicate.reads($0.changed) } == true
    if effect == .left, update != nil, !isTouched { return }
    guard evaluate(branch.residue, record) else { return }
    counters.matches += 1
    let event = counters.events
    nodes.update(Int(branch.node)) { $0.markedAt = event }
    var effect = effect
    if effect == .stayed, isTouched, let update {
      effect = evaluate(node.predicate, update.before) ? .stayed : .entered
    }
    found.append(Match(node: Int(branch.node), effect: effect))
  }

  private mutating func evaluate(_ predicate: Predicate, _ record: Record) -> Bool {
    if predicate == .all { return true }
    counters.evaluations += 1
    return predicate.matches(record)
  }
}
