internal import MartletChangeFeed

/// Pages of the log that were read for members behind the ring, so that many who return together share one read.
/// Confined to its loop.
struct LogPages {
  /// A stretch of the log without holes.
  private struct Page {
    var first: Int64
    var last: Int64
    var changes: [Change]
  }

  /// The most recently read last.
  private var pages: [Page] = []
  /// Pages kept: enough for the returning clients of one restart, bounded because each can have a MiB.
  private static let limit = 64

  /// Keeps a page that was read from the log behind `offset`.
  mutating func keep(_ changes: [Change], after offset: Int64) {
    guard let last = changes.last else { return }
    pages.removeAll { $0.first > offset && $0.last <= last.offset }
    pages.append(Page(first: offset + 1, last: last.offset, changes: changes))
    if pages.count > Self.limit { pages.removeFirst() }
  }

  /// The changes behind `offset` that a page holds, at least one; nil when they have to be read.
  func changes(after offset: Int64) -> ArraySlice<Change>? {
    guard let page = pages.last(where: { $0.first <= offset + 1 && $0.last > offset }) else { return nil }
    return page.changes.following(offset)
  }
}

extension [Change] {
  /// The changes with larger offsets.
  func following(_ offset: Int64) -> ArraySlice<Change> {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle].offset <= offset { low = middle + 1 } else { high = middle }
    }
    return self[low...]
  }
}
