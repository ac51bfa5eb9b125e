/// By what the children of a node are ordered.
package enum ChildOrder: Hashable, Sendable {
  case key
  case value
  case priority
  /// By the value at a path below each child.
  case child(TreePath)

  /// The value by which `node` is ordered; its key decides between equal ones.
  package func value(of node: TreeNode) -> OrderValue {
    switch self {
    case .key: .null
    case .value: OrderValue(node)
    case .priority: node.priority.map { .scalar($0) } ?? .null
    case .child(let path): OrderValue(node.node(at: path))
    }
  }

  /// Where a child stands among its siblings.
  package func position(of key: TreeKey, _ node: TreeNode) -> ChildPosition {
    ChildPosition(value: value(of: node), key: key)
  }
}

/// A value in the order null, false, true, numbers, texts, objects; all objects are equal.
package enum OrderValue: Hashable, Comparable, Sendable {
  case null
  case scalar(TreeScalar)
  case object

  package init(_ node: TreeNode) {
    self = node.isEmpty ? .null : node.scalar.map { .scalar($0) } ?? .object
  }
}

/// A child's place in a window's order.
package struct ChildPosition: Hashable, Comparable, Sendable {
  package var value: OrderValue
  package var key: TreeKey

  package init(value: OrderValue, key: TreeKey) {
    self.value = value
    self.key = key
  }

  package static func < (left: ChildPosition, right: ChildPosition) -> Bool {
    if left.value != right.value { return left.value < right.value }
    return left.key < right.key
  }
}
