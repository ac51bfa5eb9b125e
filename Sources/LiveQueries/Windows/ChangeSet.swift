/// How one list of rows became another, in indices of both.
///
/// Applied in this order: remove the rows at `deletions` and at the old indices of `moves`, insert the rows at
/// `insertions` and at the new indices of `moves`, replace the rows at `updates`.
package struct ChangeSet: Sendable, Hashable {
  /// A row that is at another place among the rows that stayed. Its content has usually changed, too.
  package struct Move: Sendable, Hashable {
    /// The index before.
    package var from: Int
    /// The index after.
    package var to: Int

    /// A move.
    package init(from: Int, to: Int) {
      self.from = from
      self.to = to
    }
  }

  /// Indices before, ascending.
  package var deletions: [Int] = []
  /// Indices after, ascending.
  package var insertions: [Int] = []
  /// Rows that changed their place, by their index before.
  package var moves: [Move] = []
  /// Indices after of rows whose content changed at their place, ascending.
  package var updates: [Int] = []

  /// No changes.
  package init() {}

  /// Whether nothing changed.
  package var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty }

  /// Carries the changes out on a list of the earlier rows, or of something made from them. `element` makes one from
  /// the row at an index after; when it throws, the list is changed in part.
  package func apply<Element, Failure: Error>(
    to list: inout SharedChunks<Element>, element: (Int) throws(Failure) -> Element
  ) throws(Failure) {
    let removed = (deletions + moves.map(\.from)).sorted(by: >)
    let added = (insertions + moves.map(\.to)).sorted()
    if removed.count == list.count {
      list = SharedChunks(try added.map(element))
      return
    }
    for index in removed { list.remove(at: index) }
    for index in added { list.insert(try element(index), at: index) }
    for index in updates { list.replace(at: index, with: try element(index)) }
  }
}

extension ChangeSet {
  /// The changes between two lists of which nothing else is known: every row is looked at.
  package init(from old: some RandomAccessCollection<LiveRow>, to new: some RandomAccessCollection<LiveRow>) {
    let positions = Dictionary(old.enumerated().map { ($1.key, $0) }) { first, _ in first }
    var kept: [(from: Int, to: Int, isChanged: Bool)] = []
    var found: Set<Int> = []
    let before = Array(old)
    for (index, row) in new.enumerated() {
      guard let position = positions[row.key] else {
        insertions.append(index)
        continue
      }
      found.insert(position)
      kept.append((position, index, before[position] != row))
    }
    deletions = before.indices.filter { !found.contains($0) }
    // The rows that stay in place are the longest run whose indices ascend on both sides; the others moved.
    let steady = Self.longestAscent(kept.map(\.from))
    for (number, row) in kept.enumerated() {
      if !steady.contains(number) {
        moves.append(Move(from: row.from, to: row.to))
      } else if row.isChanged {
        updates.append(row.to)
      }
    }
    moves.sort { $0.from < $1.from }
  }

  /// The positions of a longest ascending subsequence.
  static func longestAscent(_ values: [Int]) -> Set<Int> {
    /// The position of the smallest last value of an ascent of each length.
    var ends: [Int] = []
    var previous = [Int](repeating: -1, count: values.count)
    for (position, value) in values.enumerated() {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if values[ends[middle]] < value { low = middle + 1 } else { high = middle }
      }
      previous[position] = low > 0 ? ends[low - 1] : -1
      if low == ends.count { ends.append(position) } else { ends[low] = position }
    }
    var result: Set<Int> = []
    var position = ends.last ?? -1
    while position >= 0 {
      result.insert(position)
      position = previous[position]
    }
    return result
  }
}
