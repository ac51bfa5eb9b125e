/// One write of this client that the server has not answered.
package struct PendingTreeWrite: Sendable {
  package enum Content: Sendable {
    case overwrite(TreeNode)
    /// Paths are relative to the write's.
    case merge([TreeWrite])
  }

  package let id: Int64
  package let path: TreePath
  package let content: Content
  /// Whether events show it before the server's answer; a transaction may be kept back.
  package let isVisible: Bool

  /// The paths it replaces.
  package var paths: [TreePath] {
    switch content {
    case .overwrite: [path]
    case .merge(let writes): writes.map { path.appending($0.path) }
    }
  }
}

/// The writes of this client that the server has not answered, and what they make of the server's values.
///
/// Settling a write costs as much as its paths are deep, and what is laid again: the writes below a write that was
/// answered before them. When writes are answered in their order, each is laid again at most once for each level above
/// it, however many are pending.
package struct PendingWrites: Sendable {
  private var byID = SortedMap<Int64, PendingTreeWrite>()
  private var visible = WriteTrie()
  private var index = WriteIndex()
  /// How many writes were laid again so far.
  package private(set) var relaid = 0

  package init() {}

  /// By increasing id.
  package var all: [PendingTreeWrite] { byID.entries.map(\.value) }

  /// - Precondition: the id is greater than that of every earlier write.
  package mutating func add(_ write: PendingTreeWrite) {
    precondition(write.id > byID.last?.key ?? .min, "write ids increase")
    byID = byID.setting(write.id, to: write)
    guard write.isVisible else { return }
    Self.lay(write, over: &visible)
    for path in write.paths { index.insert(write.id, at: path) }
  }

  /// - Parameter top: only parts at this path and below it are laid.
  private static func lay(_ write: PendingTreeWrite, over trie: inout WriteTrie, below top: TreePath = .root) {
    switch write.content {
    case .overwrite(let node): if top.contains(write.path) { trie.add(node, at: write.path) }
    case .merge(let writes):
      for part in writes {
        let path = write.path.appending(part.path)
        if top.contains(path) { trie.add(part.node, at: path) }
      }
    }
  }

  package func write(_ id: Int64) -> PendingTreeWrite? { byID[id] }

  /// Removes a write that was answered.
  ///
  /// - Returns: whether anything visible depended on it; a write that later ones cover did not.
  package mutating func remove(_ id: Int64) -> Bool {
    guard let removed = byID[id] else { return false }
    byID = byID.removing(id)
    guard removed.isVisible else { return false }
    let paths = removed.paths
    for path in paths { index.remove(id, at: path) }
    var hadEffect = false
    for path in paths {
      let covering = index.covering(path)
      if let covering, covering.last > id { continue }
      hadEffect = true
      restore(covering.map { TreePath(path.keys[..<$0.depth]) } ?? path)
    }
    return hadEffect
  }

  /// Lays what is written at and below `top` again. No write stands above it.
  private mutating func restore(_ top: TreePath) {
    visible.remove(top)
    for id in index.writes(atAndBelow: top) {
      guard let write = byID[id] else { continue }
      relaid += 1
      Self.lay(write, over: &visible, below: top)
    }
  }

  /// Whether a visible write stands at, above or below `path`: such a value is not acknowledged.
  package func touches(_ path: TreePath) -> Bool { index.touches(path) }

  /// The value at `path`, when it is wholly written.
  package func complete(at path: TreePath) -> TreeNode? { visible.complete(at: path) }

  /// What is written at and below `path`.
  package func writes(at path: TreePath) -> WriteTrie { visible.subtree(at: path) }

  /// The writes in their order over `base`, the value at `path`, also those that are not visible.
  package func applyAll(to base: TreeNode, at path: TreePath, except excluded: Set<Int64> = []) -> TreeNode {
    var trie = WriteTrie()
    for write in all where !excluded.contains(write.id) { Self.lay(write, over: &trie) }
    return trie.subtree(at: path).apply(to: base)
  }
}

/// The pending writes as seen from one node.
struct LocalWrites {
  let all: PendingWrites
  let path: TreePath

  func complete(at relative: TreePath) -> TreeNode? { all.complete(at: path.appending(relative)) }

  func touches(_ relative: TreePath) -> Bool { all.touches(path.appending(relative)) }

  /// The whole value over `server`; nil when part of it is unknown.
  func value(over server: TreeNode?) -> TreeNode? {
    let writes = all.writes(at: path)
    if let node = writes.node { return node }
    return server.map { writes.isEmpty ? $0 : writes.apply(to: $0) }
  }

  /// The children known from `server` and from the writes, for a node that is not wholly known.
  func knownChildren(over server: TreeNode) -> TreeNode {
    let writes = all.writes(at: path)
    if let node = writes.node { return node.isLeaf ? .empty : node }
    if writes.isEmpty { return server.isLeaf ? .empty : server }
    var result = server.isLeaf ? TreeNode.empty : server
    for (key, trie) in writes.children where result.hasChild(key) && !key.isPriority {
      result = result.setting(key, to: trie.apply(to: result.child(key)))
    }
    for (key, node) in writes.completeChildren { result = result.setting(key, to: node) }
    return result
  }

  /// The value at `relative` after the server's value there changed; nil when a write covers it.
  func value(at relative: TreePath, overServer server: TreeNode) -> TreeNode? {
    let writes = all.writes(at: path.appending(relative))
    return writes.node == nil ? writes.apply(to: server.node(at: relative)) : nil
  }

  /// The whole value of the child `key`; nil when part of it is unknown.
  func child(_ key: TreeKey, over server: CacheNode) -> TreeNode? {
    let writes = all.writes(at: path.child(key))
    if let node = writes.node { return node }
    return server.isComplete(for: key) ? writes.apply(to: server.node.child(key)) : nil
  }
}
