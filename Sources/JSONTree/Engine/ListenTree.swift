/// The views by path.
struct ListenTree {
  /// In the order in which they were made. Few: one for each distinct window at the node.
  var views: [View] = []
  var children: [TreeKey: ListenTree] = [:]

  var isEmpty: Bool { views.isEmpty && children.isEmpty }

  /// Whether some view here contains every child.
  var hasUnbounded: Bool { views.contains { $0.window.isUnbounded } }

  func index(of window: Window) -> Int? { views.firstIndex { $0.window == window } }

  func completeServerNode(at relative: TreePath) -> TreeNode? {
    for view in views {
      if let node = view.completeServerNode(at: relative) { return node }
    }
    return nil
  }

  /// The tree at `path`; nil when nothing listens there or below.
  func subtree(at path: TreePath) -> ListenTree? {
    var tree = self
    for key in path.keys {
      guard let child = tree.children[key] else { return nil }
      tree = child
    }
    return tree
  }

  /// Calls `body` with each listener at `path`, above it and below it, and its node; those of deeper nodes first.
  func forEachListener(
    concernedBy path: TreePath, at node: TreePath = .root, _ body: (ListenerID, TreePath) -> Void
  ) {
    if let key = path.first {
      children[key]?.forEachListener(concernedBy: path.rest, at: node.child(key), body)
    } else {
      for (key, child) in children.sorted(by: { $0.key < $1.key }) {
        child.forEachListener(concernedBy: .root, at: node.child(key), body)
      }
    }
    for view in views { for registration in view.registrations { body(registration.id, node) } }
  }

  /// Changes the tree at `path`, and drops it if it is empty afterwards.
  mutating func change<Result>(_ path: TreePath, _ body: (inout ListenTree) -> Result) -> Result {
    change(path.keys[...], body)
  }

  private mutating func change<Result>(
    _ keys: ArraySlice<TreeKey>, _ body: (inout ListenTree) -> Result
  ) -> Result {
    guard let key = keys.first else { return body(&self) }
    // Taken out while it is changed, so that its storage is not shared.
    var child = children.removeValue(forKey: key) ?? ListenTree()
    let result = child.change(keys.dropFirst(), body)
    if !child.isEmpty { children[key] = child }
    return result
  }

  /// Whether a view that contains every child stands at `path` or above it.
  func isCovered(_ path: TreePath) -> Bool {
    var tree = self
    if tree.hasUnbounded { return true }
    for key in path.keys {
      guard let child = tree.children[key] else { return false }
      if child.hasUnbounded { return true }
      tree = child
    }
    return false
  }

  /// The server's whole value at `path`, as some view at or above it knows it.
  func knownServerNode(at path: TreePath) -> TreeNode? {
    var tree = self
    for index in 0...path.keys.count {
      if let node = tree.completeServerNode(at: TreePath(path.keys[index...])) { return node }
      guard index < path.keys.count, let child = tree.children[path.keys[index]] else { return nil }
      tree = child
    }
    return nil
  }

  /// Passes a change to the views it concerns; those of deeper nodes report first.
  mutating func apply(
    _ operation: TreeOperation, known: TreeNode?, writes: PendingWrites, _ events: inout [TreeEvent]
  ) {
    let whole = known ?? completeServerNode(at: .root)
    let keys = operation.path.first.map { [$0] } ?? children.keys.sorted()
    for key in keys {
      guard let below = operation.descending(to: key), var child = children.removeValue(forKey: key) else { continue }
      child.apply(below, known: whole?.child(key), writes: writes, &events)
      children[key] = child
    }
    for index in views.indices { views[index].apply(operation, writes: writes, known: whole, &events) }
  }

  /// The views of a tree that need a listener of their own at the server: at each branch the highest one that contains
  /// every child, else all.
  func listened(at path: TreePath, into found: inout [(path: TreePath, window: Window)]) {
    if hasUnbounded {
      found.append((path, .all))
      return
    }
    for view in views { found.append((path, view.window)) }
    for key in children.keys.sorted() { children[key]?.listened(at: path.child(key), into: &found) }
  }
}
