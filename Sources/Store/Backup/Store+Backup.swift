internal import MartletSQLite

extension Store {
  /// Copies the data folder `source` to the folder `target`, whether a server has it open or not.
  ///
  /// A folder that is in use is copied by the process that uses it, which is asked by a file in the folder
  /// (`BackupRequest`); otherwise the folder is locked and copied here. The copy is made under another name, checked,
  /// made durable and then renamed, so that `target` is complete or not there. `pause` is called between looks at a
  /// running copy and should wait some milliseconds.
  ///
  /// - Throws: `notFound` when there is no store at `source`, `alreadyExists` when `target` is there and not empty, or
  ///   what failed.
  package static func backup(
    folder source: String, to target: String, pause: () throws -> Void
  ) throws(StoreError) {
    let place = StorePlace.folder(source)
    guard place.holdsDatabase else { throw StoreError(.notFound, "there is no store at \(place.databasePath)") }
    let part = try PartialFolder(for: target)
    do {
      if let lock = try BackupRequest.lockUnused(source) {
        defer { withExtendedLifetime(lock) {} }
        try copyAtRest(place, to: .folder(part.path))
      } else {
        try BackupRequest.ask(source, for: part.path, pause: pause)
      }
      try check(.folder(part.path))
      try part.finish()
    } catch {
      part.remove()
      throw (error as? StoreError) ?? (error as? SQLiteError).map { StoreError($0) } ?? .unknown(error)
    }
  }

  /// Copies a store that no process has open.
  private static func copyAtRest(_ source: StorePlace, to target: StorePlace) throws {
    var settings = Database.Options()
    settings.isReadOnly = true
    let database = try Database(path: source.databasePath, on: source.files, options: settings)
    try database.backup(into: try scratch(target))
  }

  /// Reads all of the copy: its pages, the log with its checksums, and each record with its newest change.
  private static func check(_ copy: StorePlace) throws {
    guard let finding = try StoreCheck.report(copy, scratch: nil).findings.first else { return }
    throw StoreError(
      .damaged, "the copy is damaged, as the data may be, which 'martlet check' looks at: \(finding.message)")
  }
}
