internal import MartletSQLite

/// Holds the writer, which is another one after an authority has resigned, and what it lets go of.
final class StoreSeat {
  var writer: StoreWriter
  let retired: RetiredChanges

  init(_ writer: StoreWriter, _ limits: StoreLimits) {
    self.writer = writer
    retired = RetiredChanges(limits)
  }
}

/// What changes the store's file.
enum StoreWriter {
  case authority(AuthorityWriter)
  case follower(FollowerWriter)

  var file: StoreFile {
    switch self {
    case .authority(let writer): writer.file
    case .follower(let writer): writer.file
    }
  }

  /// The large write of an authority that is made in slices.
  var staging: Staging? {
    switch self {
    case .authority(let writer): writer.staging
    case .follower: nil
    }
  }

  /// Changes that an authority has coded for the log, and statements that it has run; for tests.
  var counts: (coded: Int, statements: Int) {
    guard case .authority(let writer) = self else { return (0, 0) }
    return (writer.codedChanges, writer.file.database.startedStatements)
  }
}

extension StoreError {
  /// A write for a store that decides none.
  static var following: StoreError {
    StoreError(.notAuthority, "this store follows another one's log; send the write to its authority")
  }
}
