internal import CMartletSystem
internal import MartletRuntime

/// The system's readiness queue, with a waker that other threads may use. Linux: epoll and an eventfd.
///
/// Level-triggered, for three reasons: a connection costs one `recv` per readiness and not a second one to see EAGAIN;
/// what a turn leaves unread is reported again, so that one busy peer cannot starve the others; and pausing a reader
/// is a change of interest, with no edge to lose. The waker alone is edge-triggered, so that it need not be read empty.
///
/// A port to kqueue implements these eleven members. Confined to the loop's thread, except the waker.
struct Poller {
  private let descriptor: Int32
  /// Ends waits from other threads; handed out, because the poller itself is the loop's alone.
  let waker: Waker
  /// Comes back once after everything that was ready when it was set.
  private let mark: Waker
  /// Events gathered by the last `wait`; `capacity` bounds how many one turn takes.
  private var events: [martlet_event]

  private static let wakerToken = UInt64.max
  private static let markToken = UInt64.max - 1

  init(capacity: Int) throws(SocketError) {
    descriptor = try SocketError.check(martlet_poller_open(), "epoll_create")
    waker = Waker(descriptor: try SocketError.check(martlet_waker_open(), "eventfd"))
    mark = Waker(descriptor: try SocketError.check(martlet_waker_open(), "eventfd"))
    events = Array(repeating: martlet_event(token: 0, readiness: 0), count: min(max(capacity, 1), 256))
    _ = try SocketError.check(
      martlet_poller_add(descriptor, waker.descriptor, Readiness.readable.rawValue, Self.wakerToken, 1), "epoll_ctl")
    _ = try SocketError.check(
      martlet_poller_add(descriptor, mark.descriptor, Readiness.readable.rawValue, Self.markToken, 1), "epoll_ctl")
  }

  func add(_ watched: Int32, _ interest: Readiness, token: UInt64) -> Bool {
    martlet_poller_add(descriptor, watched, interest.rawValue, token, 0) == 0
  }

  func modify(_ watched: Int32, _ interest: Readiness, token: UInt64) {
    _ = martlet_poller_modify(descriptor, watched, interest.rawValue, token)
  }

  func remove(_ watched: Int32) {
    _ = martlet_poller_remove(descriptor, watched)
  }

  /// Waits at most `milliseconds` (negative: for ever) and answers how many events there are; the waker's counts too.
  mutating func wait(milliseconds: Int32) -> Int {
    let capacity = Int32(truncatingIfNeeded: events.count)
    // The buffer is valid for the call and as long as `capacity` says.
    let count = unsafe events.withUnsafeMutableBufferPointer { buffer in
      unsafe martlet_poller_wait(descriptor, buffer.baseAddress, capacity, milliseconds)
    }
    // EINTR is an empty turn; the caller comes back by itself.
    return max(0, Int(count))
  }

  /// Event `index` of the last `wait`; nil for the waker's own and the mark.
  func event(_ index: Int) -> (token: UInt64, readiness: Readiness)? {
    let event = events[index]
    guard event.token < Self.markToken else { return nil }
    return (event.token, Readiness(rawValue: event.readiness))
  }

  /// How many events one `wait` gives at most.
  var capacity: Int { events.count }

  /// Puts the mark after everything that is ready.
  func setMark() {
    mark.wake()
  }

  /// Whether the mark is among the first `count` events of the last `wait`.
  func hasMark(among count: Int) -> Bool {
    events[..<count].contains { $0.token == Self.markToken }
  }

  func close() {
    _ = martlet_close(mark.descriptor)
    _ = martlet_close(waker.descriptor)
    _ = martlet_close(descriptor)
  }
}

/// Ends the present or the next wait of a poller, from any thread.
struct Waker: Sendable {
  fileprivate let descriptor: Int32

  func wake() {
    _ = martlet_waker_wake(descriptor)
  }
}
