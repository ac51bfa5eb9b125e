internal import MartletChangeFeed

/// The write in progress, as its participants see it: they change their tables on the open connection and append what
/// changed. Records are a participant; a tree of values can be another.
final class OpenTransaction {
  /// Calendar time of the write, in milliseconds since 1970.
  let at: Int64
  private let largest: Int
  private let expired: (() -> Bool)?
  private(set) var changes: [Change.Body] = []

  /// `largest` bounds the changes; `expired` answers whether the write's time is up.
  init(at: Int64, largest: Int, expired: (() -> Bool)? = nil) {
    self.at = at
    self.largest = largest
    self.expired = expired
  }

  /// Appends a change, in the order subscribers will see.
  func append(_ change: Change.Body) throws(StoreError) {
    guard changes.count < largest else {
      throw StoreError(.invalid, "one write makes more than \(largest) changes")
    }
    try checkTime()
    changes.append(change)
  }

  /// Stops a write whose time is up.
  func checkTime() throws(StoreError) {
    if expired?() == true { throw StoreError(.deadline, "the transaction took longer than it may hold the writer") }
  }

  /// Whether the write's time is up.
  var isExpired: Bool { expired?() == true }

  /// Takes back what was appended after the first `count` changes.
  func truncate(to count: Int) {
    changes.removeLast(changes.count - count)
  }
}
