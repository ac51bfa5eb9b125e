/// The newest batches, bounded by bytes: where reconnecting and slow members catch up without reading the log.
///
/// A value; the store guards one and hands out what readers ask for. Batches follow each other without a hole.
package struct Ring: Sendable {
  /// Bytes of batches kept at most, by their size in the log. A batch that alone is larger is read from the log.
  package let capacity: Int
  package private(set) var byteCount = 0

  /// Nil for those that have left: their memory goes at once, their places with the next cut.
  private var batches: [ChangeBatch?] = []
  /// Batches before this position have left; the array is cut when half of it has.
  private var start = 0

  package init(capacity: Int) {
    self.capacity = capacity
  }

  package var count: Int { batches.count - start }
  /// The first offset that can be read here; nil while the ring is empty.
  package var firstOffset: Int64? { start < batches.count ? batches[start]?.firstOffset : nil }
  package var lastOffset: Int64? { start < batches.count ? batches[batches.count - 1]?.lastOffset : nil }

  /// Adds the next batch and lets the oldest go, which are returned. A batch that does not follow the last one (the
  /// ring was passed over) empties the ring first: what it holds is always without a hole.
  @discardableResult
  package mutating func append(_ batch: ChangeBatch) -> [ChangeBatch] {
    var gone: [ChangeBatch] = []
    if let lastOffset, lastOffset + 1 != batch.firstOffset {
      gone = batches[start...].compactMap { $0 }
      removeAll()
    }
    batches.append(batch)
    byteCount += batch.byteCount
    while byteCount > capacity, start < batches.count {
      byteCount -= batches[start]?.byteCount ?? 0
      if let oldest = batches[start] { gone.append(oldest) }
      batches[start] = nil
      start += 1
    }
    if start > 32, start * 2 > batches.count {
      batches.removeFirst(start)
      start = 0
    }
    return gone
  }

  package mutating func removeAll() {
    batches.removeAll()
    start = 0
    byteCount = 0
  }

  /// The batches after `offset`, in order: at least one when there is one, then as many as fit `maximumBytes`. Nil
  /// when the ring does not reach back that far; empty when nothing follows.
  package func batches(after offset: Int64, maximumBytes: Int) -> [ChangeBatch]? {
    guard let firstOffset, let lastOffset else { return nil }
    guard offset + 1 >= firstOffset else { return nil }
    guard offset < lastOffset else { return [] }
    var low = start
    var high = batches.count - 1
    while low < high {
      let middle = (low + high) / 2
      if let batch = batches[middle], batch.lastOffset > offset { high = middle } else { low = middle + 1 }
    }
    var found: [ChangeBatch] = []
    var bytes = 0
    for case let batch? in batches[low...] {
      guard found.isEmpty || batch.byteCount <= maximumBytes - bytes else { break }
      bytes += batch.byteCount
      found.append(batch)
    }
    return found
  }
}
