package import MartletVocabulary

/// One thing a subscription hands to its consumer, still encoded.
package struct SubscriptionEvent: Sendable {
  package var payload: [UInt8]
  package var cursor: Cursor?
  /// Whether it is the last of its transaction, as far as the server says.
  package var endsTransaction = true
  /// Set on the elements that stand for missing ones; their payload is empty.
  package var gap: EventGap?
  /// Set on the elements that report the subscription's state, for streams that ask for them; their payload is empty.
  package var life: SubscriptionLife?
  /// Set on the elements that say that everything up to here has come, for streams that ask for them; their payload is
  /// empty.
  package var mark: SubscriptionMark?

  package init(payload: [UInt8], cursor: Cursor? = nil, endsTransaction: Bool = true) {
    self.payload = payload
    self.cursor = cursor
    self.endsTransaction = endsTransaction
  }

  package init(gap: EventGap) {
    payload = []
    self.gap = gap
    cursor = gap.to
  }

  package init(life: SubscriptionLife) {
    payload = []
    self.life = life
  }

  package init(mark: SubscriptionMark) {
    payload = []
    self.mark = mark
  }
}

/// A server has sent everything up to `cursor`, and sends every later event.
package struct SubscriptionMark: Sendable, Hashable {
  /// Nil for a subscription that cannot resume.
  package var cursor: Cursor?
  /// A digest of what the caller's rights let it see; nil where nothing restricts it.
  package var view: String?

  package init(cursor: Cursor?, view: String?) {
    self.cursor = cursor
    self.view = view
  }
}

/// The events that wait for a consumer, within bounds. A pure value.
package struct EventBuffer: Sendable {
  package enum Appended: Equatable, Sendable { case kept, full, dropped, overflowed }

  /// Changed only before anything is in it.
  package var policy: BufferPolicy
  /// Whether gaps with only state changes between them become one; for streams that report their state.
  package var joinsGaps = false
  private var events: [SubscriptionEvent] = []
  private var head = 0
  package private(set) var bytes = 0
  /// The most events that ever waited.
  package private(set) var highWater = 0
  /// The place of the last event handed out, for gaps.
  private var handedOut: Cursor?

  package init(_ policy: BufferPolicy) {
    self.policy = policy
  }

  package var count: Int { events.count - head }
  package var isFull: Bool { count >= max(1, policy.events) || bytes >= max(1, policy.bytes) }
  /// Low enough that a paused reader continues: half of the bounds.
  package var hasRoom: Bool { count * 2 <= max(1, policy.events) && bytes * 2 <= max(1, policy.bytes) }

  /// Takes an event; gaps are always taken, they are what the bounds leave behind.
  package mutating func append(_ event: SubscriptionEvent) -> Appended {
    if joinsGaps, extendGap(with: event) { return .kept }
    if event.gap == nil, event.life == nil, event.mark == nil, isFull {
      switch policy.overflow {
      case .wait: break
      case .fail: return .overflowed
      case .dropNewest:
        dropNewest(event)
        return .dropped
      case .dropOldest:
        while isFull, dropOldest() {}
        push(event)
        return .dropped
      }
    }
    push(event)
    return isFull && policy.overflow == .wait ? .full : .kept
  }

  private mutating func push(_ event: SubscriptionEvent) {
    events.append(event)
    bytes += event.payload.count
    highWater = max(highWater, count)
  }

  private mutating func dropNewest(_ event: SubscriptionEvent) {
    if let last = events.last, count > 0, var gap = last.gap, gap.reason == .slowConsumer {
      gap.to = event.cursor
      gap.dropped = (gap.dropped ?? 0) + 1
      events[events.count - 1] = SubscriptionEvent(gap: gap)
    } else {
      let from = count > 0 ? events.last?.cursor : handedOut
      push(SubscriptionEvent(gap: EventGap(.slowConsumer, from: from, to: event.cursor, dropped: 1)))
    }
  }

  /// Puts a gap in the place of the oldest event, or makes the gap there one event longer. False when nothing is left.
  private mutating func dropOldest() -> Bool {
    guard count > 0 else { return false }
    var gap = EventGap(.slowConsumer, from: handedOut, dropped: 0)
    var victim = head
    if let known = events[head].gap {
      // A gap of any cause swallows what follows it; the first cause stays.
      gap = known
      victim = head + 1
      guard victim < events.count else { return false }
    }
    let dropped = events[victim]
    bytes -= dropped.payload.count
    gap.to = dropped.cursor ?? gap.to
    gap.dropped = (gap.dropped ?? 0) + (dropped.gap?.dropped ?? (dropped.life == nil ? 1 : 0))
    head = victim
    events[head] = SubscriptionEvent(gap: gap)
    // Room for one more is needed after the gap.
    return count > 1 || bytes > 0
  }

  /// Takes news of the subscription's life. Between the same two events a later interruption replaces the ones before
  /// it that has not been read, so that a connection that comes and goes fills no memory.
  package mutating func append(_ life: SubscriptionLife) {
    if life.isInterruption {
      let run = quietRun
      if let first = events[run].firstIndex(where: { $0.life?.isInterruption == true }) {
        events = events[..<first] + events[first...].filter { $0.life == nil }
      }
    }
    push(SubscriptionEvent(life: life))
  }

  /// The last waiting elements that are not events: gaps and news.
  private var quietRun: Range<Int> {
    var start = events.count
    while start > head, events[start - 1].life != nil || events[start - 1].gap != nil { start -= 1 }
    return start..<events.count
  }

  /// Extends a gap that already waits there, of the same cause and with no event after it. False when
  /// there is none.
  private mutating func extendGap(with event: SubscriptionEvent) -> Bool {
    guard let gap = event.gap, gap.dropped == nil else { return false }
    let last = events[quietRun].lastIndex { $0.gap?.reason == gap.reason && $0.gap?.dropped == nil }
    guard let last else { return false }
    events[last].gap?.to = gap.to
    events[last].cursor = gap.to ?? events[last].cursor
    return true
  }

  /// Puts news in front of everything that waits.
  package mutating func prepend(_ lives: [SubscriptionLife]) {
    events.insert(contentsOf: lives.map { SubscriptionEvent(life: $0) }, at: head)
  }

  package mutating func take() -> SubscriptionEvent? {
    guard count > 0 else { return nil }
    let event = events[head]
    events[head] = SubscriptionEvent(payload: [])
    head += 1
    bytes -= event.payload.count
    if let cursor = event.cursor { handedOut = cursor }
    if head == events.count || head >= 256 {
      events.removeFirst(head)
      head = 0
    }
    return event
  }

  package mutating func removeAll() {
    events = []
    head = 0
    bytes = 0
  }
}
