internal import MartletJSONTree
internal import MartletSQLite

/// The keys of the tree's rows that have a priority. Where a node has none below it, its children's order by priority
/// is that of their keys, which clients of the Realtime Database ask for when they name no order.
///
/// Follows from the tree's rows. Confined to the connection's thread.
final class PriorityTable {
  private static let table = """
    CREATE TABLE martlet_tree_priorities(key BLOB PRIMARY KEY) WITHOUT ROWID, STRICT;
    """

  /// Makes the table, and fills it from the rows of a folder that had none.
  static func prepare(_ database: Database) throws {
    let known = try database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'martlet_tree_priorities'")
    if try known.step() { return }
    try database.execute(table)
    // A row is a scalar, and a second one for the priority: longer than its first scalar, or without one.
    try database.execute(
      """
      INSERT INTO martlet_tree_priorities(key) SELECT key FROM martlet_tree WHERE CASE hex(substr(value, 1, 1))
      WHEN '00' THEN 1 WHEN '01' THEN length(value) > 1 WHEN '02' THEN length(value) > 1
      WHEN '05' THEN printf('%016X', length(value) - 9) <> hex(substr(value, 2, 8)) ELSE length(value) > 9 END
      """)
  }

  private let database: Database
  /// Whether there may be rows; nil before the first look. For the writer's connection.
  private var mayHaveRows: Bool?

  init(_ database: Database) {
    self.database = database
  }

  /// Notes whether a row has a priority.
  func note(_ key: [UInt8], hasPriority: Bool) throws {
    guard try hasPriority || holdsRows() else { return }
    if hasPriority { mayHaveRows = true }
    let change = try database.statement(
      hasPriority
        ? "INSERT OR IGNORE INTO martlet_tree_priorities(key) VALUES(?)"
        : "DELETE FROM martlet_tree_priorities WHERE key = ?")
    try change.bind(1, blob: key)
    try change.run()
  }

  /// Rows from the first key up to, not including, the second are deleted.
  func delete(_ range: (first: [UInt8], end: [UInt8])) throws {
    guard try holdsRows() else { return }
    let delete = try database.statement("DELETE FROM martlet_tree_priorities WHERE key >= ? AND key < ?")
    try delete.bind(1, blob: range.first)
    try delete.bind(2, blob: range.end)
    try delete.run()
  }

  private func holdsRows() throws -> Bool {
    if let mayHaveRows { return mayHaveRows }
    let rows = try database.statement("SELECT 1 FROM martlet_tree_priorities LIMIT 1")
    defer { rows.reset() }
    let found = try rows.step()
    mayHaveRows = found
    return found
  }

  /// Whether a node below `path` has a priority. From any connection.
  func isAny(below path: TreePath) throws -> Bool {
    let range = PathKeyCoding.subtree(of: path)
    let rows = try database.statement("SELECT 1 FROM martlet_tree_priorities WHERE key > ? AND key < ? LIMIT 1")
    defer { rows.reset() }
    try rows.bind(1, blob: range.first)
    try rows.bind(2, blob: range.end)
    return try rows.step()
  }
}

extension Window {
  /// The window by key with the same children, of a node whose children have no priorities; nil when it has none of
  /// them.
  var byKeyWithoutPriorities: Window? {
    var window = Window(limit: limit)
    if let start {
      guard start.value == .null, start.key != nil || start.isIncluded else { return nil }
      window.start = start.key.map { .key($0, isIncluded: start.isIncluded) }
    }
    if let end, end.value == .null {
      guard end.key != nil || end.isIncluded else { return nil }
      window.end = end.key.map { .key($0, isIncluded: end.isIncluded) }
    }
    return window
  }
}
