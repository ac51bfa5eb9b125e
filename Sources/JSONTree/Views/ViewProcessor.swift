/// Applies one operation to a view's caches and notes what happens to the children.
///
/// The server's value is replaced first; then the reported value is computed again where it can differ: the server's
/// value under the pending writes, inside the window.
struct ViewProcessor {
  let filter: WindowFilter
  let writes: LocalWrites
  /// The server's whole value of the node, as far as another listener knows it.
  let known: TreeNode?
  var cache: ViewCache
  var changes = ChangeAccumulator()

  init(filter: WindowFilter, writes: LocalWrites, known: TreeNode?, cache: ViewCache) {
    self.filter = filter
    self.writes = writes
    self.known = known
    self.cache = cache
  }

  mutating func apply(_ operation: TreeOperation) {
    switch (operation.kind, operation.source) {
    case (.overwrite(let node), .user): userOverwrite(operation.path, node)
    case (.merge(let parts), .user): userMerge(operation.path, parts)
    case (.overwrite(let node), .server), (.overwrite(let node), .window):
      let isFiltered = cache.server.isFiltered && !operation.path.isRoot
      serverOverwrite(operation.path, node, isFiltered: isFiltered || operation.source == .window)
    case (.merge(let parts), .server), (.merge(let parts), .window):
      serverMerge(operation.path, parts, isFiltered: cache.server.isFiltered || operation.source == .window)
    case (.acknowledge(let marks, isReverted: false), _): confirm(operation.path, marks)
    case (.acknowledge(_, isReverted: true), _): revert(operation.path)
    case (.complete, _): complete(operation.path)
    }
  }

  // MARK: - Values from the server

  private mutating func serverOverwrite(_ path: TreePath, _ node: TreeNode, isFiltered: Bool) {
    let old = cache.server
    let serverFilter = isFiltered ? filter : filter.unbounded
    var ignored = ChangeAccumulator()
    let ordered: OrderedChildren
    if let key = path.first {
      // A part of a child that is not known was meant for another listener.
      guard path.keys.count == 1 || old.isComplete(at: path) else { return }
      let child = old.node.child(key).setting(path.rest, to: node)
      if serverFilter.isFiltering, !old.isFiltered {
        ordered = serverFilter.replace(old.ordered, with: old.node.setting(path, to: node), &ignored)
      } else if key.isPriority {
        ordered = serverFilter.setPriority(old.ordered, child.scalar)
      } else {
        ordered = serverFilter.set(key, to: child, in: old.ordered, &ignored) { _ in nil }
      }
    } else {
      ordered = serverFilter.replace(old.ordered, with: node, &ignored)
    }
    cache.server = CacheNode(
      ordered, isComplete: old.isComplete || path.isRoot, isFiltered: serverFilter.isFiltering)
    serverChanged(at: old.node.leafAbove(path) ?? path, isComplete: path.isRoot)
  }

  private mutating func serverMerge(_ path: TreePath, _ parts: WriteTrie, isFiltered: Bool) {
    // Without any value this was meant for an earlier listener; the whole value follows.
    if cache.server.node.isEmpty, !cache.server.isComplete { return }
    var trie = WriteTrie()
    if path.isRoot {
      trie = parts
    } else {
      for part in parts.writes { trie.add(part.node, at: path.appending(part.path)) }
    }
    let server = cache.server
    let parts = trie.children.sorted { $0.key < $1.key }
    // Children that are known first, so that a window with a limit loses what leaves it before it takes what enters.
    for (key, part) in parts where server.node.hasChild(key) {
      serverOverwrite(TreePath([key]), part.apply(to: server.node.child(key)), isFiltered: isFiltered)
    }
    for (key, part) in parts where !server.node.hasChild(key) {
      if part.node == nil, !cache.server.isComplete(for: key) { continue }
      serverOverwrite(TreePath([key]), part.apply(to: server.node.child(key)), isFiltered: isFiltered)
    }
  }

  private mutating func complete(_ path: TreePath) {
    cache.server.isComplete = cache.server.isComplete || path.isRoot
    serverChanged(at: path, isComplete: path.isRoot)
  }

  /// Computes the reported value again where the server's value changed: from a leaf that the change replaces, even if
  /// a write covers the part that the server wrote.
  private mutating func serverChanged(at path: TreePath, isComplete: Bool) {
    if writes.complete(at: path) != nil { return }
    let old = cache.event
    var ordered = old.ordered
    if let key = path.first {
      if key.isPriority {
        if let priority = writes.value(at: path, overServer: cache.server.node) {
          ordered = filter.setPriority(ordered, priority.scalar)
        }
      } else if let child = child(key, afterServerChangeAt: path) {
        ordered = set(key, to: child, in: ordered)
      }
    } else {
      let server = cache.server
      let node =
        server.isFiltered
        ? writes.knownChildren(over: server.node)
        : writes.value(over: cache.completeServerNode) ?? writes.knownChildren(over: server.node)
      ordered = filter.replace(ordered, with: node, &changes)
    }
    cache.event = CacheNode(ordered, isComplete: old.isComplete || isComplete, isFiltered: filter.isFiltering)
  }

  private func child(_ key: TreeKey, afterServerChangeAt path: TreePath) -> TreeNode? {
    guard cache.event.isComplete(for: key) else { return writes.child(key, over: cache.server) }
    let child = cache.event.node.child(key)
    guard let part = writes.value(at: path, overServer: cache.server.node) else { return child }
    return child.setting(path.rest, to: part)
  }

  // MARK: - Writes of this client

  private mutating func userOverwrite(_ path: TreePath, _ node: TreeNode) {
    let old = cache.event
    guard let key = path.first else {
      let ordered = filter.replace(old.ordered, with: node, &changes)
      cache.event = CacheNode(ordered, isComplete: true, isFiltered: filter.isFiltering)
      return
    }
    if key.isPriority {
      cache.event.ordered = filter.setPriority(old.ordered, node.scalar)
      return
    }
    let child: TreeNode
    if path.keys.count == 1 {
      child = node
    } else if let known = knownChild(key) {
      // What does not exist takes no priority.
      let rest = path.rest
      let isLost = rest.key?.isPriority == true && known.node(at: TreePath(rest.keys.dropLast())).isEmpty
      child = isLost ? known : known.setting(rest, to: node)
    } else {
      child = .empty
    }
    if child == old.node.child(key) { return }
    cache.event = CacheNode(
      set(key, to: child, in: old.ordered), isComplete: old.isComplete, isFiltered: filter.isFiltering)
  }

  private mutating func userMerge(_ path: TreePath, _ parts: WriteTrie) {
    let writes = parts.writes.map { TreeWrite(path: path.appending($0.path), node: $0.node) }
    let before = cache.event
    // Known children first, as with the server's merges.
    let isKnown = { (write: TreeWrite) in write.path.first.map(before.isComplete(for:)) ?? true }
    for write in writes where isKnown(write) { userOverwrite(write.path, write.node) }
    for write in writes where !isKnown(write) { userOverwrite(write.path, write.node) }
  }

  // MARK: - Answers to writes

  /// A write was confirmed: the server's value, which is there already, counts again where the write covered it.
  private mutating func confirm(_ path: TreePath, _ marks: WriteTrie) {
    if writes.complete(at: path) != nil { return }
    let server = cache.server
    if marks.node != nil {
      if server.isComplete && path.isRoot || server.isComplete(at: path) {
        serverOverwrite(path, server.node.node(at: path), isFiltered: server.isFiltered)
      } else if path.isRoot {
        var parts = WriteTrie()
        for (key, node) in server.node.children.entries { parts.add(node, at: TreePath([key])) }
        serverMerge(path, parts, isFiltered: server.isFiltered)
      }
      return
    }
    var parts = WriteTrie()
    for mark in marks.writes {
      let whole = path.appending(mark.path)
      if server.isComplete(at: whole) { parts.add(server.node.node(at: whole), at: mark.path) }
    }
    serverMerge(path, parts, isFiltered: server.isFiltered)
  }

  /// A write was refused: what it covered is computed without it.
  private mutating func revert(_ path: TreePath) {
    if writes.complete(at: path) != nil { return }
    let old = cache.event
    var ordered = old.ordered
    if let key = path.first, !key.isPriority {
      ordered = revertChild(key, ordered)
    } else {
      let server = cache.server
      let node =
        (server.isComplete ? writes.value(over: server.node) : nil) ?? writes.knownChildren(over: server.node)
      ordered = filter.replace(ordered, with: node, &changes)
    }
    let isComplete = cache.server.isComplete || writes.complete(at: .root) != nil
    cache.event = CacheNode(ordered, isComplete: isComplete, isFiltered: filter.isFiltering)
  }

  private mutating func revertChild(_ key: TreeKey, _ old: OrderedChildren) -> OrderedChildren {
    var ordered = old
    if let child = writes.child(key, over: cache.server) {
      ordered = set(key, to: child, in: old)
    } else if old.node.hasChild(key) {
      ordered = set(key, to: .empty, in: old)
    }
    // The write may have made children of a leaf, which is one again.
    if ordered.node.isEmpty, cache.server.isComplete, let whole = writes.value(over: cache.server.node), whole.isLeaf {
      ordered = filter.replace(ordered, with: whole, &changes)
    }
    return ordered
  }

  // MARK: - Known children

  private mutating func set(_ key: TreeKey, to child: TreeNode, in old: OrderedChildren) -> OrderedChildren {
    let source = KnownChildren(writes: writes, cache: cache, known: known)
    let isReversed = filter.window.isFilledFromEnd
    return filter.set(key, to: child, in: old, &changes) { source.next(beyond: $0, reversed: isReversed) }
  }

  private func knownChild(_ key: TreeKey) -> TreeNode? {
    if cache.event.isComplete(for: key) { return cache.event.node.child(key) }
    if let known {
      let whole = CacheNode(OrderedChildren(known, order: .key), isComplete: true, isFiltered: false)
      return writes.child(key, over: whole)
    }
    return writes.child(key, over: cache.server)
  }
}

/// All children that are known at a node, under the pending writes: more than a window shows.
struct KnownChildren {
  let writes: LocalWrites
  let cache: ViewCache
  let known: TreeNode?

  /// The next child beyond `position` in the window's order.
  func next(beyond position: ChildPosition, reversed: Bool) -> OrderedChildren.Child? {
    let order = cache.event.ordered.order
    let local = writes.all.writes(at: writes.path)
    if let written = local.node {
      return OrderedChildren(written, order: order).neighbour(of: position, reversed: reversed)
    }
    guard let server else { return nil }
    // Children without pending writes in the server's order, and those with pending writes one by one.
    var found = server.neighbour(of: position, reversed: reversed)
    while let child = found, local.children[child.key] != nil {
      found = server.neighbour(of: order.position(of: child.key, child.node), reversed: reversed)
    }
    var best = found.map { (position: order.position(of: $0.key, $0.node), node: $0.node) }
    for (key, trie) in local.children where !key.isPriority {
      let node = trie.apply(to: server.node.child(key))
      let candidate = order.position(of: key, node)
      let isBeyond = reversed ? candidate < position : position < candidate
      guard !node.isEmpty, isBeyond else { continue }
      if let best, reversed ? candidate < best.position : best.position < candidate { continue }
      best = (candidate, node)
    }
    return best.map { ($0.position.key, $0.node) }
  }

  /// The widest knowledge of the server's children, in the window's order.
  private var server: OrderedChildren? {
    if cache.server.isComplete, !cache.server.isFiltered { return cache.server.ordered }
    if let known { return OrderedChildren(known, order: cache.event.ordered.order) }
    return cache.server.isComplete ? cache.server.ordered : nil
  }
}
