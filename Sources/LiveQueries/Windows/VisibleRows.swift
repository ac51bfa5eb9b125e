/// The rows that a window shows: a part of those it keeps, shared with the window until it changes them.
package struct VisibleRows: RandomAccessCollection, Sendable {
  private let kept: SharedChunks<LiveRow>
  private let range: Range<Int>

  init(_ kept: SharedChunks<LiveRow>, _ range: Range<Int>) {
    self.kept = kept
    self.range = range
  }

  /// The row at an index of all rows kept; nil beyond them.
  func row(keptAt index: Int) -> LiveRow? { index < kept.count ? kept[index] : nil }

  /// How the same places look in `rows`, when nothing but the rows at these indices of those kept has changed.
  func updates(in rows: VisibleRows, at indices: [Int]) -> ChangeSet {
    var changes = ChangeSet()
    for index in indices.count > 1 ? Set(indices).sorted() : indices
    where range.contains(index) && kept[index] != rows.kept[index] {
      changes.updates.append(index - range.lowerBound)
    }
    return changes
  }

  /// No rows.
  package init() { self.init(SharedChunks(), 0..<0) }

  package var startIndex: Int { 0 }
  package var endIndex: Int { range.count }

  package subscript(index: Int) -> LiveRow {
    precondition(index >= 0 && index < range.count, "an index is within the rows shown")
    return kept[range.lowerBound + index]
  }
}
