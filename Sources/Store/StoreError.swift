package import MartletModels
internal import MartletSQLite

/// Why the store refused or failed.
package struct StoreError: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Code: Sendable, Equatable {
    // The request's fault: nothing was changed.
    /// The condition did not hold for the record as it is.
    case conditionFailed
    /// The expected version is not the record's.
    case versionMismatch
    case alreadyExists
    case notFound
    /// A unique index holds the value already.
    case notUnique
    /// Children refer to the record, and their relation says that it stays then.
    case referenced
    /// A value does not fit its field, a required one is missing, or a size is over its limit.
    case invalid
    /// A page token that this store did not make for this query.
    case invalidToken
    /// A list looked at more rows than `StoreLimits.scannedRows`; the message names the index that is missing.
    case tooManyRows
    /// The number of this write has been acknowledged or its client has expired: whether it was applied is no longer
    /// known, so it is not applied.
    case outcomeForgotten
    /// The access rules of the schema refuse the write; the message is for its caller.
    case forbidden
    /// This store follows another one's log and takes no writes.
    case notAuthority
    /// The ledger did not answer: whether the write is in the log will be known when the log is read again.
    case outcomeUnknown
    /// The closure of a transaction threw; the message is its error's.
    case aborted
    // The moment's fault: try again later.
    case overloaded
    case deadline
    case diskFull
    case closed
    // The folder's fault, at opening.
    /// Another process has the folder open.
    case locked
    /// The folder holds other files and no store, or half a store.
    case noStore
    /// Written by a newer version of this format.
    case newerFormat
    /// The schema's difference to the folder's cannot be taken over; the message says what to do.
    case migration
    /// The log handed to this store is not a continuation of its own.
    case diverged
    /// Bytes are not what was written.
    case damaged
    // Beyond repair here.
    /// The data files were deleted or replaced while they were open; nothing more is written.
    case filesGone
    /// The disk failed or the database is damaged; the store no longer acknowledges anything.
    case failed
  }

  package var code: Code
  /// What was wrong and where.
  package var message: String
  /// The record that stood in the way, where one did.
  package var conflict: Conflict?

  /// A record as it was when it stood in a write's way.
  package struct Conflict: Sendable, Equatable {
    package var model: Int
    package var key: RecordKey
    package var version: Int64

    package init(model: Int, key: RecordKey, version: Int64) {
      self.model = model
      self.key = key
      self.version = version
    }
  }

  package init(_ code: Code, _ message: String, _ conflict: Conflict? = nil) {
    self.code = code
    self.message = message
    self.conflict = conflict
  }

  package var description: String { message }

  /// Whether the same write may succeed later without a change.
  package var isRetryable: Bool {
    switch code {
    case .overloaded, .deadline, .diskFull, .closed: true
    case .conditionFailed, .versionMismatch, .alreadyExists, .notFound, .notUnique, .referenced, .invalid,
      .invalidToken, .tooManyRows, .aborted, .forbidden, .outcomeForgotten, .outcomeUnknown, .notAuthority, .locked,
      .noStore, .newerFormat, .migration, .diverged, .damaged, .filesGone, .failed:
      false
    }
  }

  /// What a failure of SQLite means outside the records' own constraints.
  init(_ error: SQLiteError) {
    switch error.code {
    case .diskFull: self.init(.diskFull, error.message)
    case .interrupted: self.init(.deadline, "the deadline passed")
    case .unique: self.init(.notUnique, error.message)
    case .constraint, .tooBig: self.init(.invalid, error.message)
    case .busy, .cannotOpen, .corrupt, .inputOutput, .notADatabase, .outOfMemory, .readOnly, .other:
      self.init(.failed, error.description)
    }
  }
}
