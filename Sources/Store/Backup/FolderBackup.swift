internal import MartletSQLite

/// A copy of a data folder, whether a server has the folder open or not.
package enum FolderBackup {
  /// Half a minute of looks every 20 ms: a busy server looks for requests once a second.
  package static let usualLooks = 1_500

  /// Copies the data folder `source` to the folder `target`.
  ///
  /// A folder that is in use is copied by the process that uses it, which is asked by a file in the folder
  /// (`BackupRequest`); otherwise the folder is locked and copied here. The copy is made under another name, checked,
  /// made durable and then renamed, so that `target` is complete or not there. `pause` is called between looks at a
  /// running copy and should wait some milliseconds.
  ///
  /// The stores of further trees, in folders inside of `source`, are copied as well, each in one state of its own,
  /// after the first store.
  ///
  /// - Parameter looks: Looks at the answer of a process that uses the folder until it counts as one that does not take
  ///   requests.
  /// - Throws: `notFound` when there is no store at `source`, `alreadyExists` when `target` is there and not empty, or
  ///   what failed.
  package static func copy(
    _ source: String, to target: String, looks: Int = usualLooks, pause: () throws -> Void
  ) throws(StoreError) {
    let place = StorePlace.folder(source)
    guard place.holdsDatabase else { throw StoreError(.notFound, "there is no store at \(place.databasePath)") }
    let part = try PartialFolder(for: target)
    do {
      if let lock = try BackupRequest.lockUnused(source) {
        defer { lock.leaveAsFound() }
        try copyAtRest(place, to: .folder(part.path))
      } else {
        try BackupRequest.ask(source, for: part.path, looks: looks, pause: pause)
      }
      try StoreCheck.require(.folder(part.path))
      for name in try StoreFormat.namespaces(in: source) {
        try copy(source + "/" + name, to: part.path + "/" + name, looks: looks, pause: pause)
      }
      try part.finish()
    } catch {
      part.remove()
      throw StoreError(reading: error)
    }
  }

  /// Copies a store that no process has open.
  private static func copyAtRest(_ source: StorePlace, to target: StorePlace) throws {
    var settings = Database.Options()
    settings.isReadOnly = true
    let database = try Database(path: source.databasePath, on: source.files, options: settings)
    try database.backup(into: try StoreCopy.file(at: target))
  }
}

extension StoreCheck {
  /// Reads all of the copy: its pages, the log with its checksums, and each record with its newest change.
  fileprivate static func require(_ copy: StorePlace) throws {
    guard let finding = try report(copy, scratch: nil).findings.first else { return }
    throw StoreError(
      .damaged, "the copy is damaged, as the data may be, which 'martlet check' looks at: \(finding.message)")
  }
}

extension StoreFormat {
  /// The names of the folders in `folder` that hold stores of further trees.
  package static func namespaces(in folder: String) throws(StoreError) -> [String] {
    try FolderContents.names(of: folder)
      .filter { $0.hasPrefix(namespacePrefix) && StorePlace.folder(folder + "/" + $0).holdsDatabase }.sorted()
  }
}
