internal import MartletChangeFeed
internal import MartletJSONTree
internal import MartletSQLite

/// The tree's leaves, one row each, under keys in the tree's order. Confined to the connection's thread.
///
/// A node with children has a row of its own only when it has a priority; the row goes with the last child.
final class TreeTable {
  static let tables = """
    CREATE TABLE IF NOT EXISTS martlet_tree(key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID, STRICT;
    """

  private let database: Database

  init(_ database: Database) {
    self.database = database
  }

  // MARK: Writing

  /// Applies a change. Besides the rows of the written value it touches the deleted range and at most one row: the leaf
  /// above, or the row that carries a priority.
  func apply(_ change: TreeChange) throws {
    if change.path.key?.isPriority == true, let parent = change.path.parent {
      return try setPriority(change.node.scalar, at: parent)
    }
    let first = PathKeyCoding.encode(change.path)
    let before = change.path.isRoot || change.node.isEmpty ? nil : try row(before: first)
    let rows = RowChanges(overwriting: change.path, with: change.node, rowBefore: before)
    let delete = try database.statement("DELETE FROM martlet_tree WHERE key >= ? AND key < ?")
    try delete.bind(1, blob: rows.deleted.first)
    try delete.bind(2, blob: rows.deleted.end)
    try delete.run()
    if let key = rows.replacedLeaf, let before {
      // A leaf that gets children keeps its priority.
      try put(key, before.priority.map { LeafRow(path: before.path, scalar: nil, priority: $0) })
    }
    for row in rows.written { try put(row.key, row.value) }
    if change.node.isEmpty { try removeEmptied(above: change.path) }
  }

  /// Adds the rows of a further part of the change that was applied before it.
  func add(_ rest: TreeChange) throws {
    var rows: [LeafRow] = []
    rest.node.forEachRow(at: rest.path) { rows.append($0) }
    for row in rows { try put(PathKeyCoding.encode(row.path), row.encodedValue) }
  }

  /// A node whose last child is gone loses its priority with it.
  private func removeEmptied(above path: TreePath) throws {
    var path = path
    while let parent = path.parent, try glimpse(at: parent) == .absent {
      try put(PathKeyCoding.encode(parent), nil as LeafRow?)
      path = parent
    }
  }

  private func setPriority(_ priority: TreeScalar?, at path: TreePath) throws {
    guard try glimpse(at: path) != .absent else { return }
    let key = PathKeyCoding.encode(path)
    let scalar = try row(key)?.scalar
    guard scalar != nil || priority != nil else { return try put(key, nil as LeafRow?) }
    try put(key, LeafRow(path: path, scalar: scalar, priority: priority))
  }

  private func put(_ key: [UInt8], _ row: LeafRow?) throws {
    if let row { return try put(key, row.encodedValue) }
    let delete = try database.statement("DELETE FROM martlet_tree WHERE key = ?")
    try delete.bind(1, blob: key)
    try delete.run()
  }

  private func put(_ key: [UInt8], _ value: [UInt8]) throws {
    let insert = try database.statement("INSERT OR REPLACE INTO martlet_tree(key, value) VALUES(?, ?)")
    try insert.bind(1, blob: key)
    try insert.bind(2, blob: value)
    try insert.run()
  }

  // MARK: Reading

  private func row(_ key: [UInt8]) throws -> LeafRow? {
    let select = try database.statement("SELECT key, value FROM martlet_tree WHERE key = ?")
    try select.bind(1, blob: key)
    return try next(select)
  }

  private func row(before key: [UInt8]) throws -> LeafRow? {
    let select = try database.statement("SELECT key, value FROM martlet_tree WHERE key < ? ORDER BY key DESC LIMIT 1")
    try select.bind(1, blob: key)
    return try next(select)
  }

  private func next(_ select: Statement) throws -> LeafRow? {
    defer { select.reset() }
    return try select.step() ? try Self.row(select) : nil
  }

  private static func row(_ select: Statement) throws(StoreError) -> LeafRow {
    guard let path = PathKeyCoding.decode(select.bytes(0)),
      let row = LeafRow(path: path, encodedValue: select.bytes(1))
    else { throw StoreError(.damaged, "a row of the tree is damaged") }
    return row
  }

  /// What stands at `path`.
  func glimpse(at path: TreePath) throws -> TreeGlimpse {
    let range = PathKeyCoding.subtree(of: path)
    if let scalar = try row(range.first)?.scalar { return .leaf(scalar) }
    // Rows without a leaf only carry a priority.
    let select = try database.statement(
      "SELECT 1 FROM martlet_tree WHERE key > ? AND key < ? AND substr(value, 1, 1) <> x'00' LIMIT 1")
    defer { select.reset() }
    try select.bind(1, blob: range.first)
    try select.bind(2, blob: range.end)
    return try select.step() ? .children : .absent
  }

  func priority(at path: TreePath) throws -> TreeScalar? {
    guard let priority = try row(PathKeyCoding.encode(path))?.priority else { return nil }
    return try glimpse(at: path) == .absent ? nil : priority
  }

  /// The child after `key` in key order, or the first one; the child before it, or the last one, when `isReversed`.
  func child(of path: TreePath, after key: TreeKey?, isReversed: Bool = false) throws -> TreeKey? {
    let all = PathKeyCoding.subtree(of: path)
    let own = key.map { PathKeyCoding.subtree(of: path.child($0)) }
    // Between a node's own row and its children's rows stands no other key.
    let range = isReversed ? (all.first, own?.first ?? all.end) : (own?.end ?? all.first, all.end)
    let select = try database.statement(
      """
      SELECT key, value FROM martlet_tree WHERE key >= ? AND key < ? AND substr(value, 1, 1) <> x'00'
      ORDER BY key \(isReversed ? "DESC" : "ASC") LIMIT 1
      """)
    try select.bind(1, blob: range.0)
    try select.bind(2, blob: range.1)
    guard let found = try next(select)?.path, found.keys.count > path.keys.count else { return nil }
    return found.keys[path.keys.count]
  }

  /// The whole value at `path`.
  ///
  /// - Parameter limit: rows beyond which the node is too large.
  func node(at path: TreePath, limit: Int = .max) throws -> TreeNode {
    if path.key?.isPriority == true, let parent = path.parent {
      return try priority(at: parent).map { TreeNode($0) } ?? .empty
    }
    let range = PathKeyCoding.subtree(of: path)
    let select = try database.statement(
      "SELECT key, value FROM martlet_tree WHERE key >= ? AND key < ? ORDER BY key")
    defer { select.reset() }
    try select.bind(1, blob: range.first)
    try select.bind(2, blob: range.end)
    var rows: [LeafRow] = []
    while try select.step() {
      guard rows.count < limit else {
        throw StoreError(.invalid, "the node \(path) has more than \(limit) leaves")
      }
      rows.append(try Self.row(select))
    }
    return TreeNode(rows: rows, at: path)
  }

  /// The children of `path` that belong to `window`, as a node.
  ///
  /// In key order the rows outside the window are not read; in another order the whole node is.
  func node(at path: TreePath, in window: Window, limit: Int = .max) throws -> TreeNode {
    if window.isUnbounded { return try node(at: path, limit: limit) }
    guard window.order == .key else {
      return OrderedChildren(try node(at: path, limit: limit), order: window.order).node(in: window)
    }
    let isReversed = window.isFilledFromEnd
    let bound = isReversed ? window.end : window.start
    var entries: [(key: TreeKey, value: TreeNode)] = []
    var next: TreeKey?
    if let bound, let key = bound.key {
      let isThere = try glimpse(at: path.child(key)) != .absent
      next = bound.isIncluded && isThere ? key : try child(of: path, after: key, isReversed: isReversed)
    } else {
      next = try child(of: path, after: nil, isReversed: isReversed)
    }
    while let key = next, window.contains(ChildPosition(value: .null, key: key)) {
      if let count = window.limit?.count, entries.count >= count { break }
      entries.append((key, try node(at: path.child(key), limit: limit)))
      next = try child(of: path, after: key, isReversed: isReversed)
    }
    if isReversed { entries.reverse() }
    return TreeNode(children: SortedMap(sorted: entries), priority: try priority(at: path))
  }
}
