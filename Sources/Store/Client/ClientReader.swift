package import MartletLiveQueries
internal import MartletModels
package import MartletSQLite

/// What queries read of a client's store.
package protocol ClientReading {
  /// The rows that a query asks for.
  ///
  /// - Parameter visit: gets the rows in pieces as they are read.
  func rows(
    _ query: WindowQuery, _ request: WindowRequest, visit: (ContiguousArray<LiveRow>) -> Void
  ) throws(StoreError) -> WindowRows

  /// Calls `body` with a statement that stands before the first row of a query's page; its columns are the record's
  /// fields. Returns false, without a call, when the rows or the condition need more than that.
  func read(_ query: WindowQuery, _ body: (Statement) throws -> Void) throws -> Bool

  /// Totals over the records that a query selects.
  func totals(_ query: AggregateQuery) throws(StoreError) -> AggregateTotals
}

extension ClientReading {
  /// The rows that a query asks for.
  package func rows(_ query: WindowQuery, _ request: WindowRequest) throws(StoreError) -> WindowRows {
    try rows(query, request) { _ in }
  }
}

extension ClientWriter: ClientReading {}

/// Reads what is committed in a client's file, on a connection of its own: while the writer is in a transaction.
/// Confined to one thread at a time by its owner.
package final class ClientReader: ClientReading {
  private let database: Database
  private let queries: ClientQueries
  private let processes: ClientProcesses
  /// The catalogue's revision that the shapes were made for.
  private let revision: Int64

  /// Opens a file that a writer has open.
  ///
  /// - Parameters:
  ///   - files: the disk of a store in memory.
  ///   - layout: what the writer knows of the tables.
  /// - Throws: what the disk says.
  package init(
    path: String, on files: MemoryFiles? = nil, key: String?, _ layout: ClientLayout
  ) throws(StoreError) {
    do {
      var options = Database.Options()
      options.isReadOnly = true
      options.key = key
      database = try Database(path: path, on: files, options: options)
      let records = Records(layout.shapes, on: database)
      queries = ClientQueries(records, on: database)
      processes = ClientProcesses(database: database, records: records)
      revision = layout.revision
    } catch {
      throw StoreError(error)
    }
  }

  /// Runs `body` in one snapshot; nil, without a call, when the tables are no longer those that it was opened for.
  ///
  /// - Throws: what `body` throws, or `StoreError`.
  package func reading<Value>(_ body: (any ClientReading) throws -> Value) throws -> Value? {
    try database.execute("BEGIN")
    defer { try? database.execute("COMMIT") }
    let statement = try database.statement("SELECT max(revision) FROM martlet_revisions")
    let isCurrent = try statement.step() && statement.int64(0) == revision
    statement.reset()
    return isCurrent ? try body(self) : nil
  }

  /// The last entry of the journal that the snapshot has.
  package func entry() throws(StoreError) -> Int64 {
    do { return try processes.position() } catch { throw ClientWriter.storeError(error) }
  }

  package func rows(
    _ query: WindowQuery, _ request: WindowRequest, visit: (ContiguousArray<LiveRow>) -> Void
  ) throws(StoreError) -> WindowRows {
    do { return try queries.rows(query, request, visit: visit) } catch { throw ClientWriter.storeError(error) }
  }

  package func read(_ query: WindowQuery, _ body: (Statement) throws -> Void) throws -> Bool {
    try queries.read(query, body)
  }

  package func totals(_ query: AggregateQuery) throws(StoreError) -> AggregateTotals {
    do { return try queries.totals(query) } catch { throw ClientWriter.storeError(error) }
  }
}

/// The tables of a client's file, as a reader needs them.
package struct ClientLayout: Sendable {
  let shapes: [RecordShape]
  let revision: Int64
}

extension ClientWriter {
  /// The tables as the writer knows them.
  package var layout: ClientLayout { ClientLayout(shapes: records.tables.map(\.shape), revision: revision) }
}
