package import MartletJSONTree

/// One resolved write of the tree: the value that stands at a path from now on. It names no old value and no operation:
/// times and sums are results.
package struct TreeChange: Sendable, Hashable {
  /// A last key `.priority` names the priority of the node above.
  package var path: TreePath
  /// Empty for a deletion.
  package var node: TreeNode

  package init(path: TreePath, node: TreeNode) {
    self.path = path
    self.node = node
  }
}
