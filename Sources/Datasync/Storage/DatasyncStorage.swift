internal import MartletJSON
internal import MartletJSONTree
internal import MartletSQLite
internal import MartletTreeClient
internal import MartletTreeWire

/// The queue of writes and the last known values, in a file. Confined to its driver's loop.
final class DatasyncStorage {
  struct Write {
    var number: Int64
    var path: TreePath
    var content: TreeClient.Content
  }

  private let database: Database
  private let bytes: Int
  /// Counts uses of values, so that those used longest ago are evicted first.
  private var uses: Int64 = 0
  /// The file's own number for its kind, so that no other database is taken for one.
  private static let applicationID: Int64 = 0x4D74_7265

  /// Opens the file, or makes it.
  ///
  /// - Parameter bytes: of values that are kept.
  init(file: String, bytes: Int) throws(DatasyncError) {
    self.bytes = bytes
    do {
      database = try Database(path: file)
      let tables = try Self.number("SELECT count(*) FROM sqlite_schema", database)
      if tables > 0, try Self.number("PRAGMA application_id", database) != Self.applicationID {
        throw DatasyncError(.storage, "\(file) is a database of another program")
      }
      try database.execute(
        """
        PRAGMA wal_autocheckpoint=1000;
        PRAGMA application_id=\(Self.applicationID);
        CREATE TABLE IF NOT EXISTS meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS writes(number INTEGER PRIMARY KEY, path TEXT NOT NULL, merge INTEGER NOT NULL,
          value BLOB NOT NULL);
        CREATE TABLE IF NOT EXISTS nodes(query TEXT PRIMARY KEY, revision TEXT, value BLOB NOT NULL,
          used INTEGER NOT NULL DEFAULT 0, seen INTEGER) WITHOUT ROWID;
        """)
      // Files of earlier versions have no uses, and do not say when a value was known.
      for (name, type) in [("used", "INTEGER NOT NULL DEFAULT 0"), ("seen", "INTEGER")]
      where try Self.number("SELECT count(*) FROM pragma_table_info('nodes') WHERE name = '\(name)'", database) == 0 {
        try database.execute("ALTER TABLE nodes ADD COLUMN \(name) \(type)")
      }
      uses = try Self.number("SELECT coalesce(max(used), 0) FROM nodes", database)
    } catch let error as DatasyncError {
      throw error
    } catch {
      throw DatasyncError(.storage, "\(file) cannot be used as a cache: \(error)")
    }
  }

  private static func number(_ sql: String, _ database: Database) throws(SQLiteError) -> Int64 {
    let statement = try database.prepare(sql)
    return try statement.step() ? statement.int64(0) : 0
  }

  // MARK: The client

  /// The text under a name; nil when there is none.
  func text(_ name: String) -> String? {
    guard let select = try? database.statement("SELECT value FROM meta WHERE name = ?") else { return nil }
    defer { select.reset() }
    guard (try? select.bind(1, text: name)) != nil, (try? select.step()) == true else { return nil }
    return String(decoding: select.bytes(0), as: UTF8.self)
  }

  func set(_ name: String, _ text: String) throws(SQLiteError) {
    let insert = try database.statement("INSERT OR REPLACE INTO meta(name, value) VALUES(?, ?)")
    try insert.bind(1, text: name)
    try insert.bind(2, text: text)
    try insert.run()
  }

  // MARK: Writes

  /// The writes that were not answered, oldest first. Rows that cannot be read are left out.
  func queue() -> [Write] {
    var found: [Write] = []
    guard let select = try? database.statement("SELECT number, path, merge, value FROM writes ORDER BY number") else {
      return []
    }
    defer { select.reset() }
    while (try? select.step()) == true {
      guard let path = try? TreePath(String(decoding: select.bytes(1), as: UTF8.self)),
        let json = try? JSONValue(held: select.bytes(3))
      else { continue }
      let content: TreeClient.Content = select.int64(2) != 0 ? .merge(json.object ?? [:]) : .put(json)
      found.append(Write(number: select.int64(0), path: path, content: content))
    }
    return found
  }

  /// Keeps a write; durable when it returns.
  func add(_ write: Write) throws(DatasyncError) {
    do {
      let insert = try database.statement("INSERT INTO writes(number, path, merge, value) VALUES(?, ?, ?, ?)")
      try insert.bind(1, write.number)
      try insert.bind(2, text: write.path.description)
      switch write.content {
      case .put(let json):
        try insert.bind(3, Int64(0))
        try insert.bind(4, blob: json.serialized())
      case .merge(let object):
        try insert.bind(3, Int64(1))
        try insert.bind(4, blob: JSONValue.object(object).serialized())
      }
      try insert.run()
    } catch {
      throw DatasyncError(.storage, "the write cannot be kept: \(error)")
    }
  }

  /// The write has ended.
  func remove(_ number: Int64) {
    guard let delete = try? database.statement("DELETE FROM writes WHERE number = ?") else { return }
    // One that stays is sent again after a restart, and answered with its outcome.
    guard (try? delete.bind(1, number)) != nil else { return }
    try? delete.run()
  }

  // MARK: Values

  static func key(_ query: TreeClient.Query) -> String {
    let window = WireWindow.json(of: query.window).map { String(decoding: $0.serialized(), as: UTF8.self) } ?? ""
    return "\(query.path)\n\(window)"
  }

  func value(of query: TreeClient.Query) -> TreeClient.CachedValue? {
    let select = try? database.statement("SELECT value, revision, seen FROM nodes WHERE query = ?")
    guard let select else { return nil }
    defer { select.reset() }
    guard (try? select.bind(1, text: Self.key(query))) != nil, (try? select.step()) == true,
      let json = try? JSONValue(held: select.bytes(0)), let node = try? TreeReader().read(json, at: query.path)
    else { return nil }
    note(use: query)
    return TreeClient.CachedValue(node: node, revision: Self.revision(select, 1), seen: Self.seen(select, 2))
  }

  private static func revision(_ select: Statement, _ column: Int) -> String? {
    let revision = String(decoding: select.bytes(column), as: UTF8.self)
    return revision.isEmpty ? nil : revision
  }

  private static func seen(_ select: Statement, _ column: Int) -> Int64? {
    select.isNull(column) ? nil : select.int64(column)
  }

  /// Every value. Rows that cannot be read are left out.
  func values() -> [(TreeClient.Query, TreeClient.CachedValue)] {
    var found: [(TreeClient.Query, TreeClient.CachedValue)] = []
    guard let select = try? database.statement("SELECT query, value, revision, seen FROM nodes") else { return [] }
    defer { select.reset() }
    while (try? select.step()) == true {
      let key = String(decoding: select.bytes(0), as: UTF8.self).split(
        separator: "\n", omittingEmptySubsequences: false)
      guard key.count == 2, let path = try? TreePath(String(key[0])),
        let json = try? JSONValue(held: select.bytes(1)),
        let window = try? WireWindow.read(
          key[1].isEmpty ? JSONValue?.none : try JSONValue(parsing: String(key[1])), at: path, limits: TreeLimits()),
        let node = try? TreeReader().read(json, at: path)
      else { continue }
      found.append(
        (
          TreeClient.Query(path, window.isUnbounded ? .all : window),
          TreeClient.CachedValue(node: node, revision: Self.revision(select, 2), seen: Self.seen(select, 3))
        ))
    }
    return found
  }

  /// The value at a path, as a whole node at it or above it was kept.
  func base(of path: TreePath) -> TreeNode {
    for depth in stride(from: path.keys.count, through: 0, by: -1) {
      let above = TreePath(path.keys.prefix(depth))
      if let known = value(of: TreeClient.Query(above, .all)) {
        return known.node.node(at: TreePath(path.keys.dropFirst(depth)))
      }
    }
    return .empty
  }

  private func note(use query: TreeClient.Query) {
    guard let update = try? database.statement("UPDATE nodes SET used = ? WHERE query = ?") else { return }
    uses += 1
    guard (try? update.bind(1, uses)) != nil, (try? update.bind(2, text: Self.key(query))) != nil else { return }
    try? update.run()
  }

  /// Evicts values that were used longest ago until the rest fits.
  ///
  /// - Parameter queries: whose values stay.
  func evict(keeping queries: Set<TreeClient.Query>) {
    guard (try? Self.number("SELECT coalesce(sum(length(value)), 0) FROM nodes", database)).map({ $0 > bytes }) == true,
      let select = try? database.statement("SELECT query, length(value) FROM nodes ORDER BY used DESC")
    else { return }
    let stays = Set(queries.map(Self.key))
    var (left, others): (Int, [(key: String, bytes: Int)]) = (bytes, [])
    while (try? select.step()) == true {
      let key = String(decoding: select.bytes(0), as: UTF8.self)
      if stays.contains(key) { left -= Int(select.int64(1)) } else { others.append((key, Int(select.int64(1)))) }
    }
    select.reset()
    for (key, bytes) in others {
      left -= bytes
      if left < 0 { remove(key) }
    }
  }

  private func remove(_ key: String) {
    guard let delete = try? database.statement("DELETE FROM nodes WHERE query = ?") else { return }
    guard (try? delete.bind(1, text: key)) != nil else { return }
    try? delete.run()
  }

  /// Keeps a value. A value that cannot be kept is removed: an old one would be shown as the last known.
  func keep(_ value: TreeClient.CachedValue, of query: TreeClient.Query) {
    do {
      let insert = try database.statement(
        "INSERT OR REPLACE INTO nodes(query, revision, value, used, seen) VALUES(?, ?, ?, ?, ?)")
      uses += 1
      try insert.bind(4, uses)
      try insert.bind(1, text: Self.key(query))
      try insert.bind(2, text: value.revision ?? "")
      try insert.bind(3, blob: value.node.exportedJSON().serialized())
      if let seen = value.seen { try insert.bind(5, seen) } else { try insert.bind(5, null: ()) }
      try insert.run()
    } catch {
      forget(query)
    }
  }

  /// The kept value of a query was the server's at this moment.
  func note(seen: Int64, of query: TreeClient.Query) {
    guard let update = try? database.statement("UPDATE nodes SET seen = ? WHERE query = ?"),
      (try? update.bind(1, seen)) != nil, (try? update.bind(2, text: Self.key(query))) != nil
    else { return }
    try? update.run()
  }

  /// The value must not be shown any longer.
  func forget(_ query: TreeClient.Query) { remove(Self.key(query)) }

  /// Forgets every value at and below a path.
  func forget(below path: TreePath) {
    guard !path.isRoot else { return forgetAll() }
    let select = try? database.statement("DELETE FROM nodes WHERE substr(query, 1, ?) IN (?, ?)")
    let text = path.description
    guard let select, (try? select.bind(1, Int64(text.unicodeScalars.count + 1))) != nil,
      (try? select.bind(2, text: text + "/")) != nil, (try? select.bind(3, text: text + "\n")) != nil
    else { return }
    try? select.run()
  }

  /// Forgets every value.
  func forgetAll() { try? database.execute("DELETE FROM nodes") }
}
