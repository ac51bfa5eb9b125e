/// The keys from the root to a node.
///
/// ```swift
/// let path = try TreePath("/contacts/42")
/// path.key        // 42
/// path.parent     // /contacts
/// ```
package struct TreePath: Hashable, Sendable {
  /// From the root down.
  package var keys: [TreeKey]

  /// The path of `keys`.
  package init(_ keys: some Sequence<TreeKey>) {
    self.keys = Array(keys)
  }

  /// The root of the tree.
  package static let root = TreePath([])

  /// Reads a path in the syntax of Webcom: empty segments and `.` are skipped, `..` goes up and stays at the root.
  ///
  /// - Parameter base: the node from which the path is read.
  package init(
    _ text: String, from base: TreePath = .root, limits: TreeLimits = TreeLimits()
  ) throws(TreeError) {
    keys = base.keys
    for segment in text.split(separator: "/", omittingEmptySubsequences: true) {
      switch segment {
      case ".": continue
      case "..": _ = keys.popLast()
      default: keys.append(try TreeKey(String(segment), under: TreePath(keys), limits: limits))
      }
    }
    try checkDepth(limits)
  }

  /// Reads a path of the Realtime Database's protocol: no `.` and `..`; a last segment `.priority` is the priority.
  package init(wire text: String, limits: TreeLimits = TreeLimits()) throws(TreeError) {
    keys = []
    let segments = text.split(separator: "/", omittingEmptySubsequences: true)
    for (index, segment) in segments.enumerated() {
      if index == segments.count - 1, segment == ".priority" {
        keys.append(.priority)
      } else {
        keys.append(try TreeKey(String(segment), under: TreePath(keys), limits: limits))
      }
    }
    try checkDepth(limits)
  }

  private func checkDepth(_ limits: TreeLimits) throws(TreeError) {
    guard keys.count <= limits.depth + (keys.last?.isPriority == true ? 1 : 0) else {
      throw TreeError(.tooDeep, at: self, limit: limits.depth)
    }
  }

  /// Whether this is the root.
  package var isRoot: Bool { keys.isEmpty }
  /// The last key; nil for the root.
  package var key: TreeKey? { keys.last }
  /// The first key; nil for the root.
  package var first: TreeKey? { keys.first }
  /// The node above; nil for the root.
  package var parent: TreePath? { keys.isEmpty ? nil : TreePath(keys.dropLast()) }
  /// The path without its first key.
  package var rest: TreePath { TreePath(keys.dropFirst()) }

  /// The path of a child.
  package func child(_ key: TreeKey) -> TreePath { TreePath(keys + [key]) }
  /// The path of a node below.
  package func appending(_ other: TreePath) -> TreePath {
    if other.keys.isEmpty { return self }
    return keys.isEmpty ? other : TreePath(keys + other.keys)
  }

  /// Whether `other` is this node or stands below it.
  package func contains(_ other: TreePath) -> Bool {
    keys.count <= other.keys.count && keys.elementsEqual(other.keys.prefix(keys.count))
  }

  /// The path from `ancestor` to this node; nil when this node does not stand at or below it.
  package func relative(to ancestor: TreePath) -> TreePath? {
    ancestor.contains(self) ? TreePath(keys.dropFirst(ancestor.keys.count)) : nil
  }
}

extension TreePath: ExpressibleByArrayLiteral {
  /// For paths written in code; not checked.
  package init(arrayLiteral elements: TreeKey...) { self.init(elements) }
}

extension TreePath: CustomStringConvertible, Comparable {
  /// `/` and the keys with `/` between them.
  package var description: String { "/" + keys.map(\.text).joined(separator: "/") }

  /// A node stands before the nodes below it, siblings stand in key order.
  package static func < (left: TreePath, right: TreePath) -> Bool { left.keys.lexicographicallyPrecedes(right.keys) }
}
