/// The writes of one connection that have not ended, and the reads that the client sent after them. Confined to the
/// connection's loop.
///
/// A client that writes and reads without waiting gets what it wrote. A read does not wait for writes that were sent
/// after it.
struct TreeWriteOrder {
  private var last = 0
  private var running: Set<Int> = []
  /// In the order in which they were sent; each waits for the writes up to its number.
  private var reads: [(after: Int, run: () -> Void)] = []

  /// Whether a write has not ended.
  var areRunning: Bool { !running.isEmpty }

  /// A write has been sent. Returns its number, which `end` takes.
  mutating func begin() -> Int {
    last += 1
    running.insert(last)
    return last
  }

  /// Keeps `read` until all writes have ended that are running; false when there is none.
  mutating func hold(_ read: @escaping () -> Void) -> Bool {
    if running.isEmpty { return false }
    reads.append((last, read))
    return true
  }

  /// A write has ended. Returns the reads that waited for it and wait for no other.
  mutating func end(_ number: Int) -> [() -> Void] {
    running.remove(number)
    let first = running.min() ?? .max
    let due = reads.prefix { $0.after < first }.map(\.run)
    reads.removeFirst(due.count)
    return due
  }
}
