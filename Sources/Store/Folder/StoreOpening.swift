internal import MartletChangeFeed
internal import MartletSQLite

/// Opens a data folder: lock, format, and for an authority a migration and a new term. Everything or nothing, in one
/// durable transaction.
struct StoreOpening {
  let lock: FolderLock?
  let file: StoreFile

  /// Opens the folder of an authority, which begins a term.
  init(authority place: StorePlace, _ wanted: [RecordShape], _ options: StoreOptions) throws(StoreError) {
    try self.init(place, wanted, options) { file in
      try Self.beginTerm(file, wanted, options)
    }
  }

  /// Opens the folder of a store that follows another one's log: nothing is decided here.
  init(follower place: StorePlace, _ options: StoreOptions) throws(StoreError) {
    try self.init(place, nil, options) { _ in }
  }

  private init(
    _ place: StorePlace, _ wanted: [RecordShape]?, _ options: StoreOptions, _ begin: (StoreFile) throws -> Void
  ) throws(StoreError) {
    switch place {
    case .folder(let folder):
      lock = try FolderLock(folder: folder)
      try FolderCheck.check(folder, allowsCreating: options.allowsCreating)
    case .memory: lock = nil
    }
    do {
      var settings = Database.Options()
      settings.cacheKiB = options.limits.cacheKiB
      let database = try Database(path: place.databasePath, on: place.files, options: settings)
      try database.execute("BEGIN IMMEDIATE")
      try Self.prepareTables(database, place)
      file = try StoreFile(database, DataFiles(place), wanted: wanted)
      try begin(file)
      try database.execute("COMMIT")
    } catch {
      throw (error as? SQLiteError).map { Self.error($0, place) } ?? (error as? StoreError)
        ?? StoreError(.failed, "\(error)")
    }
  }

  /// Migrates to the wanted shapes and begins the authority's term, as a group of the log.
  private static func beginTerm(_ file: StoreFile, _ wanted: [RecordShape], _ options: StoreOptions) throws {
    let position = file.folded.position
    var builder = GroupBuilder(
      first: position.head + 1, term: options.term, time: max(options.clock.milliseconds(), position.time),
      checksumBefore: position.checksum.value)
    let term = try LineageTable.next(options.term, keeping: options.limits.terms, on: file.database)
    try file.fold(
      try builder.append(.term(term), endsTransaction: true, file.coder, options.limits), at: builder.time)
    let plan = try MigrationPlan(from: file.catalogue, to: wanted, dropping: options.allowsDropping)
    if !plan.steps.isEmpty || file.catalogue.revision == 0 {
      var migrator = Migrator(file.database, file.catalogue)
      let (change, catalogue) = try migrator.run(
        plan, name: options.schemaName, text: options.schemaText, at: builder.time)
      try builder.append(.schema(change), endsTransaction: true, file.coder, options.limits)
      file.migrated(to: catalogue, wanted: wanted)
    }
    if let group = builder.group { try file.append(group) }
  }

  /// Makes a new folder's tables, brings older ones to the present format, or refuses what is not ours to read.
  private static func prepareTables(_ database: Database, _ place: StorePlace) throws {
    let application = try number("PRAGMA application_id", database)
    let format = try number("PRAGMA user_version", database)
    let tables = try number("SELECT count(*) FROM sqlite_schema", database)
    if application == 0 && format == 0 && tables == 0 {
      try database.execute(
        Catalogue.tables + LogTable.tables + OutcomeTable.tables + TombstoneTable.tables + TreeTable.tables)
      try database.execute("PRAGMA application_id = \(StoreFormat.applicationID)")
      try database.execute("PRAGMA user_version = \(StoreFormat.version)")
      return
    }
    guard application == StoreFormat.applicationID else {
      throw StoreError(.failed, "\(place.databasePath) is a SQLite database, but not one of Martlet's")
    }
    guard format <= StoreFormat.version else {
      throw StoreError(
        .newerFormat,
        "\(place.databasePath) has format \(format), and this version reads formats up to \(StoreFormat.version); "
          + "use the newer version that wrote it")
    }
    if format < 2 { try FormatUpgrade(database).run() }
    // Folders that were made before there were trees.
    try database.execute(TreeTable.tables)
  }

  private static func number(_ sql: String, _ database: Database) throws(SQLiteError) -> Int64 {
    let statement = try database.prepare(sql)
    return try statement.step() ? statement.int64(0) : 0
  }

  private static func error(_ error: SQLiteError, _ place: StorePlace) -> StoreError {
    switch error.code {
    case .diskFull: StoreError(.diskFull, "the disk is full: \(place.databasePath) cannot be opened")
    case .busy: StoreError(.locked, "\(place.databasePath) is in use by another process")
    case .notADatabase: StoreError(.failed, "\(place.databasePath) is not a database")
    case .cannotOpen, .constraint, .unique, .corrupt, .interrupted, .inputOutput, .outOfMemory, .readOnly, .tooBig,
      .other:
      StoreError(.failed, "\(place.databasePath) cannot be opened: \(error)")
    }
  }
}
