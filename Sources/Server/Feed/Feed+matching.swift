internal import MartletChangeFeed
internal import MartletJSON
internal import MartletRuntime
internal import MartletStore

extension Feed {
  /// Takes a batch. Members that join from now on begin after it.
  func apply(_ batch: ChangeBatch) {
    counters.add(.batches)
    counters.add(.changes, batch.changes.count)
    matching.append(batch, before: applied)
    applied = batch.lastOffset
    if !isMatchingContinued { match() }
  }

  /// Matches and encodes as much as the turn has room for; members are written to before the turn ends, or over several
  /// turns when there are many.
  private func match() {
    let evaluations = index.counters.evaluations
    while !matching.isEmpty, matching.mayWork(at: loop.now, limits.matchingWorkPerTurn) { matchNext() }
    counters.add(.predicateEvaluations, index.counters.evaluations - evaluations)
    deliver()
    guard !matching.isEmpty else { return }
    isMatchingContinued = true
    let bound = bound
    loop.execute { bound.value.continueMatching() }
  }

  private func continueMatching() {
    isMatchingContinued = false
    matching.renew(loop.now, limits.matchingWorkPerTurn)
    match()
  }

  /// Looks up the next change, or encodes the next event of a transaction that has been looked up whole.
  private func matchNext() {
    guard var entry = matching.first else { return }
    if entry.isEncoding {
      guard let match = matches.next() else {
        matches.removeAll()
        entry.isEncoding = false
        matching.first = entry
        return
      }
      deliver(match, of: entry)
      return
    }
    guard entry.next < entry.batch.changes.count else {
      matching.removeFirst()
      onBatch(entry.batch)
      return
    }
    let change = entry.batch.changes[entry.next]
    matching.spend(MatchingQueue.change)
    found.removeAll(keepingCapacity: true)
    index.match(change, into: &found)
    for match in found where groups[match.group]?.accepts(change, match.effect) == true {
      matches.append(entry.next, match.group)
    }
    entry.next += 1
    if change.endsTransaction || entry.next == entry.batch.changes.count {
      // Each group's mark stands on the last change that it gets.
      matches.markLast()
      entry.isEncoding = true
    }
    matching.first = entry
  }

  /// Encodes an event and queues it for the group's members.
  private func deliver(_ match: TransactionMatches.Element, of entry: MatchingQueue.Entry) {
    guard let group = groups[match.group] else { return }
    matching.spend(MatchingQueue.event)
    let change = entry.batch.changes[match.change].marked(endsTransaction: match.isLast)
    guard let event = encode(change, for: group, match.group) else { return }
    deliveries.append(event, to: match.group, count: index.members(of: match.group).count, before: entry.before)
  }

  /// The group's event for a change; nil when it comes later, from an evaluation that waits.
  private func encode(_ change: Change, for group: any FeedGroup, _ id: GroupID) -> FeedEvent? {
    if evaluating.isEmpty || evaluating[id] == nil {
      writer = JSONWriter(reusing: writer.bytes)
      if group.encode(change, into: &writer) {
        counters.add(.payloadEncodings)
        return event(change, writer.bytes, for: group)
      }
    }
    evaluateLater(change, group, id)
    return nil
  }
}
