internal import MartletJSON
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
  /// What a transaction did.
  package struct Commit: Sendable {
    /// One change for each record that differs.
    package var changes: [RowChange] = []
    /// How the outbox changed, in order, for the engine.
    package var outbox: [QueuedWrite] = []
    /// Writes that were refused for good.
    package var letters: [DeadLetter] = []
  }

  private let database: Database
  private let tables: ClientTables
  private let records: Records
  private let queries: ClientQueries
  /// Whether writes go to a server. Otherwise there is no outbox.
  private let syncs: Bool

  /// Opens or creates the store at `path` and migrates it to the shapes, keeping rows and outbox.
  ///
  /// - Throws: `migration` when a field's type or a key has changed, or what the disk says.
  package init(path: String, on files: MemoryFiles? = nil, shapes models: [RecordShape], syncs: Bool)
    throws(StoreError)
  {
    do {
      database = try Database(path: path, on: files)
      tables = ClientTables(database: database)
      var shapes = Self.shapes(models)
      try database.execute("BEGIN IMMEDIATE")
      if try Self.isEmpty(database) {
        try database.execute(Catalogue.tables + TombstoneTable.tables + ClientTables.sql)
      }
      var catalogue = try Catalogue(reading: database)
      let plan = try MigrationPlan(from: catalogue, to: shapes, dropping: true)
      if !plan.steps.isEmpty {
        var migrator = Migrator(database, catalogue)
        catalogue = try migrator.run(plan, name: "client", text: "", at: 0).catalogue
      }
      catalogue.number(&shapes)
      try database.execute("COMMIT")
      records = Records(shapes, on: database)
      queries = ClientQueries(records: records, database: database)
      self.syncs = syncs
    } catch {
      throw Self.storeError(error)
    }
  }

  /// The shapes of a client's models. A row of the server is taken whatever it lacks, so only keys are required.
  private static func shapes(_ models: [RecordShape]) -> [RecordShape] {
    var shapes = models
    for index in shapes.indices {
      shapes[index].cascades = []
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

  private static func storeError(_ error: any Error) -> StoreError {
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

  /// The rows that a query asks for, as of the last commit.
  package func rows(_ query: WindowQuery, _ request: WindowRequest) throws(StoreError) -> WindowRows {
    do { return try queries.rows(query, request) } catch { throw Self.storeError(error) }
  }

  /// Totals over the records that a query selects, as of the last commit.
  package func totals(_ query: AggregateQuery) throws(StoreError) -> AggregateTotals {
    var totals = AggregateTotals(query.functions)
    do { try queries.forEach(model: query.model, query.predicate) { totals.add($0) } } catch {
      throw Self.storeError(error)
    }
    return totals
  }

  /// The record with a key; nil when there is none.
  package func row(model: Int, _ key: RecordKey) throws(StoreError) -> LiveRow? {
    do {
      let table = try records.table(model)
      guard let stored = try table.get(key) else { return nil }
      return try queries.row(stored, table)
    } catch {
      throw Self.storeError(error)
    }
  }

  /// The outbox in order, with the numbers of its models; writes of models that are no longer there are left out.
  package func outbox() throws(StoreError) -> [(number: Int64, model: Int, key: RecordKey)] {
    do {
      return try tables.outbox().compactMap { write in
        records.tables.first { $0.shape.tableName.utf8.elementsEqual(write.table.utf8) }
          .map { (write.number, $0.shape.model, write.key) }
      }
    } catch {
      throw Self.storeError(error)
    }
  }

  /// The pending writes of a record, in order.
  package func pending(model: Int, _ key: RecordKey) throws(StoreError) -> [PendingWrite] {
    do { return try tables.pending(try records.table(model).shape, key) } catch { throw Self.storeError(error) }
  }

  // MARK: Writing

  /// Runs `body` in one transaction that is on the disk when this returns, or takes everything back.
  package func transaction(_ body: (ClientTransaction) throws -> Void) throws(StoreError) -> Commit {
    do {
      try database.execute("BEGIN IMMEDIATE")
      let transaction = ClientTransaction(tables, records, queries, syncs: syncs)
      try body(transaction)
      let commit = try transaction.commit
      try database.execute("COMMIT")
      return commit
    } catch {
      if database.isInTransaction { try? database.execute("ROLLBACK") }
      throw Self.storeError(error)
    }
  }
}
