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
      return try checkSize(folder + "/" + StoreFormat.databaseName)
    }
    guard !names.isEmpty, !allowsCreating else { return }
    let found = names.sorted().prefix(3).joined(separator: ", ")
    throw StoreError(
      .noStore,
      "\(folder) holds \(found) but no \(StoreFormat.databaseName): the folder is not a data folder, or half of one; "
        + "name another folder, restore the whole of a backup, or allow a new store to be made here (--create)")
  }

  /// A database without a write-ahead log has as many pages as its first one says; a copy that was cut off has fewer.
  private static func checkSize(_ path: String) throws(StoreError) {
    guard size(of: path + "-wal") == 0 else { return }
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let header = unsafe [UInt8](unsafeUninitializedCapacity: 100) { buffer, count in
      unsafe count = max(0, read(descriptor, buffer.baseAddress, 100))
    }
    guard header.count == 100 else { return }
    let pageSize = Int64(header[16]) << 8 | Int64(header[17])
    let pages = header[28..<32].reduce(Int64(0)) { $0 << 8 | Int64($1) }
    let expected = pages * (pageSize == 1 ? 65_536 : pageSize)
    let actual = size(of: path)
    guard actual < expected else { return }
    throw StoreError(
      .noStore, "\(path) has \(actual) bytes of \(expected): it is half a copy; restore the whole of a backup")
  }

  private static func size(of path: String) -> Int64 {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? Int64(status.st_size) : 0
  }
}
