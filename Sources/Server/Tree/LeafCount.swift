internal import MartletJSONTree

extension TreeNode {
  /// Leaves at and below the node.
  var rowCount: Int {
    if isLeaf { return 1 }
    var count = 0
    children.forEach { _, child in
      count += child.rowCount
      return true
    }
    return count
  }
}
