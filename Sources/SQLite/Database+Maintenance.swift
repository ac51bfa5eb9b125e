internal import CMartletSQLite

extension Database {
  /// What a checkpoint found and did.
  package struct Checkpoint: Sendable, Equatable {
    /// Pages in the write-ahead log; -1 without one.
    package var logPages: Int
    /// How many of them are now in the database file.
    package var movedPages: Int
  }

  /// How far a checkpoint goes.
  package enum CheckpointMode: Sendable {
    /// Moves what it can without waiting for anyone.
    case passive
    /// Waits for readers, then lets the log start over at its beginning.
    case restart
    /// As `restart`, and cuts the file to nothing.
    case truncate
  }

  /// Moves pages from the write-ahead log into the database file.
  ///
  /// `waiting` is how long it waits for readers, in milliseconds; nil for the connection's own limit. Fails as busy
  /// after it.
  package func checkpoint(
    _ mode: CheckpointMode = .passive, waiting: Int32? = nil
  ) throws(SQLiteError) -> Checkpoint {
    if let waiting { unsafe sqlite3_busy_timeout(handle, waiting) }
    defer { if waiting != nil { unsafe sqlite3_busy_timeout(handle, busyMilliseconds) } }
    var log: Int32 = 0
    var moved: Int32 = 0
    let flag =
      switch mode {
      case .passive: SQLITE_CHECKPOINT_PASSIVE
      case .restart: SQLITE_CHECKPOINT_RESTART
      case .truncate: SQLITE_CHECKPOINT_TRUNCATE
      }
    try check(unsafe sqlite3_wal_checkpoint_v2(handle, nil, flag, &log, &moved))
    return Checkpoint(logPages: Int(log), movedPages: Int(moved))
  }

  /// Pages in the write-ahead log after this connection's last commit.
  package var logPages: Int { connection.watch.logPages }

  /// Checks the whole file; nil when it is sound, otherwise the first thing that is wrong.
  package func damage() throws(SQLiteError) -> String? {
    let check = try prepare("PRAGMA quick_check(1)")
    guard try check.step() else { return nil }
    let text = check.text(0)
    return text == "ok" ? nil : text
  }

  /// Checks the whole file, indexes against tables included; what is wrong, at most `count` problems.
  package func problems(_ count: Int) throws(SQLiteError) -> [String] {
    let check = try prepare("PRAGMA integrity_check(\(count))")
    var problems: [String] = []
    do throws(SQLiteError) {
      while try check.step() { problems.append(check.text(0)) }
    } catch {
      guard error.code == .corrupt else { throw error }
      problems.append("\(error)")
    }
    return problems == ["ok"] ? [] : problems
  }

  /// Copies the whole database as of now into `target`, which loses what it held, in one long read.
  package func backup(into target: Database) throws(SQLiteError) {
    guard let copying = unsafe sqlite3_backup_init(target.handle, "main", handle, "main") else {
      throw target.error(unsafe sqlite3_errcode(target.handle), statement: nil)
    }
    // One step for everything: a copy in parts starts over whenever another connection commits.
    let result = unsafe sqlite3_backup_step(copying, -1)
    unsafe sqlite3_backup_finish(copying)
    if result != SQLITE_DONE { throw target.error(result, statement: nil) }
    try target.forgetLog()
  }

  /// Makes a copy a database without a write-ahead log. The pages that were copied say that there is one, as they do in
  /// the source; a copy would seem to have lost its log.
  func forgetLog() throws(SQLiteError) {
    try execute("PRAGMA journal_mode=DELETE")
  }

  /// Runs `body` with a time limit: once `expired` answers true, the running statement fails as interrupted.
  ///
  /// `expired` is asked every few thousand steps of SQLite's virtual machine. Limits do not nest.
  package func withDeadline<Result, Failure: Error>(
    _ expired: (() -> Bool)?, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let expired else { return try body() }
    return try withoutActuallyEscaping(expired) { (escaping) throws(Failure) -> Result in
      connection.watch.expired = escaping
      defer { connection.watch.expired = nil }
      return try body()
    }
  }

  /// The plan SQLite has for `sql`, one line per step, as EXPLAIN QUERY PLAN words it.
  package func queryPlan(_ sql: String) throws(SQLiteError) -> [String] {
    let plan = try prepare("EXPLAIN QUERY PLAN " + sql)
    var lines: [String] = []
    while try plan.step() { lines.append(plan.text(3)) }
    return lines
  }
}

/// What SQLite's callbacks need of a connection: when to stop, and how long the write-ahead log is.
final class DeadlineWatch {
  /// Steps of the virtual machine between two questions: about 50 microseconds.
  private static let steps: Int32 = 4_000
  var expired: (() -> Bool)?
  /// Pages in the write-ahead log after the connection's last commit.
  var logPages = 0

  func install(on handle: OpaquePointer) {
    // The connection owns this object and outlives every callback, so the pointer needs no retain.
    let pointer = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe sqlite3_progress_handler(
      handle, Self.steps,
      { context in
        guard let context = unsafe context else { return 0 }
        let watch = unsafe Unmanaged<DeadlineWatch>.fromOpaque(context).takeUnretainedValue()
        return watch.expired?() == true ? 1 : 0
      }, pointer)
    unsafe sqlite3_wal_hook(
      handle,
      { context, _, _, pages in
        if let context = unsafe context {
          unsafe Unmanaged<DeadlineWatch>.fromOpaque(context).takeUnretainedValue().logPages = Int(pages)
        }
        return SQLITE_OK
      }, pointer)
  }
}
