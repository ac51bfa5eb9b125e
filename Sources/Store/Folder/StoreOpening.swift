internal import MartletChangeFeed
internal import MartletSQLite

/// Opens a data folder: lock, format, migration, a new term. Everything or nothing, in one durable transaction.
struct StoreOpening {
  let lock: FolderLock?
  let database: Database
  let shapes: [RecordShape]
  let revision: Int64
  let lineage: Lineage

  init(_ place: StorePlace, _ wanted: [RecordShape], _ options: StoreOptions) throws(StoreError) {
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
      self.database = database
      try database.execute("BEGIN IMMEDIATE")
      try Self.checkFormat(database, place, options)
      let before = try Catalogue(reading: database)
      let plan = try MigrationPlan(from: before, to: wanted, dropping: options.allowsDropping)
      if !plan.steps.isEmpty || before.revision == 0 {
        var migrator = Migrator(database, before)
        try migrator.run(plan, schema: options.schemaName, at: options.clock.milliseconds())
      }
      let catalogue = try Catalogue(reading: database)
      var numbered = wanted
      catalogue.number(&numbered)
      shapes = numbered
      revision = catalogue.revision
      let head = try LogTable(database).position().head
      try LineageTable.append(
        term: options.term, first: head + 1, keeping: options.limits.terms, on: database)
      lineage = Lineage(
        try LineageTable.read(database).map { Lineage.Entry(term: $0.term, firstOffset: $0.first) })
      try database.execute("COMMIT")
    } catch {
      throw (error as? SQLiteError).map { Self.error($0, place) } ?? (error as? StoreError)
        ?? StoreError(.failed, "\(error)")
    }
  }

  /// Makes a new folder's tables, or refuses one that is not ours to read.
  private static func checkFormat(_ database: Database, _ place: StorePlace, _ options: StoreOptions) throws {
    let application = try number("PRAGMA application_id", database)
    let format = try number("PRAGMA user_version", database)
    let tables = try number("SELECT count(*) FROM sqlite_schema", database)
    if application == 0 && format == 0 && tables == 0 {
      try database.execute(Catalogue.tables)
      try database.execute(LogTable.tables)
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
