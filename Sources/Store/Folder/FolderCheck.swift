#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Whether a folder holds a whole store, or may become one. A mistyped path or half a copy must not become an empty
/// store that serves nothing.
enum FolderCheck {
  /// - Throws: `noStore` for a folder with other files and no store, or with half a store.
  static func check(_ folder: String, allowsCreating: Bool) throws(StoreError) {
    let own = [
      StoreFormat.lockName, BackupRequest.name, BackupRequest.answerName, BackupRequest.answerName + ".part",
    ]
    let names = try FolderContents.names(of: folder).filter { !own.contains($0) }
    if names.contains(StoreFormat.databaseName) {
      return try checkHeader(folder + "/" + StoreFormat.databaseName, allowsCreating: allowsCreating)
    }
    guard !names.isEmpty, !allowsCreating else { return }
    let found = names.sorted().prefix(3).joined(separator: ", ")
    throw StoreError(
      .noStore,
      "\(folder) holds \(found) but no \(StoreFormat.databaseName): the folder is not a data folder, or half of one; "
        + "name another folder, restore the whole of a backup, or allow a new store to be made here (--create)")
  }

  /// Looks at a database's first bytes before SQLite does, which would change the file of another program. What is in a
  /// write-ahead log counts more than they do: such a database is left to SQLite.
  ///
  /// A database has as many pages as its first one says; a copy that was cut off has fewer.
  private static func checkHeader(_ path: String, allowsCreating: Bool) throws(StoreError) {
    let actual = size(of: path)
    guard size(of: path + "-wal") == 0 else { return }
    guard actual > 0 else {
      if allowsCreating { return }
      throw withoutTables(path)
    }
    guard let header = header(of: path) else { return }
    guard header.count == 100, header.starts(with: "SQLite format 3\0".utf8) else {
      throw StoreError(.failed, "\(path) is not a database")
    }
    let written = Int64(header[16]) << 8 | Int64(header[17])
    let pageSize = written == 1 ? 65_536 : written
    let application = number(header[68..<72])
    // A database of one page has no tables.
    let isEmpty = application == 0 && actual <= pageSize
    guard application == StoreFormat.applicationID || isEmpty else {
      throw StoreError(.failed, "\(path) is a SQLite database, but not one of Martlet's")
    }
    guard !isEmpty || allowsCreating else { throw withoutTables(path) }
    let expected = number(header[28..<32]) * pageSize
    guard actual < expected else { return }
    throw StoreError(
      .noStore, "\(path) has \(actual) bytes of \(expected): it is half a copy; restore the whole of a backup")
  }

  /// Whether a store's write-ahead log has disappeared: the database was in use with one, which this version never
  /// deletes. Another program that had the store open may have emptied and deleted it; then nothing is lost.
  static func lacksLog(_ folder: String) -> Bool {
    let path = folder + "/" + StoreFormat.databaseName
    var status = stat()
    guard unsafe stat(path + "-wal", &status) != 0, let header = header(of: path), header.count == 100 else {
      return false
    }
    // The version that is needed to write: 2 has a write-ahead log. A copy at rest has 1.
    return header[18] == 2
  }

  /// The first bytes of a file; nil when it cannot be opened.
  private static func header(of path: String) -> [UInt8]? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return unsafe [UInt8](unsafeUninitializedCapacity: 100) { buffer, count in
      // At most 100 bytes are written to a buffer of as many.
      unsafe count = max(0, read(descriptor, buffer.baseAddress, 100))
    }
  }

  /// The error for a database that was there and has no tables: all that it held may be in a write-ahead log that is
  /// gone or unreadable, so that it must not become a new store unasked.
  static func withoutTables(_ path: String) -> StoreError {
    StoreError(
      .noStore,
      "\(path) is there and holds nothing: its write-ahead log (\(path)-wal) is missing or damaged, or the store was "
        + "never finished; restore the whole of a backup, or allow a new store to be made here (--create)")
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 { bytes.reduce(0) { $0 << 8 | Int64($1) } }

  private static func size(of path: String) -> Int64 {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? Int64(status.st_size) : 0
  }
}
