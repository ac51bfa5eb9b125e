internal import MartletChangeFeed
internal import MartletRuntime
internal import MartletStore
internal import MartletVocabulary

/// What a feed may still do in a turn of its loop.
struct DeliveryBudget {
  /// The turn, by the loop's clock.
  private var turn: Instant?
  private(set) var sends = 0
  private(set) var visits = 0

  var isSpent: Bool { sends <= 0 || visits <= 0 }

  /// Renews the budget in another turn than the last one.
  mutating func renew(_ limits: FeedLimits, at turn: Instant, isOtherTurn: Bool = false) {
    guard isOtherTurn || turn != self.turn else { return }
    self.turn = turn
    sends = limits.sendsPerTurn
    visits = limits.deliveriesPerTurn
  }

  /// A member was visited, and written so many events.
  mutating func spend(_ events: Int) {
    visits -= max(events, 1)
    if events > 0 { sends -= 1 }
  }
}

extension Feed {
  /// Writes queued events to members, as many as the turn's budget allows; the rest follows in later turns, so that the
  /// loop serves other connections in between.
  func deliver() {
    if isDelivering || isContinued { return }
    budget.renew(limits, at: loop.now)
    isDelivering = true
    while !deliveries.isEmpty, !budget.isSpent { deliverSlice() }
    isDelivering = false
    largestTurn = max(largestTurn, limits.sendsPerTurn - budget.sends)
    guard !deliveries.isEmpty else { return }
    isContinued = true
    let bound = bound
    loop.execute { bound.value.continueDelivering() }
  }

  private func continueDelivering() {
    isContinued = false
    budget.renew(limits, at: loop.now, isOtherTurn: true)
    deliver()
  }

  /// Serves members of the first delivery from the end downwards, so that removals in between skip no member; one that
  /// moves into a hole is met twice, and its offset shows that it has been served.
  private func deliverSlice() {
    let delivery = deliveries.begin()
    let later = deliveries.later
    let members = index.members(of: delivery.group)
    var delays = SliceDelays(until: store.moment)
    var delivered = 0
    var position = min(delivery.remaining, members.count)
    if position == 0 { budget.spend(0) }
    while position > 0, !budget.isSpent {
      position -= 1
      let written = write(delivery.events, later, to: members[position], &delays)
      budget.spend(written)
      delivered += written
    }
    delays.add()
    counters.add(.deliveries, delivered)
    deliveries.visited(downTo: position)
  }

  /// Writes the events that the member has not had, and returns how many. Nothing is allocated.
  private func write(
    _ events: [FeedEvent], _ later: [FeedEvent], to member: Member, _ delays: inout SliceDelays
  ) -> Int {
    if member.isCatchingUp { return 0 }
    let subscriber = member.subscriber
    var written = write(events, to: member, subscriber, &delays)
    if !later.isEmpty { written += write(later, to: member, subscriber, &delays) }
    if written > 0, subscriber.isLagging { stopWriting(to: subscriber) }
    return written
  }

  private func write(
    _ events: [FeedEvent], to member: Member, _ subscriber: any Subscriber, _ delays: inout SliceDelays
  ) -> Int {
    var first = 0
    while first < events.count, events[first].offset <= member.since { first += 1 }
    guard first < events.count else { return 0 }
    subscriber.write(events, from: first, to: member)
    delays.note(events, from: first, by: subscriber.meter)
    member.since = events[events.count - 1].offset
    return events.count - first
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
