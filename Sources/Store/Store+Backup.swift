internal import MartletSQLite

extension Store {
  /// Copies the whole store, as of now, into a folder or disk that holds no store yet, while reads and writes go on.
  ///
  /// Runs on the caller's thread and takes as long as the data needs; call it from a thread that may wait. A store
  /// opened on the copy begins a term of its own: clients that have seen more than the copy holds get one gap.
  ///
  /// - Throws: `alreadyExists` when there is a store at `target`, or what failed.
  package func backup(to target: StorePlace) throws(StoreError) {
    try Self.backup(of: place, to: target)
  }

  /// The same for a store that another process may have open: the copy is one state of it, and nothing is locked.
  ///
  /// - Throws: `notFound` when there is no store at `place`, `alreadyExists` when there is one at `target`, or what failed.
  package static func backup(of place: StorePlace, to target: StorePlace) throws(StoreError) {
    guard place.holdsDatabase else { throw StoreError(.notFound, "there is no store at \(place.databasePath)") }
    let lock: FolderLock?
    switch target {
    case .folder(let folder): lock = try FolderLock(folder: folder)
    case .memory: lock = nil
    }
    defer { withExtendedLifetime(lock) {} }
    do {
      var settings = Database.Options()
      settings.isReadOnly = true
      let source = try Database(path: place.databasePath, on: place.files, options: settings)
      let copy = try Database(path: target.databasePath, on: target.files)
      let tables = try copy.prepare("SELECT count(*) FROM sqlite_schema")
      if try tables.step(), tables.int64(0) > 0 {
        throw StoreError(.alreadyExists, "there is a store at \(target.databasePath) already")
      }
      tables.reset()
      try source.backup(into: copy)
      _ = try copy.checkpoint(.truncate)
    } catch {
      throw (error as? SQLiteError).map { StoreError($0) } ?? (error as? StoreError) ?? StoreError(.failed, "\(error)")
    }
  }
}
