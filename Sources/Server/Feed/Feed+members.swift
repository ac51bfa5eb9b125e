package import MartletChangeFeed
package import MartletVocabulary

extension Feed {
  /// Enters a subscription into the index: every later change that concerns it is written to it.
  package func add(_ member: Member, to group: any FeedGroup, key: GroupKey) throws(SubscriptionIndexError) {
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
  package func remove(_ member: Member) {
    if member.isCatchingUp { readers[ObjectIdentifier(member.subscriber)]?.remove(member) }
    guard let id = member.id else { return }
    member.id = nil
    guard index.remove(id) != nil else { return }
    if index.key(of: id.group) == nil {
      groups[id.group] = nil
      evaluations.remove(id.group)
    }
    counters.add(.subscriptionsEnded)
  }

  /// Declares a member live that begins where the feed is.
  package func begin(_ member: Member) {
    member.subscriber.caughtUp(member, at: cursor(at: max(member.since, settled)))
  }

  /// Has a member read on from an offset, which `judge` has found valid, until it is live. `owesReady` is false for a
  /// member that was live before.
  package func catchUp(_ member: Member, after offset: Int64, owesReady: Bool = true) {
    member.owesReady = owesReady
    member.since = offset
    reader(for: member.subscriber).add(member)
    resume(member.subscriber)
  }

  /// Reports a hole that cannot be filled, and lets the member continue where the feed is.
  package func declareGap(_ member: Member, _ reason: GapReason, from: Cursor?, owesReady: Bool = false) {
    counters.add(.gaps)
    if owesReady { member.owesReady = true }
    member.since = applied
    member.subscriber.gap(member, reason, from: from, to: cursor)
    if member.id != nil { sayReady(member) }
  }

  /// Calls `caughtUp` if that has not been done.
  func sayReady(_ member: Member) {
    guard member.owesReady else { return }
    member.owesReady = false
    begin(member)
  }

  // MARK: Subscribers

  /// Continues the catch-up of a subscriber's members, as far as there is room.
  package func resume(_ subscriber: any Subscriber) {
    readers[ObjectIdentifier(subscriber)]?.pump()
  }

  /// Forgets a subscriber whose connection has ended; its members have to be removed.
  package func end(_ subscriber: any Subscriber) {
    readers.removeValue(forKey: ObjectIdentifier(subscriber))?.stop()
  }

  /// Everything up to here has been written to every member of the subscriber.
  package func position(of subscriber: any Subscriber) -> Cursor {
    let behind = subscriber.members(of: self).compactMap { member in
      member.isCatchingUp ? member.since : firstEvaluation(for: member).map { $0 - 1 }
    }
    return cursor(at: Progress.position(applied: settled, catchingUp: behind))
  }

  func reader(for subscriber: any Subscriber) -> CatchUpReader {
    if let known = readers[ObjectIdentifier(subscriber)] { return known }
    let reader = CatchUpReader(subscriber, in: self)
    readers[ObjectIdentifier(subscriber)] = reader
    return reader
  }

  /// The offset up to which a member has been served that is not written to from now on.
  func servedOffset(of member: Member) -> Int64 {
    max(member.since, min(settled, firstEvaluation(for: member).map { $0 - 1 } ?? settled))
  }

  /// The offset of the first change whose payload for the member is still being made.
  private func firstEvaluation(for member: Member) -> Int64? {
    member.id.flatMap { evaluations.firstOffset(for: $0.group) }
  }
}
