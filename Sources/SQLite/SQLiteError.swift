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

  package init(extendedCode: Int32, message: String, statement: String? = nil) {
    self.code = Code(extendedCode: extendedCode)
    self.extendedCode = extendedCode
    self.message = message
    self.statement = statement
  }

  package var description: String {
    "SQLite \(extendedCode): \(message)" + (statement.map { " in: \($0)" } ?? "")
  }
}

extension SQLiteError.Code {
  init(extendedCode: Int32) {
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
