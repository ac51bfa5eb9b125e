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
  let indexes: TreeIndexTable
  private let priorities: PriorityTable

  init(_ database: Database) {
    self.database = database
    indexes = TreeIndexTable(database)
    priorities = PriorityTable(database)
  }

  // MARK: Writing

  /// Applies a change. Besides the rows of the written value it touches the deleted range and at most one row: the leaf
  /// above, or the row that carries a priority; and in each index that the path concerns the rows of its children.
  func apply(_ change: TreeChange) throws {
    if change.path.key?.isPriority == true, let parent = change.path.parent {
      return try setPriority(change.node.scalar, at: parent)
    }
    let touched = try indexed(by: change, isPart: false)
    try overwrite(change)
    try reindex(touched)
    try replaceIndexRows(change)
  }

  private func overwrite(_ change: TreeChange) throws {
    let first = PathKeyCoding.encode(change.path)
    let before = change.path.isRoot || change.node.isEmpty ? nil : try row(before: first)
    let rows = RowChanges(overwriting: change.path, with: change.node, rowBefore: before)
    let delete = try database.statement("DELETE FROM martlet_tree WHERE key >= ? AND key < ?")
    try delete.bind(1, blob: rows.deleted.first)
    try delete.bind(2, blob: rows.deleted.end)
    try delete.run()
    try priorities.delete(rows.deleted)
    if let key = rows.replacedLeaf, let before {
      // A leaf that gets children keeps its priority.
      try put(key, before.priority.map { LeafRow(path: before.path, scalar: nil, priority: $0) })
    }
    for row in rows.written { try put(row.key, row.value, hasPriority: row.hasPriority) }
    if change.node.isEmpty { try removeEmptied(above: change.path) }
  }

  /// Adds the rows of a further part of the change that was applied before it.
  func add(_ rest: TreeChange) throws {
    let touched = try indexed(by: rest, isPart: true)
    var rows: [LeafRow] = []
    rest.node.forEachRow(at: rest.path) { rows.append($0) }
    for row in rows { try put(PathKeyCoding.encode(row.path), row) }
    try reindex(touched)
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
    if let row { return try put(key, row.encodedValue, hasPriority: row.priority != nil) }
    let delete = try database.statement("DELETE FROM martlet_tree WHERE key = ?")
    try delete.bind(1, blob: key)
    try delete.run()
    try priorities.note(key, hasPriority: false)
  }

  private func put(_ key: [UInt8], _ value: [UInt8], hasPriority: Bool) throws {
    try priorities.note(key, hasPriority: hasPriority)
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

  /// The row before `key` where it is one of a node above; of any other its value, which may be a long text, is not
  /// read.
  private func row(before key: [UInt8]) throws -> LeafRow? {
    let select = try database.statement(
      """
      SELECT key, iif(substr(?1, 1, length(key)) = key, value, NULL) FROM martlet_tree
      WHERE key < ?1 ORDER BY key DESC LIMIT 1
      """)
    defer { select.reset() }
    try select.bind(1, blob: key)
    return try select.step() && !select.isNull(1) ? try Self.row(select) : nil
  }

  private func next(_ select: Statement) throws -> LeafRow? {
    defer { select.reset() }
    return try select.step() ? try Self.row(select) : nil
  }

  private func nextPath(_ select: Statement) throws -> TreePath? {
    defer { select.reset() }
    return try select.step() ? try Self.path(select) : nil
  }

  private static func path(_ select: Statement) throws(StoreError) -> TreePath {
    guard let path = PathKeyCoding.decode(select.bytes(0)) else { throw damage }
    return path
  }

  private static func row(_ select: Statement) throws(StoreError) -> LeafRow {
    guard let row = LeafRow(path: try path(select), encodedValue: select.bytes(1)) else { throw damage }
    return row
  }

  private static var damage: StoreError { StoreError(.damaged, "a row of the tree is damaged") }

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

  /// The child after `key` in key order, or the first one.
  func child(of path: TreePath, after key: TreeKey?) throws -> TreeKey? {
    let all = PathKeyCoding.subtree(of: path)
    let select = try database.statement(
      """
      SELECT key FROM martlet_tree WHERE key >= ? AND key < ? AND substr(value, 1, 1) <> x'00' ORDER BY key LIMIT 1
      """)
    // Between a node's own row and its children's rows stands no other key.
    try select.bind(1, blob: key.map { PathKeyCoding.subtree(of: path.child($0)).end } ?? all.first)
    try select.bind(2, blob: all.end)
    guard let found = try nextPath(select), found.keys.count > path.keys.count else { return nil }
    return found.keys[path.keys.count]
  }

  /// How many rows stand at and below `path`, counted up to `most`.
  func count(at path: TreePath, most: Int) throws -> Int {
    let range = PathKeyCoding.subtree(of: path)
    let count = try database.statement(
      "SELECT count(*) FROM (SELECT 1 FROM martlet_tree WHERE key >= ? AND key < ? LIMIT ?)")
    defer { count.reset() }
    try count.bind(1, blob: range.first)
    try count.bind(2, blob: range.end)
    try count.bind(3, Int64(most))
    return try count.step() ? Int(count.int64(0)) : 0
  }

  /// The path of the first leaf whose key is not before `key`.
  func leaf(from key: [UInt8]) throws -> TreePath? {
    let select = try database.statement(
      """
      SELECT key FROM martlet_tree WHERE key >= ? AND substr(value, 1, 1) <> x'00' ORDER BY key LIMIT 1
      """)
    try select.bind(1, blob: key)
    return try nextPath(select)
  }

  /// The whole value at `path`.
  ///
  /// - Parameter limit: rows beyond which the node is too large.
  func node(at path: TreePath, limit: Int = .max) throws -> TreeNode {
    if path.key?.isPriority == true, let parent = path.parent {
      return try priority(at: parent).map { TreeNode($0) } ?? .empty
    }
    var rows: [LeafRow] = []
    try forEachRow(PathKeyCoding.subtree(of: path)) { row in
      guard rows.count < limit else { throw Self.tooLarge(path, limit) }
      rows.append(row)
      return true
    }
    return TreeNode(rows: rows, at: path)
  }

  /// The rows of `path` that follow the row of `last`, or the first ones: as many as take `bytes`, and one at least.
  ///
  /// - Returns: the rows as a node, and the path of the last one; nil when no others follow.
  func part(of path: TreePath, after last: TreePath?, bytes: Int) throws -> (node: TreeNode, last: TreePath?) {
    var range = PathKeyCoding.subtree(of: path)
    // What stands below the last row follows it: a leaf may have become a node with children.
    if let last { range.first = PathKeyCoding.encode(last) + [0] }
    var (rows, used, isWhole): ([LeafRow], Int, Bool) = ([], 0, true)
    try forEachRow(range) { row in
      // The priority of a node stands in front of its children, and is not separated from the first of them.
      if used >= bytes, rows.last?.scalar != nil {
        isWhole = false
        return false
      }
      used += (row.path.key?.text.utf8.count ?? 0) + row.encodedValue.count
      rows.append(row)
      return true
    }
    return (TreeNode(rows: rows, at: path), isWhole ? nil : rows.last?.path)
  }

  /// Visits the rows of a range until `body` returns false.
  private func forEachRow(
    _ range: (first: [UInt8], end: [UInt8]), isReversed: Bool = false, _ body: (LeafRow) throws -> Bool
  ) throws {
    let select = try database.statement(
      """
      SELECT key, value FROM martlet_tree WHERE key >= ? AND key < ? ORDER BY key \(isReversed ? "DESC" : "ASC")
      """)
    defer { select.reset() }
    try select.bind(1, blob: range.first)
    try select.bind(2, blob: range.end)
    while try select.step() {
      guard try body(try Self.row(select)) else { return }
    }
  }

  private static func tooLarge(_ path: TreePath, _ limit: Int) -> StoreError {
    StoreError(.invalid, "the node \(path) has more than \(limit) leaves")
  }

  // MARK: Windows

  /// The children of `path` that belong to `window`, as a node.
  ///
  /// In key order, and in an order with a complete index, the rows outside the window are not read, nor by priority
  /// where nothing below the node has one; in another order the whole node is.
  func node(at path: TreePath, in window: Window, limit: Int = .max) throws -> TreeNode {
    if window.isUnbounded { return try node(at: path, limit: limit) }
    if window.order == .key { return try nodeByKey(at: path, in: window, limit) }
    if window.order == .priority, try !priorities.isAny(below: path) {
      return try window.byKeyWithoutPriorities.map { try nodeByKey(at: path, in: $0, limit) } ?? .empty
    }
    guard let index = try indexes.complete(window.order, at: path) else {
      return OrderedChildren(try node(at: path, limit: limit), order: window.order).node(in: window)
    }
    var entries: [(key: TreeKey, value: TreeNode)] = []
    var left = limit
    for key in try indexes.keys(index, of: path, in: window).sorted() {
      var rows: [LeafRow] = []
      try forEachRow(PathKeyCoding.subtree(of: path.child(key))) { row in
        guard left > 0 else { throw Self.tooLarge(path, limit) }
        left -= 1
        rows.append(row)
        return true
      }
      entries.append((key, TreeNode(rows: rows, at: path.child(key))))
    }
    return TreeNode(children: SortedMap(sorted: entries))
  }

  /// Reads the rows of the window's children, each once, and one row more.
  private func nodeByKey(at path: TreePath, in window: Window, _ limit: Int) throws -> TreeNode {
    var range = PathKeyCoding.subtree(of: path)
    if let bound = window.start, let key = bound.key {
      let child = PathKeyCoding.subtree(of: path.child(key))
      range.first = bound.isIncluded ? child.first : child.end
    }
    if let bound = window.end, let key = bound.key {
      let child = PathKeyCoding.subtree(of: path.child(key))
      range.end = bound.isIncluded ? child.end : child.first
    }
    let most = window.limit?.count ?? .max
    var entries: [(key: TreeKey, value: TreeNode)] = []
    var (current, rows, left): (TreeKey?, [LeafRow], Int) = (nil, [], limit)
    func finish() {
      guard let key = current else { return }
      let child = TreeNode(rows: rows, at: path.child(key))
      if !child.isEmpty { entries.append((key, child)) }
      (current, rows) = (nil, [])
    }
    try forEachRow(range, isReversed: window.isFilledFromEnd) { row in
      // The node's own row: its priority, or it is a leaf.
      guard row.path.keys.count > path.keys.count else { return true }
      let key = row.path.keys[path.keys.count]
      if key != current {
        finish()
        if entries.count >= most { return false }
        current = key
      }
      guard left > 0 else { throw Self.tooLarge(path, limit) }
      left -= 1
      rows.append(row)
      return true
    }
    if entries.count < most { finish() }
    if window.isFilledFromEnd { entries.reverse() }
    return TreeNode(children: SortedMap(sorted: entries), priority: try priority(at: path))
  }
}
