internal import MartletModels

/// Finds how one page became another from the records that were touched: at a cost that grows with those and with the
/// rows that moved over the page's edges, not with the page.
///
/// Records that were not touched keep their order, so that those of the old page and those of the new are two ranges of
/// one list: they differ at the ends only.
struct WindowComparison {
  private let order: RowOrder
  private let old: VisibleRows
  private let new: VisibleRows
  private(set) var comparisons = 0
  /// Whether a touched row is in both pages with the same content.
  private(set) var foundEqualRows = false

  init(_ order: RowOrder, _ old: VisibleRows, _ new: VisibleRows) {
    self.order = order
    self.old = old
    self.new = new
  }

  mutating func changes(_ touched: [RecordKey: TouchedRow]) -> ChangeSet {
    var changes = ChangeSet()
    var both: [(from: Int, to: Int)] = []
    var (touchedBefore, touchedAfter): ([Int], [Int]) = ([], [])
    for row in touched.values {
      let from = row.first.flatMap { index(of: $0, in: old) }
      let to = row.last.flatMap { index(of: $0, in: new) }
      if let from { touchedBefore.append(from) }
      if let to { touchedAfter.append(to) }
      switch (from, to) {
      case (let from?, let to?): both.append((from, to))
      case (let from?, nil): changes.deletions.append(from)
      case (nil, let to?): changes.insertions.append(to)
      case (nil, nil): break
      }
    }
    let left = TouchedIndices(touchedBefore, count: old.count)
    let right = TouchedIndices(touchedAfter, count: new.count)
    let edges = edges(left, right)
    changes.deletions += edges.left
    changes.insertions += edges.entered
    both.sort { $0.from < $1.from }
    settle(both, left, right, edges, into: &changes)
    changes.deletions.sort()
    changes.insertions.sort()
    changes.updates.sort()
    return changes
  }

  /// Decides which of the touched rows that both pages have stayed in place: those with as many untouched rows before
  /// them as earlier, in the same order among themselves.
  private mutating func settle(
    _ both: [(from: Int, to: Int)], _ left: TouchedIndices, _ right: TouchedIndices, _ edges: Edges,
    into changes: inout ChangeSet
  ) {
    let common = old.count - left.indices.count - edges.left.count
    var lastKept = -1
    for (from, to) in both {
      let earlier = min(max(from - left.count(before: from) - edges.leftInFront, 0), common)
      let later = min(max(to - right.count(before: to) - edges.enteredInFront, 0), common)
      if earlier == later, to > lastKept {
        lastKept = to
        if old[from] == new[to] { foundEqualRows = true } else { changes.updates.append(to) }
      } else {
        changes.moves.append(ChangeSet.Move(from: from, to: to))
      }
    }
  }

  private struct Edges {
    /// Indices before of untouched rows that the new page no longer has, and how many of them are in front.
    var left: [Int] = []
    var leftInFront = 0
    /// Indices after of untouched rows that the old page did not have, and how many of them are in front.
    var entered: [Int] = []
    var enteredInFront = 0
  }

  private mutating func edges(_ left: TouchedIndices, _ right: TouchedIndices) -> Edges {
    var edges = Edges()
    guard let oldFirst = left.firstUntouched, let oldLast = left.lastUntouched, let newFirst = right.firstUntouched,
      let newLast = right.lastUntouched
    else {
      edges.left = left.untouched(in: 0..<old.count)
      edges.entered = right.untouched(in: 0..<new.count)
      return edges
    }
    if let start = index(of: new[newFirst], in: old) {
      edges.left = left.untouched(in: 0..<start)
    } else if let start = index(of: old[oldFirst], in: new) {
      edges.entered = right.untouched(in: 0..<start)
    } else {
      edges.left = left.untouched(in: 0..<old.count)
      edges.entered = right.untouched(in: 0..<new.count)
      return edges
    }
    edges.leftInFront = edges.left.count
    edges.enteredInFront = edges.entered.count
    if let end = index(of: new[newLast], in: old) {
      edges.left += left.untouched(in: end + 1..<old.count)
    } else if let end = index(of: old[oldLast], in: new) {
      edges.entered += right.untouched(in: end + 1..<new.count)
    }
    return edges
  }

  private mutating func index(of row: LiveRow, in rows: VisibleRows) -> Int? {
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      comparisons += 1
      if order.compare(rows[middle].record, row.record) < 0 { low = middle + 1 } else { high = middle }
    }
    return low < rows.count && rows[low].key == row.key ? low : nil
  }
}

/// The indices of a page that touched rows have.
private struct TouchedIndices {
  let indices: [Int]
  private let count: Int

  init(_ indices: [Int], count: Int) {
    self.indices = indices.sorted()
    self.count = count
  }

  /// How many touched rows are before `index`.
  func count(before index: Int) -> Int {
    var (low, high) = (0, indices.count)
    while low < high {
      let middle = (low + high) / 2
      if indices[middle] < index { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func isTouched(_ index: Int) -> Bool {
    let place = count(before: index)
    return place < indices.count && indices[place] == index
  }

  func untouched(in range: Range<Int>) -> [Int] { range.filter { !isTouched($0) } }

  var firstUntouched: Int? { (0..<count).first { !isTouched($0) } }
  var lastUntouched: Int? { (0..<count).last { !isTouched($0) } }
}
