internal import MartletChangeFeed
internal import MartletRuntime

/// Events of one batch for one group, on their way to its members.
struct Delivery {
  let group: GroupID
  var events: [FeedEvent]
  /// The offset before this delivery's batch.
  let before: Int64
  /// Members below this position have not been visited.
  var remaining: Int

  /// Events for the `count` members of a group.
  init(of events: [FeedEvent], to group: GroupID, count: Int, before: Int64) {
    self.group = group
    self.events = events
    self.before = before
    remaining = count
  }
}

extension Feed {
  /// Writes queued events to members, at most `deliveriesPerTurn` a turn.
  func deliver() {
    if isDelivering { return }
    isDelivering = true
    defer { isDelivering = false }
    var budget = limits.deliveriesPerTurn
    while budget > 0, !deliveries.isEmpty {
      budget -= deliverSlice(budget)
      if deliveries[0].remaining == 0 { deliveries.removeFirst() }
    }
    guard !deliveries.isEmpty else { return }
    let bound = bound
    loop.execute { bound.value.deliver() }
  }

  /// Serves members of the first delivery from the end downwards, so that removals in between skip no member; one that
  /// moves into a hole is met twice, and its offset shows that it has been served.
  private func deliverSlice(_ budget: Int) -> Int {
    let group = deliveries[0].group
    let members = index.members(of: group)
    var position = min(deliveries[0].remaining, members.count)
    var used = 0
    while position > 0, used < budget {
      position -= 1
      used += write(deliveries[0].events, to: members[position])
    }
    deliveries[0].remaining = position
    return max(used, 1)
  }

  /// Writes all events that the member has not had. Nothing is allocated.
  private func write(_ events: [FeedEvent], to member: Member) -> Int {
    if member.isCatchingUp { return 1 }
    let subscriber = member.subscriber
    // By position: without optimisation an iterator allocates for each element, and tests count that.
    for position in events.indices {
      let event = events[position]
      guard event.offset > member.since else { continue }
      subscriber.write(event, to: member)
      member.since = event.offset
      counters.add(.deliveries)
    }
    if subscriber.isLagging { stopWriting(to: subscriber) }
    return events.count
  }

  /// Has all members of a lagging connection read on from their offsets once it has drained.
  private func stopWriting(to subscriber: any Subscriber) {
    counters.add(.lagging)
    let reader = reader(for: subscriber)
    for member in subscriber.members(of: self) where !member.isCatchingUp {
      member.since = servedOffset(of: member)
      reader.add(member)
    }
    subscriber.continueNextTurn()
  }
}
