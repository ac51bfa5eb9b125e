internal import MartletChangeFeed

/// Events for one group, on their way to its members.
struct GroupDelivery {
  let group: GroupID
  fileprivate(set) var events: [FeedEvent]
  /// The offset before the first event's batch.
  let before: Int64
  /// Members below this position have not been visited.
  fileprivate(set) var remaining: Int
  /// The members of the group when the last event came.
  fileprivate(set) var count: Int
  fileprivate var isStarted = false
}

/// The deliveries of a feed, oldest first.
///
/// A group has at most two: one that members are being visited for, and one that collects the events that came since.
/// A visit to a member writes the events of both, so that a group larger than a slice still costs one send per
/// member and visit, however many batches arrive meanwhile; the second delivery then skips the members that have been
/// served.
struct DeliveryQueue {
  private var queue: [GroupDelivery] = []
  /// Deliveries before this position are done; the array is cut when half of it is.
  private var start = 0
  /// Deliveries that were cut from the array.
  private var cut = 0
  /// The newest delivery of each group, counted from the first that was ever queued.
  private var newest: [GroupID: Int] = [:]
  /// The smallest `before` of an event that was queued after a later one, because its evaluation had to wait.
  private var late: Int64?
  /// Called with each delivery whose members have all been visited; nil where nothing asks for it.
  var onDone: ((GroupDelivery) -> Void)?

  var isEmpty: Bool { start == queue.count }

  /// Everything up to here has been written to every member that is not catching up; nil when nothing is queued.
  var settled: Int64? {
    guard !isEmpty else { return nil }
    return min(queue[start].before, late ?? .max)
  }

  /// Queues an event for the `count` members of a group.
  mutating func append(_ event: FeedEvent, to group: GroupID, count: Int, before: Int64) {
    if let last = queue.last, !isEmpty, before < last.before { late = min(late ?? before, before) }
    if let number = newest[group], !queue[number - cut].isStarted {
      queue[number - cut].events.append(event)
      queue[number - cut].remaining = count
      queue[number - cut].count = count
      return
    }
    newest[group] = cut + queue.count
    queue.append(GroupDelivery(group: group, events: [event], before: before, remaining: count, count: count))
  }

  /// The first delivery; there must be one. From now on later events of its group go to another.
  mutating func begin() -> GroupDelivery {
    queue[start].isStarted = true
    return queue[start]
  }

  /// The events of the first delivery's group that came since it was begun.
  var later: [FeedEvent] {
    guard let number = newest[queue[start].group], number != cut + start else { return [] }
    return queue[number - cut].events
  }

  /// Members of the first delivery's group have been visited down to a position; at zero the delivery is done.
  mutating func visited(downTo position: Int) {
    queue[start].remaining = position
    guard position == 0 else { return }
    onDone?(queue[start])
    let group = queue[start].group
    if newest[group] == cut + start { newest[group] = nil }
    start += 1
    if isEmpty { late = nil }
    guard start == queue.count || (start > 32 && start * 2 > queue.count) else { return }
    queue.removeFirst(start)
    cut += start
    start = 0
  }
}
