/// A range of a node's leaves, and what stands in it now.
package struct LeafRange: Hashable, Sendable {
  /// Not part of the range; nil begins with the first leaf.
  package var start: TreePath?
  /// The last path of the range; nil has no end.
  package var end: TreePath?
  /// The leaves of the range, under the node's root.
  package var replacement: TreeNode

  package init(start: TreePath?, end: TreePath?, replacement: TreeNode) {
    self.start = start
    self.end = end
    self.replacement = replacement
  }

  /// Whether a leaf at `path` belongs to the range.
  package func contains(_ path: TreePath) -> Bool {
    if let start, path <= start { return false }
    return end.map { path <= $0 } ?? true
  }
}

extension TreeNode {
  /// The leaves, and the priorities of nodes with children, whose paths are in a range.
  package func leaves(after start: TreePath?, through end: TreePath?) -> TreeNode {
    let range = LeafRange(start: start, end: end, replacement: .empty)
    var rows: [LeafRow] = []
    forEachRow { row in if range.contains(row.leafPath) { rows.append(row) } }
    return TreeNode(rows: rows)
  }

  /// The node with the leaves of all ranges replaced. Leaves outside of them stay.
  package func replacing(_ ranges: [LeafRange]) -> TreeNode {
    var rows: [LeafRow] = []
    forEachRow { row in if !ranges.contains(where: { $0.contains(row.leafPath) }) { rows.append(row) } }
    // Together, since a leaf of one range can stand above one that another range removes.
    for range in ranges { range.replacement.forEachRow { rows.append($0) } }
    return TreeNode(rows: rows)
  }
}

extension LeafRow {
  /// Where the row stands among leaves: the priority of a node with children is its child `.priority`.
  fileprivate var leafPath: TreePath { scalar == nil ? path.child(.priority) : path }
}
