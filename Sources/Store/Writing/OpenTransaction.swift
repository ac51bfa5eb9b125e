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
  /// Of the changes, those that are parts of one that was counted.
  private var further = 0
  private let expired: (() -> Bool)?

  /// One entry to be, in the order of the log.
  struct Step {
    var body: EntryBody
    /// Its binary form without the mark of a transaction's end, where it was coded before.
    var entry: [UInt8]?
    /// Whether the transaction that subscribers see ends here; the last step always ends one.
    var endsTransaction = false
  }
  private(set) var steps: [Step] = []

  /// `largest` bounds the changes apart from those of relations; `expired` returns whether the write's time is up.
  init(at: Int64, largest: Int, largestCascade: Int, expired: (() -> Bool)? = nil) {
    self.at = at
    self.largest = largest
    self.largestCascade = largestCascade
    self.expired = expired
  }

  /// Checks that the write may make another change, or `count` of them, before its tables are changed.
  func reserve(_ count: Int = 1, isCascade: Bool = false) throws(StoreError) {
    if !isCascade, steps.count - cascaded - further > largest - count {
      throw StoreError(.invalid, "one write makes more than \(largest) changes (the limit store.transactionChanges)")
    }
    try checkTime()
  }

  /// Appends a change for which there is room, in the order subscribers will see. A further part of the change before
  /// it needs no room of its own.
  func append(_ change: Change.Body, entry: [UInt8]? = nil, isCascade: Bool = false, isFurther: Bool = false) {
    if isCascade { cascaded += 1 }
    if isFurther { further += 1 }
    steps.append(Step(body: .change(change), entry: entry))
  }

  /// Appends an entry for the fold. It is a transaction of its own, after what was appended so far.
  func append(forFold body: EntryBody) {
    endTransaction()
    steps.append(Step(body: body, endsTransaction: true))
  }

  /// Ends the transaction that subscribers see, not the commit.
  func endTransaction() {
    if !steps.isEmpty { steps[steps.count - 1].endsTransaction = true }
  }

  /// Stops a write whose time is up.
  func checkTime() throws(StoreError) {
    if expired?() == true { throw StoreError(.deadline, "the transaction took longer than it may hold the writer") }
  }

  /// Whether the write's time is up.
  var isExpired: Bool { expired?() == true }

  /// A moment to go back to.
  struct Mark {
    fileprivate var steps: Int
    fileprivate var cascaded: Int
    fileprivate var further: Int
  }

  var mark: Mark { Mark(steps: steps.count, cascaded: cascaded, further: further) }

  /// Takes back what was appended since `mark`.
  func truncate(to mark: Mark) {
    steps.removeLast(steps.count - mark.steps)
    cascaded = mark.cascaded
    further = mark.further
  }
}
