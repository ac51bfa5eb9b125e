internal import MartletChangeFeed
internal import MartletJSONTree
internal import MartletSQLite

/// The tree's declared indexes and their rows: one for each child of an indexed node, under a key of the index, the
/// node's path, the child's order value and its key. Confined to the connection's thread.
///
/// The rows follow from the tree's rows and the declarations, so that they are in no entry of the log: each store makes
/// its own, in the transaction that changes the tree.
final class TreeIndexTable {
  static let tables = """
    CREATE TABLE IF NOT EXISTS martlet_tree_indexes(
      id INTEGER PRIMARY KEY, pattern TEXT NOT NULL, ordering TEXT NOT NULL, is_dropped INTEGER NOT NULL, next BLOB)
      STRICT;
    CREATE TABLE IF NOT EXISTS martlet_tree_index(key BLOB PRIMARY KEY) WITHOUT ROWID, STRICT;
    """

  /// One index as the store has it.
  struct Declared {
    var id: UInt32
    var index: TreeIndex
    /// No longer declared: its rows are being deleted.
    var isDropped: Bool
    /// The key of the tree at which building continues; nil when the index is complete.
    var next: [UInt8]?
  }

  private let database: Database
  /// What was read last. Only the writer's connection keeps it, and only that one changes the table.
  private var known: [Declared]?

  init(_ database: Database) {
    self.database = database
  }

  // MARK: Declarations

  /// The indexes in the order in which they were declared. For the writer's connection.
  func declared() throws -> [Declared] {
    if let known { return known }
    let found = try read()
    known = found
    return found
  }

  /// Reads the declarations again with the next use: a transaction that changed them may have failed.
  func forget() { known = nil }

  private func read() throws -> [Declared] {
    let rows = try database.statement(
      "SELECT id, pattern, ordering, is_dropped, next FROM martlet_tree_indexes ORDER BY id")
    defer { rows.reset() }
    var found: [Declared] = []
    while try rows.step() {
      guard let index = TreeIndex(pattern: rows.text(1), order: rows.text(2)) else {
        throw StoreError(.damaged, "the index \(rows.text(2)) of the tree at \(rows.text(1)) is damaged")
      }
      found.append(
        Declared(
          id: UInt32(truncatingIfNeeded: rows.int64(0)), index: index, isDropped: rows.int64(3) != 0,
          next: rows.isNull(4) ? nil : rows.bytes(4)))
    }
    return found
  }

  /// Declares these indexes and no others. New ones are empty and have to be built.
  func declare(_ wanted: Set<TreeIndex>) throws {
    let present = try declared().filter { !$0.isDropped }
    known = nil
    let drop = try database.statement("UPDATE martlet_tree_indexes SET is_dropped = 1 WHERE id = ?")
    for one in present where !wanted.contains(one.index) {
      try drop.bind(1, Int64(one.id))
      try drop.run()
    }
    let missing = wanted.subtracting(present.map(\.index))
    let insert = try database.statement(
      "INSERT INTO martlet_tree_indexes(pattern, ordering, is_dropped, next) VALUES(?, ?, 0, x'')")
    for index in missing.sorted(by: { ($0.patternText, $0.orderText) < ($1.patternText, $1.orderText) }) {
      try insert.bind(1, text: index.patternText)
      try insert.bind(2, text: index.orderText)
      try insert.run()
    }
  }

  func remove(_ id: UInt32) throws {
    known = nil
    let delete = try database.statement("DELETE FROM martlet_tree_indexes WHERE id = ?")
    try delete.bind(1, Int64(id))
    try delete.run()
  }

  /// Notes how far an index has been built; nil completes it.
  func note(_ id: UInt32, builtBefore next: [UInt8]?) throws {
    known = nil
    let update = try database.statement("UPDATE martlet_tree_indexes SET next = ? WHERE id = ?")
    if let next { try update.bind(1, blob: next) } else { try update.bind(1, null: ()) }
    try update.bind(2, Int64(id))
    try update.run()
  }

  // MARK: Rows

  func insert(_ key: [UInt8]) throws {
    let insert = try database.statement("INSERT OR IGNORE INTO martlet_tree_index(key) VALUES(?)")
    try insert.bind(1, blob: key)
    try insert.run()
  }

  func delete(_ key: [UInt8]) throws {
    let delete = try database.statement("DELETE FROM martlet_tree_index WHERE key = ?")
    try delete.bind(1, blob: key)
    try delete.run()
  }

  /// Deletes the rows of an index whose nodes are at or below `path`.
  func delete(_ id: UInt32, below path: TreePath) throws {
    let range = PathKeyCoding.subtree(of: path)
    let delete = try database.statement("DELETE FROM martlet_tree_index WHERE key >= ? AND key < ?")
    try delete.bind(1, blob: Self.bytes(id) + range.first)
    try delete.bind(2, blob: Self.bytes(id) + range.end)
    try delete.run()
  }

  /// Deletes at most `most` rows of an index.
  ///
  /// - Returns: whether all of its rows are gone.
  func deleteSome(_ id: UInt32, most: Int) throws -> Bool {
    let end = Self.bytes(id) + [OrderValueCoding.afterAll]
    let delete = try database.statement(
      """
      DELETE FROM martlet_tree_index WHERE key IN
      (SELECT key FROM martlet_tree_index WHERE key >= ? AND key < ? ORDER BY key LIMIT ?)
      """)
    try delete.bind(1, blob: Self.bytes(id))
    try delete.bind(2, blob: end)
    try delete.bind(3, Int64(most))
    try delete.run()
    let rest = try database.statement("SELECT 1 FROM martlet_tree_index WHERE key >= ? AND key < ? LIMIT 1")
    defer { rest.reset() }
    try rest.bind(1, blob: Self.bytes(id))
    try rest.bind(2, blob: end)
    return try !rest.step()
  }

  // MARK: Reading

  /// The complete index of the children of `path` in `order`; nil without one. From any connection.
  func complete(_ order: ChildOrder, at path: TreePath) throws -> UInt32? {
    let rows = try database.statement(
      "SELECT id, pattern FROM martlet_tree_indexes WHERE ordering = ? AND is_dropped = 0 AND next IS NULL")
    defer { rows.reset() }
    try rows.bind(1, text: TreeIndex.text(of: order))
    while try rows.step() {
      let index = TreeIndex(pattern: rows.text(1), order: TreeIndex.text(of: order))
      if let index, index.covers(path) { return UInt32(truncatingIfNeeded: rows.int64(0)) }
    }
    return nil
  }

  /// The keys of the children of `path` in `window`, from the side where its limit starts to count.
  func keys(_ id: UInt32, of path: TreePath, in window: Window) throws -> [TreeKey] {
    let prefix = Self.prefix(id, path)
    let range = (Self.start(of: window, prefix), Self.end(of: window, prefix))
    let select = try database.statement(
      """
      SELECT key FROM martlet_tree_index WHERE key >= ? AND key < ?
      ORDER BY key \(window.isFilledFromEnd ? "DESC" : "ASC") LIMIT ?
      """)
    defer { select.reset() }
    try select.bind(1, blob: range.0)
    try select.bind(2, blob: range.1)
    try select.bind(3, window.limit.map { Int64($0.count) } ?? -1)
    var keys: [TreeKey] = []
    while try select.step() {
      let rest = select.bytes(0)[prefix.count...]
      guard let length = OrderValueCoding.length(in: rest),
        let key = PathKeyCoding.decode(rest.dropFirst(length))?.key
      else { throw StoreError(.damaged, "a row of an index of the tree is damaged") }
      keys.append(key)
    }
    return keys
  }

  private static func start(of window: Window, _ prefix: [UInt8]) -> [UInt8] {
    guard let bound = window.start else { return prefix }
    let place = place(of: bound, prefix)
    return bound.isIncluded ? place : place + [OrderValueCoding.afterAll]
  }

  private static func end(of window: Window, _ prefix: [UInt8]) -> [UInt8] {
    guard let bound = window.end else { return prefix + [OrderValueCoding.afterAll] }
    let place = place(of: bound, prefix)
    return bound.isIncluded ? place + [OrderValueCoding.afterAll] : place
  }

  /// Where the rows of a bound begin: one row when it names a key, else all children of its value.
  private static func place(of bound: Window.Bound, _ prefix: [UInt8]) -> [UInt8] {
    var bytes = prefix
    OrderValueCoding.append(bound.value, to: &bytes)
    if let key = bound.key { PathKeyCoding.append(key, to: &bytes) }
    return bytes
  }

  // MARK: Keys

  /// The key of a child's row.
  static func key(_ id: UInt32, _ child: TreePath, _ value: OrderValue) -> [UInt8] {
    var bytes = prefix(id, child.parent ?? .root)
    OrderValueCoding.append(value, to: &bytes)
    if let key = child.key { PathKeyCoding.append(key, to: &bytes) }
    return bytes
  }

  private static func bytes(_ id: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: id >> $0) }
  }

  /// What the keys of a node's children begin with. No encoded key begins with the zero after the path.
  private static func prefix(_ id: UInt32, _ path: TreePath) -> [UInt8] {
    bytes(id) + PathKeyCoding.encode(path) + [0]
  }
}
