/// What is known of a node: its value, and how much of it that is.
package struct CacheNode: Sendable {
  package var ordered: OrderedChildren
  /// Whether everything inside the window is known. Otherwise only the children that are present are.
  package var isComplete: Bool
  /// Whether children outside a window were left out.
  package var isFiltered: Bool

  package init(_ ordered: OrderedChildren, isComplete: Bool, isFiltered: Bool) {
    self.ordered = ordered
    self.isComplete = isComplete
    self.isFiltered = isFiltered
  }

  package var node: TreeNode { ordered.node }

  /// Whether the child `key` is wholly known, its absence included.
  package func isComplete(for key: TreeKey) -> Bool { (isComplete && !isFiltered) || node.hasChild(key) }

  package func isComplete(at path: TreePath) -> Bool {
    path.first.map(isComplete(for:)) ?? (isComplete && !isFiltered)
  }
}

/// A view's two caches: what the server sent, and what was reported.
package struct ViewCache: Sendable {
  package var event: CacheNode
  package var server: CacheNode

  package var completeServerNode: TreeNode? { server.isComplete ? server.node : nil }
}

/// What happened to one child, over a whole operation.
struct ChildChange {
  enum Kind { case removed, added, changed }

  var kind: Kind
  /// The new value; of a removed child the old one.
  var node: TreeNode
  /// The value before; empty for an added child.
  var old: TreeNode
}

/// Joins the changes of each child that happen within one operation.
struct ChangeAccumulator {
  private(set) var changes: [TreeKey: ChildChange] = [:]

  mutating func removed(_ key: TreeKey, _ node: TreeNode) {
    switch changes[key]?.kind {
    case .added: changes[key] = nil
    case .changed: changes[key] = changes[key].map { ChildChange(kind: .removed, node: $0.old, old: $0.old) }
    case .removed, nil: changes[key] = ChildChange(kind: .removed, node: node, old: node)
    }
  }

  mutating func added(_ key: TreeKey, _ node: TreeNode) {
    if let earlier = changes[key], earlier.kind == .removed {
      // Writing the same value again changes nothing.
      changes[key] = earlier.old == node ? nil : ChildChange(kind: .changed, node: node, old: earlier.old)
    } else {
      changes[key] = ChildChange(kind: .added, node: node, old: .empty)
    }
  }

  mutating func changed(_ key: TreeKey, _ node: TreeNode, old: TreeNode) {
    guard let earlier = changes[key] else {
      changes[key] = ChildChange(kind: .changed, node: node, old: old)
      return
    }
    switch earlier.kind {
    case .added: changes[key] = ChildChange(kind: .added, node: node, old: .empty)
    case .changed, .removed:
      changes[key] = earlier.old == node ? nil : ChildChange(kind: .changed, node: node, old: earlier.old)
    }
  }
}
