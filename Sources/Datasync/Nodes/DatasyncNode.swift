internal import MartletJSONTree

/// A place in the tree. It may be named whether a value is there or not; several references may denote one node.
public final class DatasyncNode: Sendable {
  let treePath: TreePath
  let manager: DatasyncManager
  var service: DatasyncService { manager.service }

  init(_ path: TreePath, _ manager: DatasyncManager) {
    treePath = path
    self.manager = manager
  }

  /// The path from the root, which is `/`.
  public var path: String { treePath.description }
  /// The last segment; empty for the root.
  public var key: String { treePath.key?.text ?? "" }
  /// The node above; nil for the root.
  public var parent: DatasyncNode? { treePath.parent.map { DatasyncNode($0, manager) } }

  /// The node at a path from here; nil when the path cannot be one.
  public func relativeNode(for path: String) -> DatasyncNode? {
    (try? TreePath(path, from: treePath)).map { DatasyncNode($0, manager) }
  }

  /// The node at a path from here; nil when the path cannot be one.
  public static func / (node: DatasyncNode, path: String) -> DatasyncNode? { node.relativeNode(for: path) }

  /// A child with a new key that sorts after those made before; nothing is written.
  public func createChild() -> DatasyncNode { DatasyncNode(treePath.child(service.pushKey()), manager) }

  /// A new key that sorts after those made before.
  public func generateUniqueKey() -> String { service.pushKey().text }
}

extension DatasyncNode {
  /// Keeps the node, or a window of it, up to date without a subscription, and out of the cache's eviction; or no
  /// longer.
  ///
  /// A read that is answered without the server then has the newest value that was known. It is kept until it is taken
  /// back, or the server revokes it; not over the application's restarts.
  ///
  /// - Throws: `invalid` for a window that cannot be one; `notConfigured`.
  public func keepSynced(_ isKept: Bool = true, window: DatasyncWindow = .all) throws(DatasyncError) {
    try service.keepSynced(treePath, try window.checked(at: treePath), isKept)
  }
}

extension DatasyncNode: Hashable {
  /// Whether both denote the same node of the same service.
  public static func == (left: DatasyncNode, right: DatasyncNode) -> Bool {
    left.service === right.service && left.treePath == right.treePath
  }

  /// Hashes the path.
  public func hash(into hasher: inout Hasher) { hasher.combine(treePath) }
}

extension DatasyncNode: CustomStringConvertible {
  /// The path.
  public var description: String { path }
}
