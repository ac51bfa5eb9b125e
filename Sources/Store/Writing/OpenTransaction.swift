internal import MartletChangeFeed

/// The write in progress, as its participants see it: they change their tables on the open connection and append what
/// changed. Records are a participant; a tree of values can be another.
final class OpenTransaction {
  /// Calendar time of the write, in milliseconds since 1970.
  let at: Int64
  private let largest: Int
  /// Changes that relations with `onDelete` may add.
  let largestCascade: Int
  /// Of the changes, those that such relations added.
  private(set) var cascaded = 0
  private let expired: (() -> Bool)?
  private(set) var changes: [Change.Body] = []

  /// `largest` bounds the changes apart from those of relations; `expired` returns whether the write's time is up.
  init(at: Int64, largest: Int, largestCascade: Int, expired: (() -> Bool)? = nil) {
    self.at = at
    self.largest = largest
    self.largestCascade = largestCascade
    self.expired = expired
  }

  /// Appends a change, in the order subscribers will see.
  func append(_ change: Change.Body, isCascade: Bool = false) throws(StoreError) {
    if isCascade {
      cascaded += 1
    } else if changes.count - cascaded >= largest {
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

  /// A moment to go back to.
  struct Mark {
    fileprivate var changes: Int
    fileprivate var cascaded: Int
  }

  var mark: Mark { Mark(changes: changes.count, cascaded: cascaded) }

  /// Takes back what was appended since `mark`.
  func truncate(to mark: Mark) {
    changes.removeLast(changes.count - mark.changes)
    cascaded = mark.cascaded
  }
}
