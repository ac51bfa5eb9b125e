package import MartletChangeFeed
internal import Synchronization

/// The newest batches in memory, shared by all loops, for members that are a little behind.
///
/// Bounded by changes; whole batches leave at the old end. From any thread.
package final class RecentBatches: Sendable {
  private struct Ring {
    var batches: [ChangeBatch] = []
    /// Index of the oldest batch; the array is shortened when half of it is behind.
    var start = 0
    var changes = 0
  }

  private let largest: Int
  private let ring = Mutex(Ring())

  /// Keeps the newest batches with about `largest` changes together.
  package init(largest: Int) {
    self.largest = largest
  }

  func append(_ batch: ChangeBatch) {
    ring.withLock { ring in
      ring.batches.append(batch)
      ring.changes += batch.changes.count
      while ring.changes > largest, ring.start < ring.batches.count - 1 {
        ring.changes -= ring.batches[ring.start].changes.count
        ring.start += 1
      }
      if ring.start * 2 > ring.batches.count {
        ring.batches.removeFirst(ring.start)
        ring.start = 0
      }
    }
  }

  /// The batches that hold the changes after `offset`, oldest first; empty when there are none yet, nil when the ring
  /// no longer reaches back that far and the log must be read. The first batch may begin at or before `offset`.
  package func batches(after offset: Int64) -> [ChangeBatch]? {
    ring.withLock { ring in
      let kept = ring.batches[ring.start...]
      guard let oldest = kept.first, let newest = kept.last else { return nil }
      if offset >= newest.lastOffset { return [] }
      guard offset + 1 >= oldest.firstOffset else { return nil }
      // Batches are in order: the first one that ends behind the offset.
      var low = ring.start
      var high = ring.batches.count - 1
      while low < high {
        let middle = (low + high) / 2
        if ring.batches[middle].lastOffset > offset { high = middle } else { low = middle + 1 }
      }
      return Array(ring.batches[low...])
    }
  }
}
