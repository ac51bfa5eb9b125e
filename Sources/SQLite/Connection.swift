internal import CMartletSQLite

/// SQLite's connection. Statements hold it, so that it closes after the last of them, and its disk goes after that.
@safe
final class Connection {
  let handle: OpaquePointer
  private let files: MemoryFiles?
  /// The deadline in force; SQLite's callbacks hold it unretained.
  let watch = DeadlineWatch()
  var startedStatements = 0
  var readRows = 0
  /// The statements that keep a large value.
  var largeValues: [LargeValue] = []

  struct LargeValue {
    weak var statement: Statement?
  }

  init(_ handle: OpaquePointer, _ files: MemoryFiles?) {
    unsafe self.handle = handle
    self.files = files
  }

  deinit {
    unsafe sqlite3_close_v2(handle)
  }

  func error(_ result: Int32, statement: String?) -> SQLiteError {
    // The message is copied before the next call on the connection.
    unsafe SQLiteError(
      extendedCode: result, message: String(cString: sqlite3_errmsg(handle)), statement: statement,
      systemError: result & 0xFF == SQLITE_IOERR ? martlet_sqlite_last_errno(handle) : 0)
  }
}
