/// A node together with its children in one order.
package struct OrderedChildren: Sendable {
  package typealias Child = (key: TreeKey, node: TreeNode)

  package let order: ChildOrder
  package private(set) var node: TreeNode
  /// Positions in `order`; nil for the order by key, which the node itself has.
  private var positions: SortedMap<ChildPosition, TreeNode>?

  package init(_ node: TreeNode, order: ChildOrder) {
    self.node = node
    self.order = order
    if order != .key { positions = Self.sorted(node, order) }
  }

  private static func sorted(_ node: TreeNode, _ order: ChildOrder) -> SortedMap<ChildPosition, TreeNode> {
    var entries: [(key: ChildPosition, value: TreeNode)] = []
    entries.reserveCapacity(node.childCount)
    node.children.forEach { key, child in
      entries.append((order.position(of: key, child), child))
      return true
    }
    entries.sort { $0.key < $1.key }
    return SortedMap(sorted: entries)
  }

  package var count: Int { node.childCount }

  /// The same children with another child under `key`; an empty child is removed.
  package func setting(_ key: TreeKey, to child: TreeNode) -> OrderedChildren {
    var result = self
    result.node = node.setting(key, to: child)
    if let positions, !key.isPriority {
      let old = node.child(key)
      let without = old.isEmpty ? positions : positions.removing(order.position(of: key, old))
      result.positions = child.isEmpty ? without : without.setting(order.position(of: key, child), to: child)
    }
    return result
  }

  /// The same children with another priority of the node itself.
  package func withPriority(_ priority: TreeScalar?) -> OrderedChildren {
    var result = self
    result.node = node.withPriority(priority)
    return result
  }

  /// The children of another version of the node. Few differences cost little.
  package func replacing(_ node: TreeNode) -> OrderedChildren {
    var result = self
    result.node = node
    guard var positions else { return result }
    var differences: [(TreeKey, TreeNode?, TreeNode?)] = []
    node.children.forEachDifference(from: self.node.children, areEqual: ==) { differences.append(($0, $1, $2)) }
    if differences.count * 4 > node.childCount {
      result.positions = Self.sorted(node, order)
      return result
    }
    for (key, old, new) in differences {
      if let old { positions = positions.removing(order.position(of: key, old)) }
      if let new { positions = positions.setting(order.position(of: key, new), to: new) }
    }
    result.positions = positions
    return result
  }

  package var first: Child? {
    positions.map { $0.first.map { ($0.key.key, $0.value) } } ?? node.children.first.map { ($0.key, $0.value) }
  }

  package var last: Child? {
    positions.map { $0.last.map { ($0.key.key, $0.value) } } ?? node.children.last.map { ($0.key, $0.value) }
  }

  /// The next child beyond `position`: after it, or before it when `reversed`.
  package func neighbour(of position: ChildPosition, reversed: Bool) -> Child? {
    if let positions {
      let entry = reversed ? positions.entry(before: position) : positions.entry(after: position)
      return entry.map { ($0.key.key, $0.value) }
    }
    let children = node.children
    let entry = reversed ? children.entry(before: position.key) : children.entry(after: position.key)
    return entry.map { ($0.key, $0.value) }
  }

  /// The key before the child `key`, whose value is `node`; nil for the first.
  package func previousKey(of key: TreeKey, _ node: TreeNode) -> TreeKey? {
    neighbour(of: order.position(of: key, node), reversed: true)?.key
  }

  /// The children inside `window`, whose order is this one, as a node without priority.
  package func node(in window: Window) -> TreeNode {
    if window.isUnbounded { return node }
    var found: [(key: TreeKey, value: TreeNode)] = []
    let most = window.limit?.count ?? .max
    visit(window) { key, child in
      found.append((key, child))
      return found.count < most
    }
    found.sort { $0.key < $1.key }
    return TreeNode(children: SortedMap(sorted: found))
  }

  /// Visits the children of the window's range, from the side where the limit starts to count.
  private func visit(_ window: Window, _ body: (TreeKey, TreeNode) -> Bool) {
    let start = rank { window.isBeforeStart($0) }
    let end = rank { !window.isAfterEnd($0) }
    guard start < end else { return }
    var rest = end - start
    func bounded(_ key: TreeKey, _ child: TreeNode) -> Bool {
      rest -= 1
      return body(key, child) && rest > 0
    }
    switch (positions, window.isFilledFromEnd) {
    case (let positions?, false): positions.forEach(from: start) { bounded($0.key, $1) }
    case (let positions?, true): positions.forEachReversed(before: end) { bounded($0.key, $1) }
    case (nil, false): node.children.forEach(from: start, bounded)
    case (nil, true): node.children.forEachReversed(before: end, bounded)
    }
  }

  /// How many children, from the first, satisfy `condition`; it holds for a beginning of the order.
  private func rank(_ condition: (ChildPosition) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      guard let position = position(at: middle) else { return low }
      if condition(position) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func position(at index: Int) -> ChildPosition? {
    if let positions { return positions.entry(at: index)?.key }
    return node.children.entry(at: index).map { order.position(of: $0.key, $0.value) }
  }

  /// Visits all children in order until `body` returns false.
  package func forEach(_ body: (TreeKey, TreeNode) -> Bool) {
    if let positions {
      positions.forEach { body($0.key, $1) }
    } else {
      node.children.forEach(body)
    }
  }
}
