import MartletJSONTree
import MartletTreeWire

extension TreeClientMachine.Known {
  /// Nodes whose text is at most this long are compared whole: ranges of less would cost more than they spare.
  private static let rangedBytes = 1_024

  /// What the client sends of a value that it has, so that only the rest is sent: its revision, or hashes.
  ///
  /// - Parameter resumes: whether the server resumes from revisions.
  init(
    of query: TreeClient.Query, _ engine: TreeEngine, _ revisions: [TreeClient.Query: String], resumes: Bool
  ) {
    self.init()
    guard let node = engine.serverValue(at: query.path, query.window) else { return }
    if resumes, let revision = revisions[query] {
      since = revision
      guard !query.window.isUnbounded else { return }
      if node.isLeaf { since = nil } else { keys = node.children.keys }
      return
    }
    hash = TreeHash.hash(node)
    if query.window.isUnbounded, node.exceeds(Self.rangedBytes) { ranges = CompoundHash(node) }
  }
}

extension TreeNode {
  /// Whether keys and values take more than so many bytes.
  fileprivate func exceeds(_ bytes: Int) -> Bool {
    var count = 0
    // Stops at the first leaf beyond.
    struct Enough: Error {}
    do {
      try forEachRow { row in
        count += (row.path.key?.text.utf8.count ?? 0) + 8
        if case .string(let text)? = row.scalar { count += text.utf8.count }
        if count > bytes { throw Enough() }
      }
    } catch { return true }
    return false
  }
}
