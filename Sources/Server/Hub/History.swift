internal import MartletChangeFeed

/// Recent changes kept in memory, so that catching up rarely asks the disk: the batches that came live, and pages of the
/// log read for earlier members. Confined to its loop; the changes themselves are shared with every other loop.
struct History {
  /// A stretch of the log without holes.
  private struct Segment {
    var first: Int64
    var last: Int64
    var changes: [Change]
    var bytes: Int
  }

  let byteLimit: Int
  /// Live batches, oldest first, without holes between them.
  private var live: [Segment] = []
  private var liveStart = 0
  private var liveBytes = 0
  /// Pages from disk, the most recently read last.
  private var pages: [Segment] = []
  /// Pages kept: enough for the returning clients of one restart, bounded because each is up to a MiB.
  private static let pageLimit = 64

  init(byteLimit: Int) {
    self.byteLimit = byteLimit
  }

  mutating func append(_ batch: ChangeBatch) {
    let bytes = max(batch.byteCount, batch.changes.count * 128)
    live.append(
      Segment(first: batch.firstOffset, last: batch.lastOffset, changes: batch.changes, bytes: bytes))
    liveBytes += bytes
    while liveBytes > byteLimit, live.count - liveStart > 1 {
      liveBytes -= live[liveStart].bytes
      live[liveStart] = Segment(first: 0, last: 0, changes: [], bytes: 0)
      liveStart += 1
    }
    if liveStart > 1_024, liveStart * 2 > live.count {
      live.removeFirst(liveStart)
      liveStart = 0
    }
  }

  /// Keeps a page that was read from the log behind `offset`.
  mutating func keep(_ changes: [Change], after offset: Int64) {
    guard let last = changes.last else { return }
    pages.removeAll { $0.first > offset && $0.last <= last.offset }
    pages.append(Segment(first: offset + 1, last: last.offset, changes: changes, bytes: 0))
    if pages.count > Self.pageLimit { pages.removeFirst() }
  }

  /// Changes behind `offset` that are at hand, and the offset up to which they are all; nil when none are.
  func changes(after offset: Int64) -> (changes: ArraySlice<Change>, upTo: Int64)? {
    if let segment = liveSegment(containing: offset + 1) { return Self.slice(segment, after: offset) }
    if let page = pages.last(where: { $0.first <= offset + 1 && $0.last > offset }) {
      return Self.slice(page, after: offset)
    }
    return nil
  }

  private static func slice(_ segment: Segment, after offset: Int64) -> (ArraySlice<Change>, Int64) {
    var low = 0
    var high = segment.changes.count
    while low < high {
      let middle = (low + high) / 2
      if segment.changes[middle].offset <= offset { low = middle + 1 } else { high = middle }
    }
    return (segment.changes[low...], segment.last)
  }

  private func liveSegment(containing offset: Int64) -> Segment? {
    guard liveStart < live.count, offset >= live[liveStart].first, let last = live.last, offset <= last.last else {
      return nil
    }
    var low = liveStart
    var high = live.count - 1
    while low < high {
      let middle = (low + high) / 2
      if live[middle].last < offset { low = middle + 1 } else { high = middle }
    }
    return live[low]
  }
}
