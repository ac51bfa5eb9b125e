/// A change on its way through the listeners, relative to the node it has reached.
struct TreeOperation {
  enum Kind {
    /// The value at the path is replaced.
    case overwrite(TreeNode)
    /// The values at several paths below the path are replaced.
    case merge(WriteTrie)
    /// A pending write of these paths was answered: confirmed, or taken back.
    case acknowledge(WriteTrie, isReverted: Bool)
    /// The server has sent everything at the path.
    case complete
  }

  /// Where a change comes from.
  enum Source {
    case user
    case server
    /// The server, for the listener of one window.
    case window
  }

  var kind: Kind
  var path: TreePath
  var source: Source

  /// The same change as seen from a child; nil when it does not reach it.
  func descending(to key: TreeKey) -> TreeOperation? {
    if let first = path.first {
      return first == key ? TreeOperation(kind: kind, path: path.rest, source: source) : nil
    }
    switch kind {
    case .overwrite(let node): return with(.overwrite(node.child(key)))
    case .merge(let writes):
      let below = writes.subtree(at: key)
      if let node = below.node { return with(.overwrite(node)) }
      return below.isEmpty ? nil : with(.merge(below))
    case .acknowledge(let marks, let isReverted):
      if marks.node != nil { return self }
      let below = marks.subtree(at: key)
      return below.isEmpty ? nil : with(.acknowledge(below, isReverted: isReverted))
    case .complete: return self
    }
  }

  private func with(_ kind: Kind) -> TreeOperation {
    TreeOperation(kind: kind, path: path, source: source)
  }
}
