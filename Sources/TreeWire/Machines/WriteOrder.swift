/// The ids of writes in their order: which one is the oldest without an answer, and which is to be sent next. Each step
/// costs the same, however many writes wait.
struct WriteOrder: Sendable {
  private var ids: [Int64] = []
  /// The oldest write without an answer.
  private var head = 0
  /// The next write to send on the present connection.
  private var cursor = 0
  /// Writes that were sent on the present connection and not answered.
  private(set) var inFlight = 0

  /// The oldest write without an answer.
  var first: Int64? { head < ids.count ? ids[head] : nil }

  mutating func append(_ id: Int64) { ids.append(id) }

  /// The next write to send, among those that still wait.
  mutating func next(where waits: (Int64) -> Bool) -> Int64? {
    while cursor < ids.count {
      let id = ids[cursor]
      cursor += 1
      guard waits(id) else { continue }
      inFlight += 1
      return id
    }
    return nil
  }

  /// Writes were dropped; the answers to those that were sent still come.
  mutating func dropped(_ waits: (Int64) -> Bool) { advance(waits) }

  /// A write was answered.
  mutating func answered(_ waits: (Int64) -> Bool) {
    inFlight = max(0, inFlight - 1)
    advance(waits)
  }

  /// A new connection: everything that waits is sent again.
  mutating func restart(_ waits: (Int64) -> Bool) {
    advance(waits)
    cursor = head
    inFlight = 0
  }

  private mutating func advance(_ waits: (Int64) -> Bool) {
    while head < ids.count, !waits(ids[head]) { head += 1 }
    guard head > 1_024 else { return }
    ids.removeFirst(head)
    cursor = max(0, cursor - head)
    head = 0
  }
}
