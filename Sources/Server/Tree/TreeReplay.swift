internal import MartletChangeFeed
internal import MartletJSONTree
internal import MartletStore
internal import MartletVocabulary

/// What a client that listens again has of the value.
struct TreeResumption: Sendable {
  /// Everything up to here.
  var cursor: Cursor
  /// The children of a window.
  var keys: Set<TreeKey>
}

/// Finds out of the log what has been written since a client's revision.
struct TreeReplay: Sendable {
  private let resumption: TreeResumption
  private let path: TreePath
  private let window: Window
  private let lineage: Lineage
  private let mostChanges: Int

  /// - Parameter mostChanges: of the log; when there are more since the revision, the whole value is sent.
  init(
    _ resumption: TreeResumption, _ path: TreePath, _ window: Window, _ lineage: Lineage, changes mostChanges: Int
  ) {
    (self.resumption, self.path, self.window) = (resumption, path, window)
    (self.lineage, self.mostChanges) = (lineage, mostChanges)
  }

  /// What the log has of the node since the revision.
  enum Answer {
    /// The last value written at each path.
    case written(WriteTrie)
    /// The whole node was written.
    case replaced
    /// The log does not say, for this reason.
    case gap(String)
  }

  func answer(in snapshot: ReadSnapshot, head: Int64) throws(StoreError) -> Answer {
    let cursor = resumption.cursor
    if case .gap(let reason) = lineage.judge(cursor, firstKept: try snapshot.firstRetained(), head: head) {
      return .gap(reason.rawValue)
    }
    var (offset, left) = (cursor.offset, mostChanges)
    var trie = WriteTrie()
    while offset < head {
      guard left > 0 else { return .gap("too-many-changes") }
      guard case .changes(let changes, let through, _, _) = try snapshot.log(after: offset, changes: min(left, 1_024)),
        through > offset
      else { return .gap(GapReason.damage.rawValue) }
      left -= changes.count
      for case .tree(let change) in changes.map(\.body) where !add(change, to: &trie) { return .replaced }
      offset = through
    }
    return .written(trie)
  }

  /// - Returns: false when the whole node was written.
  private func add(_ change: TreeChange, to trie: inout WriteTrie) -> Bool {
    let isPriority = change.path.key?.isPriority == true
    let written = isPriority ? change.path.parent ?? .root : change.path
    if let relative = written.relative(to: path) {
      if relative.isRoot, !isPriority { return false }
      trie.add(change.node, at: isPriority ? relative.child(.priority) : relative)
      return true
    }
    // A write above replaces the node; a priority above concerns the nodes above only.
    return isPriority || !written.contains(path)
  }

  /// What a window's client has to change to have `node`: children that have left or were never sent, and those that
  /// were written.
  func changes(of node: TreeNode, _ written: WriteTrie) -> [TreeWrite]? {
    guard !node.isLeaf else { return nil }
    let touched = Set(written.children.keys)
    var changes: [TreeWrite] = []
    for key in resumption.keys.sorted() where !node.hasChild(key) {
      changes.append(TreeWrite(path: [key], node: .empty))
    }
    node.children.forEach { key, child in
      if touched.contains(key) || !resumption.keys.contains(key) { changes.append(TreeWrite(path: [key], node: child)) }
      return true
    }
    return changes
  }
}
