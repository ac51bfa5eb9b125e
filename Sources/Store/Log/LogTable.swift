internal import MartletSQLite

/// The log's rows on one connection: append and read a range. `LogTrimmer` deletes the oldest. Confined to the connection's thread.
///
/// Each row carries the sum of all entries' bytes up to it, so that the retained size is one subtraction. The newest
/// transaction is never deleted, so that the head is always a row.
final class LogTable {
  static let tables = """
    CREATE TABLE martlet_log(
      offset INTEGER PRIMARY KEY, at INTEGER NOT NULL, total INTEGER NOT NULL, entry BLOB NOT NULL) STRICT;
    CREATE TABLE martlet_lineage(ordinal INTEGER PRIMARY KEY, term INTEGER NOT NULL, first INTEGER NOT NULL) STRICT;
    CREATE TABLE martlet_writes(
      client TEXT NOT NULL, number INTEGER NOT NULL, at INTEGER NOT NULL, result BLOB NOT NULL,
      PRIMARY KEY(client, number)) WITHOUT ROWID, STRICT;
    CREATE INDEX martlet_writes_at ON martlet_writes(at);
    """

  /// Where the log stands.
  struct Position: Equatable {
    /// The newest offset; 0 when nothing was ever written.
    var head: Int64 = 0
    /// Bytes of all entries ever written.
    var total: Int64 = 0
    /// The oldest offset that is kept; one past the head when there is none.
    var first: Int64 = 1
    /// Bytes of all entries before `first`.
    var forgotten: Int64 = 0

    /// Bytes of the entries that are kept.
    var bytes: Int64 { total - forgotten }
  }

  private let database: Database
  private let insert: Statement
  private let range: Statement

  init(_ database: Database) throws(SQLiteError) {
    self.database = database
    insert = try database.prepare("INSERT INTO martlet_log(offset, at, total, entry) VALUES(?, ?, ?, ?)")
    range = try database.prepare("SELECT offset, entry FROM martlet_log WHERE offset > ? ORDER BY offset")
  }

  /// Where the log stands in the connection's transaction.
  func position() throws(SQLiteError) -> Position {
    var position = Position()
    let newest = try database.statement("SELECT offset, total FROM martlet_log ORDER BY offset DESC LIMIT 1")
    defer { newest.reset() }
    guard try newest.step() else { return position }
    position.head = newest.int64(0)
    position.total = newest.int64(1)
    let oldest = try database.statement(
      "SELECT offset, total - length(entry) FROM martlet_log ORDER BY offset LIMIT 1")
    defer { oldest.reset() }
    if try oldest.step() {
      position.first = oldest.int64(0)
      position.forgotten = oldest.int64(1)
    }
    return position
  }

  func append(_ offset: Int64, at: Int64, total: Int64, entry: [UInt8]) throws(SQLiteError) {
    try insert.bind(1, offset)
    try insert.bind(2, at)
    try insert.bind(3, total)
    try insert.bind(4, blob: entry)
    try insert.run()
  }

  /// Calls `body` with the entries after `offset`, in order, until it answers false.
  func read(after offset: Int64, _ body: (Int64, [UInt8]) throws -> Bool) throws {
    range.reset()
    defer { range.reset() }
    try range.bind(1, offset)
    while try range.step() {
      guard try body(range.int64(0), range.bytes(1)) else { return }
    }
  }
}
