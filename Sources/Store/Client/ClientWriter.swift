package import MartletJSON
package import MartletLiveQueries
package import MartletModels
package import MartletSQLite
package import MartletSyncEngine

/// A client's store: rows as the application sees them, the server's image beside a row while writes to it are pending,
/// and the outbox. A write and its entry in the outbox are one transaction.
///
/// The file has neither UNIQUE nor FOREIGN KEY: the server's rows are taken as they are, and a child is stored and
/// shown before its parent. Confined to one thread at a time by its owner.
package final class ClientWriter {
  /// A write of a record that was not sent, and of which there is nothing to send.
  package struct CancelledWrite: Sendable, Hashable {
    package var number: Int64
    package var model: Int
    package var key: RecordKey
  }

  /// What a transaction did.
  package struct Commit: Sendable {
    /// One change for each record that differs.
    package var changes: [RowChange] = []
    /// How the outbox changed, in order, for the engine.
    package var outbox: [QueuedWrite] = []
    /// Writes that were refused for good.
    package var letters: [DeadLetter] = []
    /// Writes that a later one has left nothing of.
    package var cancelled: [CancelledWrite] = []
    /// The numbers that the local writes have, in order: their own, or those of the writes they were merged into. Zero
    /// for a write that leaves nothing to send. One that changes nothing has the number of the last write of its record
    /// that waits, or `unchanged`.
    package var numbers: [Int64] = []
    /// The number of a write to a record that the server has as it is.
    package static let unchanged: Int64 = -1
    /// Whether everything was deleted at once.
    package var isCleared = false
    /// Whether the changes are to be read from the journal, among those of other processes.
    package var isJournaled = false
    /// The last entry that the journal had before.
    package var followedEntry: Int64 = 0

    /// What a transaction did, without its changes.
    package init(outbox: [QueuedWrite] = [], letters: [DeadLetter] = []) {
      self.outbox = outbox
      self.letters = letters
    }
  }

  private let database: Database
  let tables: ClientTables
  let records: Records
  private let queries: ClientQueries
  private let processes: ClientProcesses
  private var bell: ClientBell?
  /// The last entry of the journal that has been read here.
  private var lastEntry: Int64 = 0
  /// The last entry of the journal that the state has which `reading` gives, or has given last.
  package private(set) var readEntry: Int64 = 0
  /// Called with true before rows that a transaction has changed can be seen by other connections, and with false when
  /// there are none after all.
  package var onCommit: (_ begins: Bool) -> Void = { _ in }
  /// The catalogue's revision that the shapes were made for.
  private(set) var revision: Int64
  /// Whether another process has given the models fields that this one does not have.
  private var lacksFields = false
  /// Whether writes go to a server. Otherwise there is no outbox.
  private var syncs: Bool
  /// What local writes must fulfil.
  private let constraints: ClientConstraints
  /// Whether the connection waits for the disk at each commit.
  private var isDurable = true

  /// Pages of write-ahead log after which a commit moves them into the file: 4 MiB, as SQLite does by itself. An
  /// application that is never closed in order, but ended by its system, would keep a log that only grows.
  package static let checkpointPages = 1_000

  /// Opens or creates the store at `path` and migrates it to the shapes, keeping rows and outbox.
  ///
  /// - Parameter syncs: whether writes go to a server. A store that had one keeps its outbox: opened without it, writes
  ///   wait.
  /// - Parameter checkpointPages: pages of write-ahead log after which a commit moves them into the file.
  /// - Throws: `migration` when a field's type or a key has changed, or what the disk says.
  package init(
    path: String, on files: MemoryFiles? = nil, shapes models: [RecordShape], references: [ClientReference] = [],
    key: String? = nil, syncs: Bool, checkpointPages: Int = ClientWriter.checkpointPages
  ) throws(StoreError) {
    constraints = ClientConstraints(models, references)
    do {
      var options = Database.Options()
      options.key = key
      database = try Database(path: path, on: files, options: options)
      try database.execute("PRAGMA wal_autocheckpoint=\(checkpointPages)")
      tables = ClientTables(database: database)
      var shapes = Self.shapes(models)
      try database.execute("BEGIN IMMEDIATE")
      if try Self.isEmpty(database) {
        try database.execute(Catalogue.tables + TombstoneTable.tables + ClientTables.sql)
      }
      try database.execute(ClientTables.later)
      var catalogue = try Catalogue(reading: database)
      let plan = try MigrationPlan(from: catalogue, to: shapes, dropping: true)
      if !plan.steps.isEmpty {
        var migrator = Migrator(database, catalogue)
        catalogue = try migrator.run(plan, name: "client", text: "", at: 0).catalogue
        try RenamedNames(database: database).follow(plan)
        for shape in shapes where plan.widens(shape) { try tables.oweFields(shape) }
      }
      catalogue.number(&shapes)
      try database.execute(ClientProcesses.sql)
      try database.execute("COMMIT")
      revision = catalogue.revision
      records = Records(shapes, on: database)
      processes = ClientProcesses(database: database, records: records)
      queries = ClientQueries(records, on: database)
      self.syncs = try syncs || tables.value(ClientTables.synced) != nil
    } catch {
      throw Self.storeError(error)
    }
  }

  /// The shapes of a client's models. A row of the server is taken whatever it lacks, so only keys are required.
  private static func shapes(_ models: [RecordShape]) -> [RecordShape] {
    var shapes = models
    for index in shapes.indices {
      // One-to-one relations are checked for local writes only.
      for position in shapes[index].indexes.indices { shapes[index].indexes[position].isUnique = false }
      for column in shapes[index].columns.indices where !shapes[index].key.contains(column) {
        shapes[index].columns[column].isRequired = false
      }
    }
    return shapes
  }

  private static func isEmpty(_ database: Database) throws -> Bool {
    let statement = try database.prepare("SELECT count(*) FROM sqlite_schema")
    return try statement.step() && statement.int64(0) == 0
  }

  static func storeError(_ error: any Error) -> StoreError {
    switch error {
    case let error as StoreError: error
    case let error as SQLiteError: StoreError(error)
    case let error as RecordReplica.WriteError:
      switch error {
      case .exists: StoreError(.alreadyExists, "a record with this key exists")
      case .missing: StoreError(.notFound, "there is no record with this key")
      }
    default: StoreError(.failed, "\(error)")
    }
  }

  // MARK: Reading

  /// How many statements were started; tests count with it.
  package var startedStatements: Int { database.startedStatements }

  /// The rows that a query asks for, as of the last commit.
  ///
  /// - Parameter visit: gets the rows in pieces as they are read.
  package func rows(
    _ query: WindowQuery, _ request: WindowRequest, visit: (ContiguousArray<LiveRow>) -> Void
  ) throws(StoreError) -> WindowRows {
    do { return try queries.rows(query, request, visit: visit) } catch { throw readError(error) }
  }

  /// Calls `body` with a statement that stands before the first row of a query's page; its columns are the record's
  /// fields. Returns false, without a call, when the rows or the condition need more than that.
  ///
  /// - Throws: what `body` throws, or `StoreError`.
  package func read(_ query: WindowQuery, _ body: (Statement) throws -> Void) throws -> Bool {
    do { return try queries.read(query, body) } catch let error as SQLiteError { throw readError(error) }
  }

  /// Totals over the records that a query selects, as of the last commit.
  package func totals(_ query: AggregateQuery) throws(StoreError) -> AggregateTotals {
    do { return try queries.totals(query) } catch { throw readError(error) }
  }

  /// How SQLite finds the rows of a query, one line per step.
  package func plan(_ query: WindowQuery) throws(StoreError) -> [String] {
    do { return try queries.plan(query) } catch { throw Self.storeError(error) }
  }

  /// The rows of a model that have `values` in `fields`, as of the last commit.
  package func related(_ model: Int, _ fields: [Int], _ values: [JSONValue]) throws(StoreError) -> [LiveRow] {
    do { return try queries.related(model, fields, values) } catch { throw readError(error) }
  }

  /// The record with a key; nil when there is none.
  package func row(model: Int, _ key: RecordKey) throws(StoreError) -> LiveRow? {
    do {
      let table = try records.table(model)
      guard let stored = try table.get(key) else { return nil }
      return queries.row(stored, table)
    } catch {
      throw readError(error)
    }
  }

  /// The outbox in order, with the numbers of its models; writes of models that are no longer there are left out.
  package func outbox() throws(StoreError) -> [(number: Int64, model: Int)] {
    do {
      return try tables.outbox().compactMap { write in
        records.tables.first { $0.shape.tableName.hasSameBytes(as: write.table) }.map { (write.number, $0.shape.model) }
      }
    } catch {
      throw Self.storeError(error)
    }
  }

  /// The pending writes of a record, in order.
  package func pending(model: Int, _ key: RecordKey) throws(StoreError) -> [PendingWrite] {
    do { return try tables.pending(try records.table(model).shape, key) } catch { throw Self.storeError(error) }
  }

  // MARK: Other processes

  /// Shares the store with other processes from now on: changes of any of them are in the journal.
  package func join(_ bell: ClientBell) throws(StoreError) {
    do {
      try database.execute("BEGIN IMMEDIATE")
      try processes.register(bell.id)
      lastEntry = try processes.position()
      let others = try processes.others(than: bell.id)
      try database.execute("COMMIT")
      readEntry = lastEntry
      self.bell = bell
      ring(others)
    } catch {
      if database.isInTransaction { try? database.execute("ROLLBACK") }
      throw Self.storeError(error)
    }
  }

  deinit {
    // The last use of the connection: its owner is gone, and nothing runs on its thread.
    if let bell { try? processes.remove(bell.id) }
  }

  /// Whether other processes have the store open.
  package func hasOthers() throws(StoreError) -> Bool {
    guard let bell else { return false }
    do { return try !processes.others(than: bell.id).isEmpty } catch { throw Self.storeError(error) }
  }

  /// Wakes other processes, and removes those that have ended.
  private func ring(_ others: [String]) {
    guard let bell else { return }
    for other in others where !bell.ring(other) {
      bell.forget(other)
      // The row costs its process's journal only; the next commit tries again.
      try? processes.remove(other)
    }
  }

  /// Runs `body` on one state of the store, with what the journal has got since this was last called. Nil in place of
  /// entries says that some are gone: everything is to be read again.
  package func reading<Value>(
    _ body: ([JournalEntry]?) throws -> Value
  ) throws(StoreError) -> Value {
    do {
      guard bell != nil else { return try body([]) }
      try database.execute("BEGIN")
      let position = try processes.position()
      if position > lastEntry { try checkCatalogue() }
      let entries = position > lastEntry ? try processes.entries(after: lastEntry) : []
      readEntry = position
      let value = try body(entries)
      lastEntry = position
      try database.execute("COMMIT")
      return value
    } catch {
      if database.isInTransaction { try? database.execute("ROLLBACK") }
      throw Self.storeError(error)
    }
  }

  /// Another process may have changed the tables. Fields that were added are not this one's concern; what it knows must
  /// still be there.
  private func checkCatalogue() throws {
    guard bell != nil, let catalogue = try changedCatalogue() else { return }
    if let misfit = catalogue.misfit(records.tables.map(\.shape)) {
      throw StoreError(.migration, "another process has changed the models: \(misfit)")
    }
    lacksFields = records.tables.contains { catalogue.hasMore(than: $0.shape) }
    revision = catalogue.revision
  }

  /// The catalogue where it is no longer the one that the shapes were made for.
  private func changedCatalogue() throws -> Catalogue? {
    let statement = try database.statement("SELECT max(revision) FROM martlet_revisions")
    defer { statement.reset() }
    guard try statement.step(), statement.int64(0) != revision else { return nil }
    return try Catalogue(reading: database)
  }

  /// - Throws: `migration` when another process has changed the models in a way that this one cannot sync them: fields
  ///   that it does not have would be sent and received without their values.
  package func checkFields() throws(StoreError) {
    do {
      try checkCatalogue()
    } catch {
      throw Self.storeError(error)
    }
    if lacksFields { throw Self.widened }
  }

  private static var widened: StoreError {
    StoreError(.migration, "another process has added fields to the models, and syncs them from now on")
  }

  /// What a failed read means: fields that are no longer there are another process's doing.
  private func readError(_ error: any Error) -> StoreError {
    if error is SQLiteError {
      do { try checkCatalogue() } catch let found as StoreError where found.code == .migration { return found } catch {
        // The first failure says more.
      }
    }
    return Self.storeError(error)
  }

  // MARK: Writing

  /// Runs `body` in one transaction that is on the disk when this returns, or takes everything back.
  ///
  /// - Parameters:
  ///   - source: where the changes come from, for the journal.
  ///   - needsAllFields: whether it throws `migration` where another process has given the models further fields.
  ///   - isDurable: false for what can be had again: a power cut may undo it, with the transactions like it that come
  ///     after it, until a durable one has written something.
  package func transaction(
    source: String = "local", needsAllFields: Bool = false, isDurable: Bool = true,
    _ body: (ClientTransaction) throws -> Void
  ) throws(StoreError) -> Commit {
    defer { database.releaseLargeValues() }
    do {
      if isDurable != self.isDurable {
        // In WAL mode `NORMAL` leaves out the sync of a commit and nothing else: the log's order stays.
        try database.execute("PRAGMA synchronous=\(isDurable ? "FULL" : "NORMAL")")
        self.isDurable = isDurable
      }
      try database.execute("BEGIN IMMEDIATE")
      try checkCatalogue()
      if needsAllFields, lacksFields { throw Self.widened }
      // Another process may have given the store a server.
      if !syncs, bell != nil { syncs = try tables.value(ClientTables.synced) != nil }
      let transaction = ClientTransaction(
        tables, records, queries, constraints, syncs: syncs, lacksFields: lacksFields)
      try body(transaction)
      var commit = try transaction.commit
      let others = try bell.map { try processes.others(than: $0.id) } ?? []
      var ownEntry: Int64?
      if bell != nil { commit.followedEntry = try processes.position() }
      if !others.isEmpty {
        try processes.append(commit.isCleared ? [nil] : commit.changes, source: source)
        // What follows all that is known here needs no reading back.
        commit.isJournaled = commit.followedEntry != lastEntry
        if !commit.isJournaled { ownEntry = try processes.position() }
      }
      let changesRows = commit.isCleared || !commit.changes.isEmpty
      if changesRows { onCommit(true) }
      do { try database.execute("COMMIT") } catch {
        if changesRows { onCommit(false) }
        throw error
      }
      if let ownEntry { lastEntry = ownEntry }
      ring(others)
      return commit
    } catch {
      if database.isInTransaction { try? database.execute("ROLLBACK") }
      throw Self.storeError(error)
    }
  }
}
