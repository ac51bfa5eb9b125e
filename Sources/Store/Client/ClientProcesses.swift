internal import MartletJSON
package import MartletLiveQueries
internal import MartletModels
internal import MartletSQLite
internal import MartletSyncEngine

/// What another process, or this one, did to the store.
package struct JournalEntry: Sendable, Hashable {
  /// Its place among all that processes have done for each other.
  package var position: Int64
  /// The change; nil when everything was deleted at once.
  package var change: RowChange?
  /// Where the change came from, in the writer's words.
  package var source: String
  /// Whether it is a change of a model that this process does not have.
  package var isForeign = false
  /// Whether the other process lacks fields: what its rows do not have is as it is now.
  package var isPartial = false
}

/// The processes that have a store open, and the journal by which they learn each other's changes.
///
/// A process is a row from its opening to its closing. A transaction writes its changes into the journal if there is
/// another process when it commits, so that a store that one process has open writes nothing twice. Rows of processes
/// that ended without closing are removed by those that cannot reach them. Confined to the connection's thread.
struct ClientProcesses {
  /// Entries kept for processes that lag. One that lags further reads all its live queries again.
  static let journalLimit: Int64 = 10_000

  static let sql = """
    CREATE TABLE IF NOT EXISTS martlet_client_processes(id TEXT PRIMARY KEY) WITHOUT ROWID, STRICT;
    CREATE TABLE IF NOT EXISTS martlet_client_journal(
      position INTEGER PRIMARY KEY AUTOINCREMENT, model TEXT NOT NULL, key TEXT NOT NULL, before TEXT, after TEXT,
      source TEXT NOT NULL) STRICT;
    """

  let database: Database
  let records: Records

  // MARK: Processes

  func register(_ id: String) throws {
    let statement = try database.statement("INSERT OR REPLACE INTO martlet_client_processes(id) VALUES(?)")
    try statement.bind(1, text: id)
    try statement.run()
  }

  func remove(_ id: String) throws {
    let statement = try database.statement("DELETE FROM martlet_client_processes WHERE id = ?")
    try statement.bind(1, text: id)
    try statement.run()
  }

  /// The processes that have the store open besides `id`.
  func others(than id: String) throws -> [String] {
    let statement = try database.statement("SELECT id FROM martlet_client_processes WHERE id <> ?")
    try statement.bind(1, text: id)
    defer { statement.reset() }
    var found: [String] = []
    while try statement.step() { found.append(statement.text(0)) }
    return found
  }

  // MARK: Journal

  /// The position of the last entry ever written.
  func position() throws -> Int64 {
    let statement = try database.statement("SELECT seq FROM sqlite_sequence WHERE name = 'martlet_client_journal'")
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : 0
  }

  /// Writes the changes of a transaction; a nil change says that everything was deleted.
  func append(_ changes: [RowChange?], source: String) throws {
    let statement = try database.statement(
      "INSERT INTO martlet_client_journal(model, key, before, after, source) VALUES(?, ?, ?, ?, ?)")
    for change in changes {
      let key = (change?.after ?? change?.before)?.key
      try statement.bind(1, text: try change.map { try records.table($0.model).shape.tableName } ?? "")
      try statement.bind(2, text: JSONValue.array(key?.values ?? []).description)
      let shape = try change.map { try records.table($0.model).shape }
      try bind(change?.before, shape, to: statement, at: 3)
      try bind(change?.after, shape, to: statement, at: 4)
      try statement.bind(5, text: source)
      try statement.run()
    }
    let trimming = try database.statement("DELETE FROM martlet_client_journal WHERE position <= ?")
    try trimming.bind(1, try position() - Self.journalLimit)
    try trimming.run()
  }

  private func bind(_ row: LiveRow?, _ shape: RecordShape?, to statement: Statement, at index: Int) throws {
    guard let row, let shape else { return try statement.bind(index) }
    // By name: a process with other models has other fields in another order.
    let values = JSONObject(shape.columns.enumerated().map { (key: $1.name, value: row.record[$0]) })
    let json: JSONValue = [
      "values": .object(values), "version": .int(row.version), "isPending": .bool(row.isPending),
    ]
    try statement.bind(index, utf8: json.serialized())
  }

  /// The entries after `position`; nil when some of them are gone.
  func entries(after position: Int64) throws -> [JournalEntry]? {
    let statement = try database.statement(
      "SELECT position, model, key, before, after, source FROM martlet_client_journal WHERE position > ? "
        + "ORDER BY position")
    try statement.bind(1, position)
    defer { statement.reset() }
    var entries: [JournalEntry] = []
    while try statement.step() {
      let number = statement.int64(0)
      if entries.isEmpty, number != position + 1 { return nil }
      let name = statement.text(1)
      var change: RowChange?
      var isPartial = false
      if !name.isEmpty {
        // A model of the other process that this one does not have.
        guard let table = records.tables.first(where: { $0.shape.tableName.hasSameBytes(as: name) }) else {
          entries.append(JournalEntry(position: number, change: nil, source: "", isForeign: true))
          continue
        }
        let key = RecordKey(values: try JSONValue(held: statement.bytes(2)).array ?? [])
        change = RowChange(
          model: table.shape.model, before: try row(statement, 3, key, table, &isPartial),
          after: try row(statement, 4, key, table, &isPartial))
      }
      var entry = JournalEntry(position: number, change: change, source: statement.text(5))
      entry.isPartial = isPartial
      entries.append(entry)
    }
    return entries
  }

  private func row(
    _ statement: Statement, _ column: Int, _ key: RecordKey, _ table: RecordTable, _ isPartial: inout Bool
  ) throws -> LiveRow? {
    if statement.isNull(column) { return nil }
    let json = try JSONValue(held: statement.bytes(column))
    let columns = table.shape.columns
    let missing = columns.indices.filter { json["values"]?[columns[$0].name] == nil }
    let stored = missing.isEmpty ? nil : try table.get(key)
    // Read as its column would be, so that it equals the row that a query reads.
    var record = Record(values: columns.map { $0.storage.normalized(json["values"]?[$0.name] ?? .null) })
    for field in missing { record.values[field] = stored?.record[field] ?? .null }
    isPartial = isPartial || !missing.isEmpty
    return LiveRow(
      key: key, record: record, version: json["version"]?.int ?? 0,
      isPending: json["isPending"]?.bool ?? false)
  }
}
