internal import MartletChangeFeed
internal import MartletSQLite

/// Opens a data folder: lock, format, and for an authority a migration and a new term. Everything or nothing, in one
/// durable transaction.
struct StoreOpening {
  let lock: FolderLock?
  let file: StoreFile
  /// Where an authority appends its groups.
  let ledger: (any Ledger)?

  /// Opens the folder of an authority, which begins a term.
  init(authority place: StorePlace, _ wanted: [RecordShape], _ options: StoreOptions) throws(StoreError) {
    try self.init(place, wanted, options) { file in
      let ledger = options.ledger?() ?? EmbeddedLedger(file)
      try Self.beginTerm(file, ledger, wanted, options)
      return ledger
    }
  }

  /// Opens the folder of a store that follows another one's log: nothing is decided here.
  init(follower place: StorePlace, _ options: StoreOptions) throws(StoreError) {
    try self.init(place, nil, options) { _ in nil }
  }

  private init(
    _ place: StorePlace, _ wanted: [RecordShape]?, _ options: StoreOptions, _ begin: (StoreFile) throws -> (any Ledger)?
  ) throws(StoreError) {
    lock = if case .folder(let folder) = place { try FolderLock(folder: folder) } else { nil }
    do throws(StoreError) {
      if case .folder(let folder) = place {
        try FolderCheck.check(folder, allowsCreating: options.allowsCreating)
        if FolderCheck.lacksLog(folder) {
          options.onWarning(
            "\(place.databasePath)-wal is missing: what it held is lost, unless another program moved it into the database"
          )
        }
      }
      (file, ledger) = try Self.open(place, wanted, options, begin)
    } catch {
      lock?.leaveAsFound()
      throw error
    }
  }

  /// Opens the database and makes its beginning durable. It is closed again when this throws.
  private static func open(
    _ place: StorePlace, _ wanted: [RecordShape]?, _ options: StoreOptions, _ begin: (StoreFile) throws -> (any Ledger)?
  ) throws(StoreError) -> (StoreFile, (any Ledger)?) {
    do {
      var settings = Database.Options()
      settings.cacheKiB = options.limits.cacheKiB
      // A disk in memory is made for its store, or by a test that knows what it holds.
      let mayBeNew = options.allowsCreating || place.files != nil || !place.holdsDatabase
      let database = try Database(path: place.databasePath, on: place.files, options: settings)
      try database.execute("BEGIN IMMEDIATE")
      try prepareTables(database, place, mayBeNew: mayBeNew)
      let file = try StoreFile(database, DataFiles(place), wanted: wanted)
      try StagingTable.recover(file)
      let ledger = try begin(file)
      try database.execute("COMMIT")
      return (file, ledger)
    } catch {
      throw (error as? SQLiteError).map { Self.error($0, place) } ?? (error as? StoreError)
        ?? StoreError(.failed, "\(error)")
    }
  }

  /// Migrates to the wanted shapes and begins the authority's term, as a group of the log.
  private static func beginTerm(
    _ file: StoreFile, _ ledger: any Ledger, _ wanted: [RecordShape], _ options: StoreOptions
  ) throws {
    let position = file.folded.position
    let last = try ledger.bounds().last
    guard last == position.point else {
      throw StoreError(
        .diverged,
        "the ledger ends at offset \(last.offset) and the folder at \(position.head); follow the ledger until both agree"
      )
    }
    var builder = GroupBuilder(
      first: position.head + 1, term: options.term, time: max(options.clock.milliseconds(), position.time),
      checksumBefore: position.checksum.value)
    let term = try LineageTable.next(options.term, keeping: options.limits.terms, on: file.database)
    try ledger.begin(term: term.term, ordinal: term.ordinal, after: position.point).check()
    try file.fold(
      try builder.append(.term(term), endsTransaction: true, file.coder, options.limits), at: builder.time)
    var wanted = wanted
    let isOther = options.schemaName.isEmpty || options.schemaName != file.catalogue.schemaName
    let check = RecordCheck(file.database, file.catalogue)
    if isOther { try check.checkValues(wanted) }
    let settled = try check.settleUniqueness(wanted, allowsDuplicates: options.allowsDuplicates)
    wanted = settled.shapes
    let plan = try MigrationPlan(from: file.catalogue, to: wanted, dropping: options.allowsDropping)
    // Another schema without steps is logged too: the newest schema entry is the one in force.
    if !plan.steps.isEmpty || file.catalogue.revision == 0 || (isOther && !options.schemaName.isEmpty) {
      var migrator = Migrator(file.database, file.catalogue)
      let (change, catalogue) = try migrator.run(
        plan, name: options.schemaName, text: options.schemaText, at: builder.time)
      try builder.append(.schema(change), endsTransaction: true, file.coder, options.limits)
      file.migrated(to: catalogue, wanted: wanted)
    } else {
      file.migrated(to: file.catalogue, wanted: wanted)
    }
    for warning in settled.warnings { options.onWarning(warning) }
    if let group = builder.group() {
      try file.append(group)
      try ledger.append(group, after: position.point, in: term.term).check()
    }
  }

  /// The tables of a second store that is made from a log and thrown away.
  static func scratch(_ place: StorePlace) throws -> StoreFile {
    var settings = Database.Options()
    settings.isScratch = true
    let database = try Database(path: place.databasePath, on: place.files, options: settings)
    try prepareTables(database, place, mayBeNew: true)
    return try StoreFile(database, DataFiles(place), wanted: nil)
  }

  /// - Throws: unless the database is a store of the present format.
  static func checkFormat(_ database: Database, _ place: StorePlace) throws {
    guard try number("PRAGMA application_id", database) == StoreFormat.applicationID else {
      throw StoreError(.failed, "\(place.databasePath) is a SQLite database, but not one of Martlet's")
    }
    let format = try number("PRAGMA user_version", database)
    guard format != StoreFormat.version, format != StoreFormat.stagingVersion else { return }
    throw StoreError(
      format < StoreFormat.version ? .failed : .newerFormat,
      format < StoreFormat.version
        ? "\(place.databasePath) has format \(format); serve it once, which brings it to format \(StoreFormat.version)"
        : "\(place.databasePath) has format \(format), which a newer version wrote")
  }

  /// Makes a new folder's tables, brings older ones to the present format, or refuses what is not ours to read.
  private static func prepareTables(_ database: Database, _ place: StorePlace, mayBeNew: Bool) throws {
    let application = try number("PRAGMA application_id", database)
    let format = try number("PRAGMA user_version", database)
    let tables = try number("SELECT count(*) FROM sqlite_schema", database)
    if application == 0 && format == 0 && tables == 0 {
      guard mayBeNew else { throw FolderCheck.withoutTables(place.databasePath) }
      try database.execute(
        Catalogue.tables + LogTable.tables + OutcomeTable.tables + TombstoneTable.tables + TreeTable.tables
          + TreeIndexTable.tables + DeferredTable.tables + DefinitionTable.tables)
      try PriorityTable.prepare(database)
      try database.execute("PRAGMA application_id = \(StoreFormat.applicationID)")
      try database.execute("PRAGMA user_version = \(StoreFormat.version)")
      return
    }
    guard application == StoreFormat.applicationID else {
      throw StoreError(.failed, "\(place.databasePath) is a SQLite database, but not one of Martlet's")
    }
    guard format <= StoreFormat.newest else {
      throw StoreError(
        .newerFormat,
        "\(place.databasePath) has format \(format), and this version reads formats up to \(StoreFormat.newest); "
          + "use the newer version that wrote it")
    }
    if format < 2 { try FormatUpgrade(database).run() } else { try Catalogue.addMissingColumns(database) }
    // What folders of this format have not always had.
    try database.execute(
      TreeTable.tables + TreeIndexTable.tables + DeferredTable.tables + DefinitionTable.tables)
    try PriorityTable.prepare(database)
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
