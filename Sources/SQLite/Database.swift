internal import CMartletSQLite

/// One connection to a SQLite database, in WAL mode with `synchronous=FULL`: a commit that returns is on the disk. A
/// client's store lowers that for the pages of a sync.
///
/// Confined to one thread at a time by its owner; SQLite's own locks are off. Statements are compiled once and kept.
/// Checkpoints never run by themselves: the owner calls `checkpoint` between its transactions.
@safe
package final class Database {
  /// How a connection is opened.
  package struct Options: Sendable {
    /// Opened for reading only: statements that write fail.
    package var isReadOnly = false
    /// How long a call waits for another connection's lock, in milliseconds. The owner has one writer, so that only
    /// the moments of recovery and of checkpoints are waited for.
    package var busyMilliseconds: Int32 = 5_000
    /// Page cache of the connection, in KiB.
    package var cacheKiB: Int32 = 8_192
    /// A database that is worth nothing until its owner has written all of it and made it durable itself: no journal,
    /// no sync.
    package var isScratch = false
    /// The key of an encrypted database. Needs a SQLite that encrypts, such as SQLCipher; another one is refused, so
    /// that nothing is written in the clear by mistake.
    package var key: String?
    /// How many compiled statements are kept; a statement costs a few KiB.
    package var statementLimit = 512

    package init() {}
  }

  let connection: Connection
  private let statementLimit: Int
  let busyMilliseconds: Int32
  private var statements: [String: Statement] = [:]
  var handle: OpaquePointer { unsafe connection.handle }
  /// How many statements were started; tests count with it.
  package var startedStatements: Int { connection.startedStatements }
  /// How many rows were read; tests count with it.
  package var readRows: Int { connection.readRows }
  /// How many rows were read and changed; tests count with it.
  package var touchedRows: Int { connection.readRows + Int(unsafe sqlite3_total_changes64(handle)) }

  /// Opens or, unless read-only, creates the database at `path`.
  ///
  /// - Throws: what SQLite says when the file cannot be opened or is not a database.
  package init(path: String, on files: MemoryFiles? = nil, options: Options = Options()) throws(SQLiteError) {
    var opened: OpaquePointer?
    let mode = options.isReadOnly ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    // `opened` outlives the call; SQLite copies both names.
    let result = unsafe sqlite3_open_v2(
      path, &opened, mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, files?.name)
    guard let opened = unsafe opened else {
      throw SQLiteError(extendedCode: SQLITE_NOMEM, message: "no memory for a connection")
    }
    guard result == SQLITE_OK else {
      let error = unsafe SQLiteError(extendedCode: result, message: String(cString: sqlite3_errmsg(opened)))
      unsafe sqlite3_close_v2(opened)
      throw error
    }
    connection = unsafe Connection(opened, files)
    statementLimit = options.statementLimit
    busyMilliseconds = options.busyMilliseconds
    unsafe sqlite3_busy_timeout(opened, options.busyMilliseconds)
    try check(unsafe martlet_sqlite_harden(opened))
    try check(unsafe MomentCollation.register(on: opened))
    try check(unsafe martlet_sqlite_keep_wal(opened))
    if let key = options.key { try unlock(key) }
    if options.isScratch {
      try execute("PRAGMA journal_mode=OFF")
    } else if !options.isReadOnly {
      try execute("PRAGMA journal_mode=WAL")
    }
    try execute("PRAGMA synchronous=\(options.isScratch ? "OFF" : "FULL")")
    try execute("PRAGMA wal_autocheckpoint=0")
    try execute("PRAGMA foreign_keys=ON")
    try execute("PRAGMA temp_store=MEMORY")
    try execute("PRAGMA cache_size=-\(options.cacheKiB)")
    try execute("PRAGMA cell_size_check=ON")
    if options.isReadOnly { try execute("PRAGMA query_only=ON") }
    unsafe connection.watch.install(on: opened)
  }

  /// Gives the key before anything is read.
  private func unlock(_ key: String) throws(SQLiteError) {
    let version = try prepare("PRAGMA cipher_version")
    guard try version.step() else {
      throw SQLiteError(
        extendedCode: SQLITE_MISUSE, message: "the SQLite that is linked does not encrypt: link SQLCipher for a key")
    }
    version.reset()
    try execute("PRAGMA key = '\(key.replacing("'", with: "''"))'")
  }

  /// The statement for `sql`, compiled at its first use. One user at a time: it is reset here.
  package func statement(_ sql: String) throws(SQLiteError) -> Statement {
    if let known = statements[sql] {
      known.reset()
      return known
    }
    // Past the limit everything goes: the working set comes back at 4 microseconds each.
    if statements.count >= statementLimit { forgetStatements() }
    let fresh = try Statement(compiling: sql, on: connection)
    statements[sql] = fresh
    return fresh
  }

  /// A statement of the caller's own, not in the cache.
  package func prepare(_ sql: String) throws(SQLiteError) -> Statement {
    try Statement(compiling: sql, on: connection)
  }

  /// Drops all compiled statements. One that is still held stays usable.
  package func forgetStatements() {
    statements.removeAll(keepingCapacity: true)
  }

  /// Lets go of the large values that are bound to statements: they would stay until each is used again. For the end of
  /// a transaction; costs nothing while no large value was bound.
  package func releaseLargeValues() {
    guard !connection.largeValues.isEmpty else { return }
    for holder in connection.largeValues { holder.statement?.releaseLargeValues() }
    connection.largeValues.removeAll()
  }

  /// Bytes that the compiled statements take, with the values that are bound to them; tests count with it.
  package var statementBytes: Int {
    var (present, highest): (Int32, Int32) = (0, 0)
    unsafe sqlite3_db_status(handle, SQLITE_DBSTATUS_STMT_USED, &present, &highest, 0)
    return Int(present)
  }

  /// Runs statements without parameters, dropping their rows.
  package func execute(_ sql: String) throws(SQLiteError) {
    connection.startedStatements += 1
    let result = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
    if result != SQLITE_OK { throw error(result, statement: sql) }
  }

  /// Whether a transaction is open. SQLite ends one by itself after some failures (full disk, input or output).
  package var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  /// Rows changed by the last INSERT, UPDATE or DELETE.
  package var changes: Int { Int(unsafe sqlite3_changes64(handle)) }

  func check(_ result: Int32) throws(SQLiteError) {
    if result != SQLITE_OK { throw error(result, statement: nil) }
  }

  func error(_ result: Int32, statement: String?) -> SQLiteError {
    connection.error(result, statement: statement)
  }
}
