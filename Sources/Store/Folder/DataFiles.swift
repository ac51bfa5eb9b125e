internal import MartletSQLite

/// Notices when the data files of an open store are deleted or replaced: the process would keep writing to files that
/// no restart finds.
///
/// Compares device and inode with those at opening, two calls for each group.
struct DataFiles {
  /// The files of a store, with what they were when it was opened.
  private var opened: [(path: String, identity: FileIdentity)] = []

  /// The files at `place`, whose database is open: its write-ahead log is never deleted by the store itself.
  init(_ place: StorePlace) {
    guard case .folder = place else { return }
    for path in [place.databasePath, place.databasePath + "-wal"] {
      if let identity = FileIdentity(path) { opened.append((path, identity)) }
    }
  }

  /// Why nothing may be written; nil while the files are those that were opened.
  func trouble() -> StoreError? {
    for (path, identity) in opened where FileIdentity(path) != identity {
      return StoreError(
        .filesGone,
        "\(path) was deleted or replaced while it was in use; writes are refused until the server is restarted")
    }
    return nil
  }
}
