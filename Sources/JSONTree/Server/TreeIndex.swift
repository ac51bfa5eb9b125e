/// An order in which the children of some nodes are indexed.
///
/// ```swift
/// // The children of every room, by their time.
/// let index = TreeIndex(["rooms", nil], order: .child("time"))
/// index.covers("/rooms/lobby")   // true
/// ```
package struct TreeIndex: Hashable, Sendable {
  /// The path of the nodes; nil stands for any key.
  package let pattern: [TreeKey?]
  /// By a child, or by value.
  package let order: ChildOrder

  package init(_ pattern: [TreeKey?], order: ChildOrder) {
    self.pattern = pattern
    self.order = order
  }

  /// Whether the children of `path` are in the index.
  package func covers(_ path: TreePath) -> Bool {
    path.keys.count == pattern.count && agrees(with: path)
  }

  /// Whether no key of `path` contradicts the pattern, as far as both go.
  package func agrees(with path: TreePath) -> Bool {
    zip(pattern, path.keys).allSatisfy { wanted, key in wanted.map { $0 == key } ?? true }
  }

  /// Where a search for children of the index continues that has found something at `path`.
  package enum Step {
    /// The child that stands at or above `path`.
    case child(TreePath)
    /// The first key of a place after `path`, in `PathKeyCoding`; nothing before it belongs to the index.
    case skip([UInt8])
  }

  package func step(at path: TreePath) -> Step {
    for (depth, wanted) in pattern.enumerated() {
      // A leaf above the indexed nodes.
      guard depth < path.keys.count else { return .skip(PathKeyCoding.subtree(of: path).end) }
      guard let wanted, wanted != path.keys[depth] else { continue }
      let above = TreePath(path.keys[..<depth])
      return .skip(
        path.keys[depth] < wanted
          ? PathKeyCoding.encode(above.child(wanted)) : PathKeyCoding.subtree(of: above).end)
    }
    guard path.keys.count > pattern.count else { return .skip(PathKeyCoding.subtree(of: path).end) }
    return .child(TreePath(path.keys[...pattern.count]))
  }

  /// Calls `body` with each child of the index that `node`, which stands at `path`, has at or below `path`.
  package func forEachChild(
    of node: TreeNode, at path: TreePath, _ body: (_ path: TreePath, _ node: TreeNode) throws -> Void
  ) rethrows {
    guard path.keys.count <= pattern.count, agrees(with: path) else { return }
    try visit(node, path, body)
  }

  private func visit(_ node: TreeNode, _ path: TreePath, _ body: (TreePath, TreeNode) throws -> Void) rethrows {
    let depth = path.keys.count
    if depth < pattern.count, let key = pattern[depth] {
      let child = node.child(key)
      if !child.isEmpty { try visit(child, path.child(key), body) }
      return
    }
    try node.children.forEach { key, child in
      if depth == pattern.count {
        try body(path.child(key), child)
      } else {
        try visit(child, path.child(key), body)
      }
      return true
    }
  }
}

extension TreeIndex {
  /// The pattern as text, with `$` for any key.
  package var patternText: String { "/" + pattern.map { $0?.text ?? "$" }.joined(separator: "/") }

  /// The order as text: `.value`, or the child's path.
  package var orderText: String { Self.text(of: order) }

  package static func text(of order: ChildOrder) -> String {
    switch order {
    case .key: ".key"
    case .value: ".value"
    case .priority: ".priority"
    case .child(let path): path.description
    }
  }

  /// Reads what `patternText` and `orderText` have written; nil when it is damaged.
  package init?(pattern: String, order: String) {
    let keys = pattern.split(separator: "/").map { $0 == "$" ? nil : TreeKey(unchecked: String($0)) }
    if order == ".value" {
      self.init(keys, order: .value)
    } else {
      let path = TreePath(order.split(separator: "/").map { TreeKey(unchecked: String($0)) })
      guard order.hasPrefix("/"), !path.isRoot else { return nil }
      self.init(keys, order: .child(path))
    }
  }
}
