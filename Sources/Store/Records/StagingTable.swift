internal import MartletSQLite

/// Says how far the large write is that is being made in slices, and holds its entries of the log until they have rows
/// there. The tables are made with the first such write.
enum StagingTable {
  /// How far the write is; nothing when there is none.
  enum State: Equatable {
    case none
    /// Rows of the write with this number are in the tables and not committed.
    case inserting(number: Int64)
    /// It is committed, and entries of it wait for their rows in the log.
    case moving(LogSpan)

    /// The entries that wait.
    var span: LogSpan? {
      if case .moving(let span) = self { return span }
      return nil
    }
  }

  /// Entries that one statement inserts.
  private static let rowsAtOnce = 16

  private static let tables = """
    CREATE TABLE IF NOT EXISTS martlet_staging(
      id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL, state INTEGER NOT NULL, first INTEGER NOT NULL,
      last INTEGER NOT NULL, at INTEGER NOT NULL, total INTEGER NOT NULL, checksum INTEGER NOT NULL) STRICT;
    INSERT OR IGNORE INTO martlet_staging(id, number, state, first, last, at, total, checksum)
      VALUES(1, 0, 0, 0, 0, 0, 0, 0);
    CREATE TABLE IF NOT EXISTS martlet_staged(ordinal INTEGER PRIMARY KEY, entry BLOB NOT NULL) STRICT;
    """

  /// How far the write is in the connection's transaction.
  static func state(_ database: Database) throws(SQLiteError) -> State {
    guard try exists(database) else { return .none }
    let row = try database.statement("SELECT state, number, first, last, at, total, checksum FROM martlet_staging")
    defer { row.reset() }
    guard try row.step() else { return .none }
    switch row.int64(0) {
    case 1: return .inserting(number: row.int64(1))
    case 2:
      return .moving(
        LogSpan(
          first: row.int64(2), last: row.int64(3), time: row.int64(4), totalBefore: row.int64(5),
          checksumBefore: RunningChecksum(UInt64(bitPattern: row.int64(6)))))
    default: return .none
    }
  }

  /// Begins another write, and returns its number, which no write had before. In a transaction.
  ///
  /// Programs that do not know such rows must not read the file from here on: it has the format for them.
  static func begin(_ database: Database) throws(SQLiteError) -> Int64 {
    if try !exists(database) {
      try database.execute(tables)
      try database.execute("PRAGMA user_version = \(StoreFormat.stagingVersion)")
    }
    try database.statement("UPDATE martlet_staging SET number = number + 1, state = 1").run()
    let row = try database.statement("SELECT number FROM martlet_staging")
    defer { row.reset() }
    return try row.step() ? row.int64(0) : 0
  }

  /// Keeps entries until they have their rows: those of `drafts`, the first of them as number `ordinal` of the write.
  static func keep(_ drafts: ArraySlice<RecordDraft>, from ordinal: Int, _ database: Database) throws(SQLiteError) {
    var (rest, next) = (drafts, Int64(ordinal))
    while !rest.isEmpty {
      let rows = rest.count >= rowsAtOnce ? rowsAtOnce : 1
      let values = repeatElement("(?, ?)", count: rows).joined(separator: ", ")
      let insert = try database.statement("INSERT INTO martlet_staged(ordinal, entry) VALUES\(values)")
      for (index, draft) in rest.prefix(rows).enumerated() {
        try insert.bind(2 * index + 1, next)
        try insert.bind(2 * index + 2, blob: draft.entry)
        next += 1
      }
      try insert.run()
      rest = rest.dropFirst(rows)
    }
  }

  /// Shows the rows of the write, whose entries wait from now on. In the transaction of the write's own group.
  static func commit(_ span: LogSpan, _ database: Database) throws(SQLiteError) {
    let update = try database.statement(
      "UPDATE martlet_staging SET state = 2, first = ?, last = ?, at = ?, total = ?, checksum = ?")
    let checksum = Int64(bitPattern: span.checksumBefore.value)
    for (index, value) in [span.first, span.last, span.time, span.totalBefore, checksum].enumerated() {
      try update.bind(index + 1, value)
    }
    try update.run()
  }

  /// Says that nothing is hidden and nothing waits. In a transaction.
  static func end(_ database: Database) throws(SQLiteError) {
    try database.statement("DELETE FROM martlet_staged").run()
    try database.statement("UPDATE martlet_staging SET state = 0").run()
  }

  /// Ends what a process that is gone had begun: rows that were not committed are deleted, entries that were get their
  /// rows. In a transaction.
  static func recover(_ file: StoreFile) throws {
    let database = file.database
    switch try state(database) {
    case .none: return
    case .inserting(let number):
      for shape in file.catalogue.shapes {
        let delete = try database.prepare("DELETE FROM \(shape.table) WHERE \(SQLText.version) = ?")
        try delete.bind(1, HiddenRows.version(of: number))
        try delete.run()
      }
    case .moving(let span):
      var position = LogTable.Position()
      (position.total, position.checksum) = (span.totalBefore, span.checksumBefore)
      let entries = try database.prepare("SELECT entry FROM martlet_staged ORDER BY ordinal LIMIT ?")
      try entries.bind(1, span.last - span.first)
      let have = try database.prepare("SELECT 1 FROM martlet_log WHERE offset = ?")
      var ordinal = 0
      while try entries.step() {
        var coded = CodedEntries()
        coded.append(entries.bytes(0))
        defer { ordinal += 1 }
        have.reset()
        try have.bind(1, span.first + Int64(ordinal))
        if try have.step() {
          file.log.skip(span, coded, &position)
        } else {
          try file.log.fill(span, coded, from: ordinal, 0..<1, &position)
        }
      }
    }
    try end(database)
  }

  private static func exists(_ database: Database) throws(SQLiteError) -> Bool {
    let row = try database.statement("SELECT 1 FROM sqlite_schema WHERE name = 'martlet_staging'")
    defer { row.reset() }
    return try row.step()
  }
}
