/// Keeps a node inside a window while its children change, and notes what enters, changes and leaves.
struct WindowFilter {
  let window: Window

  /// Whether children can be left out.
  var isFiltering: Bool { !window.isUnbounded }

  /// The filter that leaves nothing out, in the same order.
  var unbounded: WindowFilter { WindowFilter(window: Window(order: window.order)) }

  /// Replaces the whole node.
  func replace(
    _ old: OrderedChildren, with node: TreeNode, _ changes: inout ChangeAccumulator
  ) -> OrderedChildren {
    let filtered = isFiltering ? Self.children(of: node, like: old, in: window) : node
    let result = old.replacing(filtered)
    result.node.children.forEachDifference(from: old.node.children, areEqual: ==) { key, before, after in
      switch (before, after) {
      case (let before?, nil): changes.removed(key, before)
      case (nil, let after?): changes.added(key, after)
      case (let before?, let after?): changes.changed(key, after, old: before)
      case (nil, nil): break
      }
    }
    return result
  }

  private static func children(of node: TreeNode, like old: OrderedChildren, in window: Window) -> TreeNode {
    OrderedChildren(node.withPriority(nil), order: old.order).node(in: window)
  }

  /// Replaces the node's own priority. Windows have none.
  func setPriority(_ old: OrderedChildren, _ priority: TreeScalar?) -> OrderedChildren {
    isFiltering ? old : old.withPriority(priority)
  }

  /// Replaces one child by its new value, which is wholly known.
  ///
  /// - Parameter next: the child beyond a position, among all that are known and not only those in the window.
  func set(
    _ key: TreeKey, to child: TreeNode, in old: OrderedChildren, _ changes: inout ChangeAccumulator,
    next: (ChildPosition) -> OrderedChildren.Child?
  ) -> OrderedChildren {
    let isInRange = !child.isEmpty && window.contains(window.order.position(of: key, child))
    let child = isInRange ? child : .empty
    let before = old.node.child(key)
    if before == child { return old }
    guard let limit = window.limit?.count, old.count >= limit else {
      note(key, before, child, &changes)
      return old.setting(key, to: child)
    }
    return before.isEmpty ? enter(key, child, old, &changes) : stay(key, child, old, &changes, next)
  }

  private func note(_ key: TreeKey, _ before: TreeNode, _ after: TreeNode, _ changes: inout ChangeAccumulator) {
    if after.isEmpty {
      changes.removed(key, before)
    } else if before.isEmpty {
      changes.added(key, after)
    } else {
      changes.changed(key, after, old: before)
    }
  }

  /// A child that was outside a full window: it pushes out the child at the limit, or stays outside.
  private func enter(
    _ key: TreeKey, _ child: TreeNode, _ old: OrderedChildren, _ changes: inout ChangeAccumulator
  ) -> OrderedChildren {
    guard let boundary = boundary(of: old), isInside(key, child, boundary) else { return old }
    changes.removed(boundary.key, boundary.node)
    changes.added(key, child)
    return old.setting(key, to: child).setting(boundary.key, to: .empty)
  }

  /// The child at the side where the limit cuts.
  private func boundary(of children: OrderedChildren) -> OrderedChildren.Child? {
    window.isFilledFromEnd ? children.first : children.last
  }

  /// Whether a child stands on the inner side of `other`.
  private func isInside(_ key: TreeKey, _ child: TreeNode, _ other: OrderedChildren.Child) -> Bool {
    let (one, two) = (window.order.position(of: key, child), window.order.position(of: other.key, other.node))
    return window.isFilledFromEnd ? two < one : one < two
  }

  /// A child of a full window: it stays unless it is gone or stands beyond the next one outside, which then enters.
  private func stay(
    _ key: TreeKey, _ child: TreeNode, _ old: OrderedChildren, _ changes: inout ChangeAccumulator,
    _ next: (ChildPosition) -> OrderedChildren.Child?
  ) -> OrderedChildren {
    guard let boundary = boundary(of: old) else { return old }
    var outside = next(window.order.position(of: boundary.key, boundary.node))
    // What the window holds is not outside, even if it stands elsewhere by now: an operation changes one child at a
    // time.
    while let found = outside, found.key == key || old.node.hasChild(found.key) {
      outside = next(window.order.position(of: found.key, found.node))
    }
    let before = old.node.child(key)
    if !child.isEmpty, outside.map({ isInside(key, child, $0) }) ?? true {
      changes.changed(key, child, old: before)
      return old.setting(key, to: child)
    }
    changes.removed(key, before)
    let without = old.setting(key, to: .empty)
    guard let outside, window.contains(window.order.position(of: outside.key, outside.node)) else { return without }
    changes.added(outside.key, outside.node)
    return without.setting(outside.key, to: outside.node)
  }
}
