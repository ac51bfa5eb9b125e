#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Notices when the data files of an open store are deleted or replaced: the process would keep writing to files that
/// no restart finds.
///
/// Compares device and inode with those at opening, one `stat` for each group.
struct DataFiles {
  private struct Identity: Equatable {
    var device: UInt64
    var file: UInt64

    init?(_ path: String) {
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return nil }
      // Signed numbers on some systems.
      device = UInt64(truncatingIfNeeded: status.st_dev)
      file = UInt64(truncatingIfNeeded: status.st_ino)
    }
  }

  private let path: String?
  private let opened: Identity?

  init(_ place: StorePlace) {
    if case .folder = place {
      path = place.databasePath
      opened = Identity(place.databasePath)
    } else {
      path = nil
      opened = nil
    }
  }

  /// Why nothing may be written; nil while the files are those that were opened.
  func trouble() -> StoreError? {
    guard let path, let opened, Identity(path) != opened else { return nil }
    return StoreError(
      .filesGone,
      "\(path) was deleted or replaced while it was in use; writes are refused until the server is restarted")
  }
}
