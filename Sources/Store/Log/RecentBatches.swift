package import MartletChangeFeed
internal import MartletRuntime

/// The newest batches in memory, shared by all loops, for members that are a little behind. From any thread.
package final class RecentBatches: Sendable {
  private let ring: Lock<Ring>

  /// Keeps the newest batches that fit `bytes` together.
  package init(bytes: Int) {
    ring = Lock(Ring(capacity: bytes))
  }

  /// Adds a batch; the oldest ones that it leaves no room for are returned, so that their memory is not given back
  /// under the lock.
  func append(_ batch: ChangeBatch) -> [ChangeBatch] {
    ring.withLock { $0.append(batch) }
  }

  /// Forgets all batches; members that catch up read the log.
  func removeAll() {
    ring.withLock { $0.removeAll() }
  }

  /// The first offset at hand; nil while there is none.
  package var firstOffset: Int64? { ring.withLock { $0.firstOffset } }

  /// The batches that hold the changes after `offset`, oldest first: at least one when there is one, then as many as
  /// fit `bytes`. Empty when there are none yet, nil when the ring no longer reaches back that far and the log must be
  /// read. The first batch may begin at or before `offset`.
  package func batches(after offset: Int64, bytes: Int = .max) -> [ChangeBatch]? {
    ring.withLock { $0.batches(after: offset, maximumBytes: bytes) }
  }
}
