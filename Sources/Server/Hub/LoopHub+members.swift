internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletRuntime
internal import MartletStore
internal import MartletVocabulary

extension LoopHub {
  /// Enters a subscription into the index: from here on every change it concerns reaches it.
  func add(_ member: Member, to group: GroupState, key: GroupKey) throws(SubscriptionIndexError) {
    let id = try index.add(member, key: key, interests: group.interests)
    member.id = id
    if let known = groups[id.group] {
      member.group = known
    } else {
      groups[id.group] = group
      member.group = group
    }
    counters.add(.subscriptions)
  }

  /// Takes a subscription out; its group goes with the last member.
  func remove(_ member: Member) {
    guard let id = member.id else { return }
    member.id = nil
    guard index.remove(id) != nil else { return }
    if index.key(of: id.group) == nil { groups[id.group] = nil }
    counters.add(.subscriptionsEnded)
  }

  /// The offset a member that stops being served now has been served up to: behind everything still on its way.
  func servedOffset(of member: Member) -> Int64 {
    var offset = settled
    if let first = member.group?.waiting.first { offset = min(offset, first.offset - 1) }
    return max(member.since, offset)
  }

  /// Reads a page of the log that holds what follows `offset`; many that ask for the same page share one read.
  func readLog(after offset: Int64, _ completion: @escaping (GapReason?) -> Void) {
    let position = node.store.position
    guard offset + 1 >= position.firstRetained else { return completion(.retention) }
    // Pages begin at round offsets, so that returning clients with different cursors meet in them.
    let size = Int64(node.limits.catchUpChanges)
    let round = max(offset / size * size, position.firstRetained - 1)
    let start = pageIsShort[round] == true ? offset : round
    if logReaders[start] != nil {
      logReaders[start]?.append(completion)
      return
    }
    logReaders[start] = [completion]
    counters.add(.catchUpReads)
    let count = node.limits.catchUpChanges
    let request = ReadRequest { snapshot throws(StoreError) in
      try snapshot.log(after: start, changes: count)
    } completion: { [bound] (result: Result<LogRange, StoreError>) in
      bound.value.receivedPage(result, after: start, wanted: offset)
    }
    node.store.read([request], to: destination)
  }

  private func receivedPage(_ result: Result<LogRange, StoreError>, after start: Int64, wanted: Int64) {
    var gap: GapReason?
    switch result {
    case .success(.changes(let changes, _)):
      pages.keep(changes, after: start)
      // Large records end a page early, by bytes; the next reader asks from its own offset.
      if let last = changes.last?.offset, last <= wanted { pageIsShort[start] = true }
    case .success(.gap(let reason)): gap = reason
    case .failure:
      // Overloaded or closing: the readers ask again, after a breath, while their connections live.
      let waiting = logReaders.removeValue(forKey: start) ?? []
      loop.schedule(at: loop.now + .milliseconds(50)) { for reader in waiting { reader(nil) } }
      return
    }
    for reader in logReaders.removeValue(forKey: start) ?? [] { reader(gap) }
  }
}
