internal import CMartletSQLite

/// What SQLite answered when a call did not succeed.
package struct SQLiteError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kinds of failure that callers distinguish.
  package enum Code: Sendable, Equatable {
    case busy
    case cannotOpen
    case constraint
    /// A unique or primary key constraint; the message names table and columns.
    case unique
    case corrupt
    case diskFull
    /// The statement ran into its deadline or was interrupted.
    case interrupted
    case inputOutput
    case notADatabase
    case outOfMemory
    case readOnly
    /// Bytes or text larger than SQLite takes.
    case tooBig
    case other
  }

  package var code: Code
  /// SQLite's extended result code.
  package var extendedCode: Int32
  /// SQLite's message for it.
  package var message: String
  /// The statement that failed, when there was one.
  package var statement: String?

  /// - Parameter systemError: `errno` of the file operation that failed; 0 where none did.
  package init(extendedCode: Int32, message: String, statement: String? = nil, systemError: Int32 = 0) {
    self.code = Code(extendedCode: extendedCode, systemError: systemError)
    self.extendedCode = extendedCode
    self.message = code == .diskFull ? Self.fullDisk(systemError) : message
    self.statement = statement
  }

  package var description: String {
    "SQLite \(extendedCode): \(message)" + (statement.map { " in: \($0)" } ?? "")
  }
}

extension SQLiteError {
  /// What kept a file from growing.
  private static func fullDisk(_ systemError: Int32) -> String {
    switch martlet_sqlite_growth_failure(systemError) {
    case MARTLET_SQLITE_FILE_TOO_LARGE:
      "a data file has reached the largest size that the process or the file system allows"
    case MARTLET_SQLITE_OVER_QUOTA: "the quota of the disk is used up"
    default: "the disk is full"
    }
  }
}

extension SQLiteError.Code {
  /// Operations that make a file larger. SQLite itself reports only `ENOSPC` of a write as a full disk.
  private static let growing: Set<Int32> = [
    SQLITE_IOERR | (3 << 8),  // SQLITE_IOERR_WRITE
    SQLITE_IOERR | (6 << 8),  // SQLITE_IOERR_TRUNCATE
    SQLITE_IOERR | (19 << 8),  // SQLITE_IOERR_SHMSIZE
  ]

  init(extendedCode: Int32, systemError: Int32) {
    if Self.growing.contains(extendedCode), martlet_sqlite_growth_failure(systemError) != 0 {
      // Nothing of it is on the disk: the writes are refused, and later ones succeed when there is room again.
      self = .diskFull
      return
    }
    if extendedCode == SQLITE_CONSTRAINT | (6 << 8) || extendedCode == SQLITE_CONSTRAINT | (8 << 8) {
      self = .unique  // SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE
      return
    }
    switch extendedCode & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED: self = .busy
    case SQLITE_CANTOPEN: self = .cannotOpen
    case SQLITE_CONSTRAINT: self = .constraint
    case SQLITE_CORRUPT: self = .corrupt
    case SQLITE_FULL: self = .diskFull
    case SQLITE_INTERRUPT: self = .interrupted
    case SQLITE_IOERR: self = .inputOutput
    case SQLITE_NOTADB: self = .notADatabase
    case SQLITE_NOMEM: self = .outOfMemory
    case SQLITE_READONLY: self = .readOnly
    case SQLITE_TOOBIG: self = .tooBig
    default: self = .other
    }
  }
}
