/// The rows that a window shows: a part of those it keeps, shared with the window until it changes them.
package struct VisibleRows: RandomAccessCollection, Sendable {
  private let kept: SharedChunks<LiveRow>
  private let range: Range<Int>

  init(_ kept: SharedChunks<LiveRow>, _ range: Range<Int>) {
    self.kept = kept
    self.range = range
  }

  /// No rows.
  package init() { self.init(SharedChunks(), 0..<0) }

  package var startIndex: Int { 0 }
  package var endIndex: Int { range.count }

  /// The rows, without a search for each.
  package var all: ContiguousArray<LiveRow> { kept.elements(in: range) }

  /// The rows of which nothing has been made yet. Under the lock of `LiveRow.made`.
  package var unmade: ContiguousArray<LiveRow> {
    kept.elements(in: range) { !$0.uncounted.isMade }
  }

  package subscript(index: Int) -> LiveRow {
    precondition(index >= 0 && index < range.count, "an index is within the rows shown")
    return kept[range.lowerBound + index]
  }
}
