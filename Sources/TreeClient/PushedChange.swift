import MartletJSON
import MartletJSONTree
import MartletTreeWire

/// What a server's push changes in a client's tree.
struct PushedChange {
  private enum Value {
    case node(TreeNode)
    case parts([TreeWrite])
    case ranges([LeafRange])
  }

  let path: TreePath
  /// The window that the change is for; nil for whole nodes.
  let tag: Int64?
  private let value: Value

  /// Reads the values of a push; nil for one that has none.
  ///
  /// - Throws: `invalidTree` when they cannot be read.
  init?(_ push: TreePush) throws(TreeWireError) {
    let reader = TreeReader(limits: .largest)
    switch push {
    case .overwrite(let path, let json, let tag):
      (self.path, self.tag) = (path, tag)
      guard let node = try? reader.read(json, at: path) else { throw Self.unreadable("d", path) }
      value = .node(node)
    case .merge(let path, let object, let tag):
      (self.path, self.tag) = (path, tag)
      guard let parts = try? reader.readMerge(object, at: path) else { throw Self.unreadable("m", path) }
      value = .parts(parts)
    case .rangeMerge(let path, let ranges, let tag):
      (self.path, self.tag) = (path, tag)
      var replaced: [LeafRange] = []
      for range in ranges {
        guard let node = try? reader.read(range.replacement, at: path) else { throw Self.unreadable("rm", path) }
        replaced.append(LeafRange(start: range.start, end: range.end, replacement: node))
      }
      value = .ranges(replaced)
    case .part, .cancelled, .gap, .watched, .revoked, .debug: return nil
    }
  }

  private static func unreadable(_ action: String, _ path: TreePath) -> TreeWireError {
    TreeWireError(.invalidTree, "\(action): the value of \(path) cannot be read")
  }

  /// What is written below the path; nothing of ranges, which are sent to clients that have a value.
  var writes: [TreeWrite] {
    switch value {
    case .node(let node): [TreeWrite(path: .root, node: node)]
    case .parts(let parts): parts
    case .ranges: []
    }
  }

  /// Makes the change in what the engine knows of the server.
  func apply(to engine: inout TreeEngine) -> TreeEngine.Outcome {
    switch (value, tag.map { Int($0) }) {
    case (.node(let node), let tag?): engine.serverOverwrite(path, with: node, tag: tag)
    case (.node(let node), nil): engine.serverOverwrite(path, with: node)
    case (.parts(let parts), let tag?): engine.serverMerge(path, parts, tag: tag)
    case (.parts(let parts), nil): engine.serverMerge(path, parts)
    case (.ranges(let ranges), _): engine.serverReplace(path, ranges)
    }
  }
}
