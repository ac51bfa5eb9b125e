package import MartletVocabulary

/// How long events take from their commit until they are written to clients of one protocol. Confined to its loop.
package final class DeliveryMeter {
  /// Microseconds.
  package private(set) var delays = Histogram(Histogram.microseconds)

  package init() {}

  /// So many events were written with this delay.
  func add(_ delay: Duration, times: Int) {
    delays.add(delay.wholeMicroseconds, times: times)
  }
}

/// The delays of one slice of a delivery. Members that follow each other mostly have the same events in the same
/// protocol, so that a delay is computed once for all of them.
struct SliceDelays {
  private let now: Instant
  private var meter: DeliveryMeter?
  private var committed: Instant?
  private var times = 0

  /// - Parameter now: when the slice is written.
  init(until now: Instant) { self.now = now }

  /// Notes the events from position `first` on, which were written to one member.
  mutating func note(_ events: [FeedEvent], from first: Int, by meter: DeliveryMeter) {
    for position in first..<events.count {
      let committed = events[position].committed
      if meter !== self.meter || committed != self.committed {
        add()
        (self.meter, self.committed) = (meter, committed)
      }
      times += 1
    }
  }

  /// Adds what was noted to its meter. An event whose commit is no longer remembered has no delay.
  mutating func add() {
    if let meter, let committed { meter.add(now - committed, times: times) }
    times = 0
  }
}

/// When the newest groups were committed, by their last offsets.
package struct CommitTimes {
  private var times: [(last: Int64, committed: Instant)] = []
  /// The offset before the first group that is remembered.
  private var before: Int64 = .max

  /// The number of groups that are remembered.
  private let groups: Int

  package init(groups: Int) { self.groups = max(groups, 2) }

  package mutating func note(_ committed: Instant, from first: Int64, to last: Int64) {
    if times.isEmpty { before = first - 1 }
    times.append((last, committed))
    guard times.count > groups else { return }
    before = times[groups / 2 - 1].last
    times.removeFirst(groups / 2)
  }

  /// When the group with an offset was committed; nil when it is no longer remembered.
  package func time(of offset: Int64) -> Instant? {
    guard offset > before, let last = times.last, offset <= last.last else { return nil }
    // The newest is the one that is asked for.
    var found = last.committed
    for time in times.reversed() {
      if time.last < offset { break }
      found = time.committed
    }
    return found
  }
}
