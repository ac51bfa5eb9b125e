internal import CMartletSQLite

/// Settings of SQLite for a whole process.
package enum SQLiteProcess {
  /// Switches off the count of allocated bytes, for which SQLite takes a lock with each allocation: a tenth of the time
  /// of an insertion.
  ///
  /// For the start of a program of ours: no thread may use SQLite yet, and nothing in the program may limit SQLite's
  /// memory. Later it has no effect.
  package static func stopCountingAllocations() {
    _ = martlet_sqlite_stop_counting()
  }
}
