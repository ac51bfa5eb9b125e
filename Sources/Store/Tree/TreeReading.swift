internal import MartletChangeFeed
package import MartletJSONTree
internal import MartletSQLite

/// The tree as one read or one write in progress sees it. Valid during that read or write only.
package struct TreeReading {
  private let table: TreeTable

  init(_ table: TreeTable) {
    self.table = table
  }

  package func glimpse(at path: TreePath) throws(StoreError) -> TreeGlimpse {
    try Self.typed { try table.glimpse(at: path) }
  }

  package func priority(at path: TreePath) throws(StoreError) -> TreeScalar? {
    try Self.typed { try table.priority(at: path) }
  }

  /// The child after `key` in key order, or the first one.
  package func child(of path: TreePath, after key: TreeKey?) throws(StoreError) -> TreeKey? {
    try Self.typed { try table.child(of: path, after: key) }
  }

  /// How many rows stand at and below `path`, counted up to `most`.
  package func count(at path: TreePath, most: Int) throws(StoreError) -> Int {
    try Self.typed { try table.count(at: path, most: most) }
  }

  /// The value at `path`, or the part of its children in a window.
  ///
  /// - Parameter limit: leaves beyond which the node is refused as `invalid`.
  package func node(
    at path: TreePath, in window: Window = .all, limit: Int = .max
  ) throws(StoreError) -> TreeNode {
    try Self.typed { try table.node(at: path, in: window, limit: limit) }
  }

  /// The value at `path` with `true` for each child, or the leaf that it is: what is below the children is not read.
  ///
  /// - Parameter limit: children beyond which the node is refused as `invalid`.
  package func shallow(at path: TreePath, limit: Int = .max) throws(StoreError) -> TreeNode {
    var entries: [(key: TreeKey, value: TreeNode)] = []
    while let key = try child(of: path, after: entries.last?.key) {
      guard entries.count < limit else {
        throw StoreError(.invalid, "the node \(path) has more than \(limit) children")
      }
      entries.append((key, TreeNode(.bool(true))))
    }
    return entries.isEmpty ? try node(at: path, limit: 1) : TreeNode(children: SortedMap(sorted: entries))
  }

  /// A part of the rows at and below `path`: those that follow the row of `last`, as many as take `bytes`.
  ///
  /// - Returns: the rows as a node, and the path of the last one; nil when no others follow.
  package func part(
    of path: TreePath, after last: TreePath?, bytes: Int
  ) throws(StoreError) -> (node: TreeNode, last: TreePath?) {
    try Self.typed { try table.part(of: path, after: last, bytes: bytes) }
  }

  private static func typed<Value>(_ body: () throws -> Value) throws(StoreError) -> Value {
    do {
      return try body()
    } catch {
      if let error = error as? SQLiteError { throw StoreError(error) }
      throw (error as? StoreError) ?? StoreError(.failed, "\(error)")
    }
  }
}

extension ReadSnapshot {
  /// The tree at the snapshot's moment.
  package var tree: TreeReading { TreeReading(trees) }
}
