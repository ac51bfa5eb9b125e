internal import MartletChangeFeed

/// Pages of the log that were read for members older than the ring, so that many that return together share one read.
/// Confined to its loop.
struct LogPages {
  /// A stretch of the log without holes. Its changes may begin after `first` and end before `last`, because subscribers
  /// cannot see all entries.
  private struct Page {
    var first: Int64
    var last: Int64
    var changes: [Change]
    var lost: [Int: Int64]
  }

  /// The most recently read last.
  private var pages: [Page] = []
  private let limit: Int

  /// - Parameter limit: Pages kept.
  init(limit: Int) {
    self.limit = limit
  }

  /// Keeps a page that was read from the log after `offset` up to `last`.
  ///
  /// - Parameter lost: Models that have lost changes, with the newest offset of one.
  mutating func keep(_ changes: [Change], after offset: Int64, through last: Int64, lost: [Int: Int64] = [:]) {
    guard last > offset else { return }
    pages.removeAll { $0.first > offset && $0.last <= last }
    pages.append(Page(first: offset + 1, last: last, changes: changes, lost: lost))
    if pages.count > limit { pages.removeFirst() }
  }

  /// The changes after `offset` up to the end of a page, and the models that have lost some there; nil when they have
  /// to be read.
  func page(after offset: Int64) -> (changes: ArraySlice<Change>, last: Int64, lost: [Int: Int64])? {
    guard let page = pages.last(where: { $0.first <= offset + 1 && $0.last > offset }) else { return nil }
    return (page.changes.after(offset), page.last, page.lost)
  }

  /// Where the next page has to begin that leads from `offset` to `wanted`: after the pages that follow each other from
  /// there and end too early.
  func start(from offset: Int64, towards wanted: Int64) -> Int64 {
    var start = offset
    while let page = pages.last(where: { $0.first == start + 1 && $0.last <= wanted }) { start = page.last }
    return start
  }
}
