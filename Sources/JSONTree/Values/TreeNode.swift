/// The value of a node: nothing, a leaf, or children. Immutable; versions share what they have in common.
///
/// An empty node does not exist: `{}` and null are the same, and a node whose last child is removed is empty.
package struct TreeNode: Sendable {
  package typealias Children = SortedMap<TreeKey, TreeNode>

  enum Content: Sendable {
    case empty
    case leaf(TreeScalar)
    /// Never an empty map.
    case children(Children)
  }

  let content: Content
  /// A number or a text by which siblings can be ordered; kept for clients of the Realtime Database.
  package let priority: TreeScalar?

  init(_ content: Content, priority: TreeScalar?) {
    self.content = content
    self.priority = priority
  }

  /// The node that does not exist.
  package static let empty = TreeNode(.empty, priority: nil)

  /// A leaf.
  package init(_ scalar: TreeScalar, priority: TreeScalar? = nil) {
    self.init(.leaf(scalar), priority: priority)
  }

  /// A node with children, none of which is empty; the empty node when there are none.
  package init(children: Children, priority: TreeScalar? = nil) {
    self = children.isEmpty ? .empty : TreeNode(.children(children), priority: priority)
  }

  package var isEmpty: Bool {
    if case .empty = content { true } else { false }
  }

  /// The leaf's value; nil for a node with children and for an empty one.
  package var scalar: TreeScalar? {
    if case .leaf(let scalar) = content { scalar } else { nil }
  }

  package var isLeaf: Bool { scalar != nil }

  /// The children in key order.
  package var children: Children {
    if case .children(let children) = content { children } else { Children() }
  }

  package var childCount: Int { children.count }

  /// The child named `key`, empty when there is none. `.priority` gives the priority as a leaf.
  package func child(_ key: TreeKey) -> TreeNode {
    if key.isPriority { return priority.map { TreeNode($0) } ?? .empty }
    return children[key] ?? .empty
  }

  package func hasChild(_ key: TreeKey) -> Bool { !child(key).isEmpty }

  /// The node at `path` below this one.
  package func node(at path: TreePath) -> TreeNode {
    var node = self
    for key in path.keys {
      if node.isEmpty { return .empty }
      node = node.child(key)
    }
    return node
  }

  /// The path of the leaf above `path`, if there is one.
  package func leafAbove(_ path: TreePath) -> TreePath? {
    var node = self
    for (index, key) in path.keys.enumerated() {
      if node.isLeaf, !key.isPriority { return TreePath(path.keys[..<index]) }
      node = node.child(key)
      if node.isEmpty { return nil }
    }
    return nil
  }

  /// The node with another priority; an empty node has none.
  package func withPriority(_ priority: TreeScalar?) -> TreeNode {
    isEmpty ? self : TreeNode(content, priority: priority)
  }

  /// The node with `child` named `key`. An empty child removes it; a leaf is replaced by a node with this child.
  package func setting(_ key: TreeKey, to child: TreeNode) -> TreeNode {
    if key.isPriority { return withPriority(child.scalar) }
    switch content {
    case .empty, .leaf:
      if child.isEmpty { return self }
      return TreeNode(.children(Children().setting(key, to: child)), priority: priority)
    case .children(let children):
      return TreeNode(
        children: child.isEmpty ? children.removing(key) : children.setting(key, to: child), priority: priority)
    }
  }

  /// The node with the leaves and the priorities of `part`; its other leaves stay.
  package func joined(with part: TreeNode) -> TreeNode {
    guard case .children(let added) = part.content, !isEmpty else { return part.isEmpty ? self : part }
    var node = self
    added.forEach { key, child in
      node = node.setting(key, to: node.child(key).joined(with: child))
      return true
    }
    return part.priority == nil ? node : node.withPriority(part.priority)
  }

  /// The node with `node` at `path` below it. Parents are made; emptied parents are removed.
  package func setting(_ path: TreePath, to node: TreeNode) -> TreeNode {
    setting(path.keys[...], to: node)
  }

  private func setting(_ keys: ArraySlice<TreeKey>, to node: TreeNode) -> TreeNode {
    guard let key = keys.first else { return node }
    if key.isPriority, keys.count == 1 { return withPriority(node.scalar) }
    return setting(key, to: child(key).setting(keys.dropFirst(), to: node))
  }
}

extension TreeNode: Equatable {
  /// Same leaves and priorities. Shared parts are not compared again.
  package static func == (left: TreeNode, right: TreeNode) -> Bool {
    guard left.priority == right.priority else { return false }
    switch (left.content, right.content) {
    case (.empty, .empty): return true
    case (.leaf(let a), .leaf(let b)): return a == b
    case (.children(let a), .children(let b)):
      guard a.count == b.count else { return false }
      var isEqual = true
      // The walk over shared pages is what makes comparing two versions cheap.
      b.forEachDifference(from: a, areEqual: ==) { _, _, _ in isEqual = false }
      return isEqual
    case (.empty, _), (.leaf, _), (.children, _): return false
    }
  }
}
