internal import MartletChangeFeed

/// Changes of large batches that have left the ring, whose memory is given back in parts: thousands of records take
/// milliseconds, for which no write should wait. Confined to the writer's executor.
final class RetiredChanges {
  private var lists: [[Change]] = []
  private let limits: StoreLimits

  init(_ limits: StoreLimits) {
    self.limits = limits
  }

  /// Takes batches that nothing else may hold.
  func add(_ batches: [ChangeBatch]) {
    for batch in batches where batch.changes.count > limits.groupOperations { lists.append(batch.changes) }
  }

  /// Lets go of as many changes as a slice of a large write has.
  func shed() {
    guard let last = lists.indices.last else { return }
    lists[last].removeLast(min(lists[last].count, max(1, limits.stagedRows)))
    if lists[last].isEmpty { lists.removeLast() }
  }
}
