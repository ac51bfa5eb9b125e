/// Which commits the live queries have, for those whose first rows are read on another connection: these are of the
/// same state when no commit can have become visible that the live queries do not have, and they have got none since.
struct CommitFront {
  /// How often the live queries were given what had changed.
  private(set) var deliveries = 0
  /// The last entry of the journal that they have.
  private var entry: Int64 = 0
  /// Whether a commit may be visible that they do not have.
  private(set) var isMoving = false
  /// What waits until they have it.
  private var waiting: [@Sendable () -> Void] = []

  /// A commit is about to become visible; or it has failed.
  mutating func move(_ begins: Bool) { isMoving = begins }

  /// The live queries have everything up to an entry of the journal.
  mutating func arrive(at entry: Int64) {
    deliveries += 1
    self.entry = entry
    isMoving = false
  }

  /// Whether a snapshot has what the live queries have.
  ///
  /// - Parameters:
  ///   - deliveries: how many there had been before the snapshot began.
  ///   - entry: the last entry of the journal that the snapshot has.
  func isOf(deliveries: Int, entry: Int64) -> Bool {
    !isMoving && self.deliveries == deliveries && self.entry == entry
  }

  /// Calls `body` once the commit that may be visible has been delivered. False when there is none.
  mutating func wait(_ body: @escaping @Sendable () -> Void) -> Bool {
    guard isMoving else { return false }
    waiting.append(body)
    return true
  }

  /// What has waited, once there is nothing to wait for.
  mutating func takeWaiting() -> [@Sendable () -> Void] {
    guard !isMoving else { return [] }
    defer { waiting = [] }
    return waiting
  }
}
