/// What stands at a path.
package enum TreeGlimpse: Hashable, Sendable {
  case absent
  case leaf(TreeScalar)
  /// A node with children.
  case children

  package init(_ node: TreeNode) {
    self = node.scalar.map { .leaf($0) } ?? (node.isEmpty ? .absent : .children)
  }
}
