internal import CMartletSQLite

/// A copy of a database that is made in steps, on the thread of the source's connection.
///
/// Between two steps nothing is locked. What the source's own connection commits meanwhile goes into the copy as well;
/// a commit of any other connection would make the copy start over.
@safe
package final class DatabaseCopy {
  private let source: Database
  private let target: Database
  private var handle: OpaquePointer?

  /// Begins a copy of `source` into `target`, which loses what it held.
  package init(of source: Database, into target: Database) throws(SQLiteError) {
    self.source = source
    self.target = target
    unsafe handle = sqlite3_backup_init(target.handle, "main", source.handle, "main")
    guard unsafe handle != nil else { throw target.error(unsafe sqlite3_errcode(target.handle), statement: nil) }
  }

  deinit {
    unsafe sqlite3_backup_finish(handle)
  }

  /// Pages that were not copied yet when the last step ended; 0 before the first step.
  package var remainingPages: Int32 {
    unsafe handle == nil ? 0 : sqlite3_backup_remaining(handle)
  }

  /// Copies up to `pages` pages; true when the copy is complete, which then takes no more steps and has no write-ahead
  /// log.
  package func step(_ pages: Int32) throws(SQLiteError) -> Bool {
    let result = unsafe sqlite3_backup_step(handle, pages)
    switch result {
    case SQLITE_DONE:
      unsafe sqlite3_backup_finish(handle)
      unsafe handle = nil
      try target.forgetLog()
      return true
    // Busy means another connection's moment of recovery or checkpoint: the next step tries again.
    case SQLITE_OK, SQLITE_BUSY, SQLITE_LOCKED: return false
    default: throw target.error(result, statement: nil)
    }
  }
}
