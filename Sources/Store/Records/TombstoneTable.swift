internal import MartletChangeFeed
internal import MartletJSON
internal import MartletModels
internal import MartletSQLite

/// What is left of deleted records: key, version, time and last image. Confined to the connection's thread.
///
/// The record tables, their indexes and lists do not know it. Models are named by the folder's numbers.
final class TombstoneTable {
  static let tables = """
    CREATE TABLE martlet_tombstones(
      model INTEGER NOT NULL, key BLOB NOT NULL, version INTEGER NOT NULL, at INTEGER NOT NULL, image BLOB NOT NULL,
      PRIMARY KEY(model, key)) WITHOUT ROWID, STRICT;
    CREATE INDEX martlet_tombstones_at ON martlet_tombstones(at);
    """

  private let database: Database
  private let select: Statement
  private let insert: Statement
  private let delete: Statement
  /// Whether a model has had tombstones since it was first asked, so that creating records of others costs no look-up.
  private var has: [Int: Bool] = [:]

  init(_ database: Database) throws(SQLiteError) {
    self.database = database
    select = try database.prepare("SELECT version, at FROM martlet_tombstones WHERE model = ? AND key = ?")
    insert = try database.prepare(
      "INSERT OR REPLACE INTO martlet_tombstones(model, key, version, at, image) VALUES(?, ?, ?, ?, ?)")
    delete = try database.prepare("DELETE FROM martlet_tombstones WHERE model = ? AND key = ?")
  }

  /// The version of the deletion, unless it has expired or there was none.
  func version(_ model: Int, _ key: RecordKey, _ horizon: Horizon) throws(SQLiteError) -> Int64? {
    guard try holds(model) else { return nil }
    try select.bind(1, Int64(model))
    try select.bind(2, blob: Self.bytes(key))
    guard try select.step() else { return nil }
    defer { select.reset() }
    return select.int64(1) >= horizon.tombstonesBefore ? select.int64(0) : nil
  }

  /// The deletion with its last image, unless it has expired or there was none.
  func read(_ model: Int, _ key: RecordKey, _ horizon: Horizon, _ coder: RecordCoder) throws -> Tombstone? {
    try Self.read(model, key, horizon, coder, database)
  }

  private func holds(_ model: Int) throws(SQLiteError) -> Bool {
    if let known = has[model] { return known }
    let rows = try database.statement("SELECT 1 FROM martlet_tombstones WHERE model = ? LIMIT 1")
    defer { rows.reset() }
    try rows.bind(1, Int64(model))
    let found = try rows.step()
    has[model] = found
    return found
  }

  /// Keeps a deletion. `image` is the body of its entry in the log.
  func put(_ model: Int, _ key: RecordKey, version: Int64, at: Int64, image: [UInt8]) throws(SQLiteError) {
    has[model] = true
    try insert.bind(1, Int64(model))
    try insert.bind(2, blob: Self.bytes(key))
    try insert.bind(3, version)
    try insert.bind(4, at)
    try insert.bind(5, blob: image)
    try insert.run()
  }

  /// The record with the key exists again.
  func remove(_ model: Int, _ key: RecordKey) throws(SQLiteError) {
    try delete.bind(1, Int64(model))
    try delete.bind(2, blob: Self.bytes(key))
    try delete.run()
  }

  /// The model is no longer there.
  func remove(model: Int) throws(SQLiteError) {
    let delete = try database.statement("DELETE FROM martlet_tombstones WHERE model = ?")
    try delete.bind(1, Int64(model))
    try delete.run()
  }

  /// Whether there are tombstones older than `time` that have not expired under `horizon`.
  func holdsTombstones(before time: Int64, _ horizon: Horizon) throws(SQLiteError) -> Bool {
    let rows = try database.statement("SELECT 1 FROM martlet_tombstones WHERE at >= ? AND at < ? LIMIT 1")
    defer { rows.reset() }
    try rows.bind(1, horizon.tombstonesBefore)
    try rows.bind(2, time)
    return try rows.step()
  }

  /// Deletes at most `count` expired tombstones. Returns how many they were.
  func sweep(_ horizon: Horizon, count: Int64) throws(SQLiteError) -> Int64 {
    let delete = try database.statement(
      """
      DELETE FROM martlet_tombstones WHERE (model, key) IN (
        SELECT model, key FROM martlet_tombstones WHERE at < ? ORDER BY at LIMIT ?)
      """)
    try delete.bind(1, horizon.tombstonesBefore)
    try delete.bind(2, count)
    try delete.run()
    return Int64(database.changes)
  }

  /// The deletion of a record, with its last image; nil when there is none, or it has expired.
  static func read(
    _ model: Int, _ key: RecordKey, _ horizon: Horizon, _ coder: RecordCoder, _ database: Database
  ) throws -> Tombstone? {
    let row = try database.statement("SELECT version, at, image FROM martlet_tombstones WHERE model = ? AND key = ?")
    defer { row.reset() }
    let place = bytes(key)
    try row.bind(1, Int64(model))
    try row.bind(2, blob: place)
    guard try row.step(), row.int64(1) >= horizon.tombstonesBefore, let image = try coder.image(row.bytes(2)) else {
      return nil
    }
    return Tombstone(image: image, version: row.int64(0), time: row.int64(1), place: place)
  }

  static func bytes(_ key: RecordKey) -> [UInt8] {
    var writer = EntryWriter()
    writer.key(key)
    return writer.bytes
  }
}
