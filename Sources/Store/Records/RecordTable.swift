internal import MartletJSON
internal import MartletModels
internal import MartletSQLite

/// One model's table on one connection, with its statements compiled once. Confined to the connection's thread.
final class RecordTable {
  let shape: RecordShape
  private let database: Database
  /// The rows that are in the table and not seen.
  let hidden: HiddenRows
  /// Every column a row is read from: the fields, then the bookkeeping.
  let columns: String
  /// The columns of the fields alone.
  let fieldColumns: String
  private let keyCondition: String
  /// How the fields are stored, in their order.
  private let storages: [ColumnStorage]
  private var insertStatement: Statement?
  private var insertSeveralStatement: Statement?
  private var replaceStatement: Statement?
  private var selectStatement: Statement?
  private var deleteStatement: Statement?
  /// By the fields an update sets: a statement leaves indexes of other fields alone.
  private var updateStatements: [[Int]: Statement] = [:]
  /// Update statements kept per model; requests choose few of the possible combinations.
  private static let keptUpdates = 64
  /// Records that one statement inserts: they take half the time of as many statements, and more gain nothing.
  private static let mostAtOnce = 16
  /// Parameters of one statement that every SQLite allows.
  private static let mostParameters = 32_000
  /// The number of records that `insert(all:)` takes.
  let rowsAtOnce: Int

  init(_ shape: RecordShape, on database: Database, _ hidden: HiddenRows) {
    self.shape = shape
    self.hidden = hidden
    self.database = database
    let fields = shape.columns.indices.map(shape.column)
    fieldColumns = fields.joined(separator: ", ")
    columns = (fields + [SQLText.version, SQLText.created, SQLText.changed]).joined(separator: ", ")
    keyCondition = shape.key.map { "\(shape.column($0)) = ?" }.joined(separator: " AND ")
    storages = shape.columns.map(\.storage)
    rowsAtOnce = max(1, min(Self.mostAtOnce, Self.mostParameters / (shape.columns.count + 3)))
  }

  // MARK: Shape

  // Here and not asked of `shape`, which would be copied for it.

  /// The model's number in the folder.
  var storedNumber: Int { shape.storedNumber }

  /// The key of a record.
  func key(of record: Record) -> RecordKey { record.key(shape.key) }

  /// A record with the defaults of the fields it lacks, checked.
  func completed(_ record: Record) throws(StoreError) -> Record { try shape.completed(record) }

  // MARK: Reading

  func get(_ key: RecordKey) throws -> StoredRecord? {
    let statement: Statement
    if let known = selectStatement {
      statement = known
    } else {
      statement = try database.prepare("SELECT \(columns) FROM \(shape.table) WHERE \(keyCondition)")
      selectStatement = statement
    }
    try bind(key, to: statement, at: 1)
    guard try statement.step() else { return nil }
    defer { statement.reset() }
    if let version = hidden.version, statement.int64(shape.columns.count) == version { return nil }
    return try row(statement)
  }

  /// The record in the statement's row, whose columns are `columns` from `first` on.
  func row(_ statement: Statement, first: Int = 0) throws -> StoredRecord {
    try RecordRows(statement, storages, first: first).record()
  }

  /// The rows of a statement with the columns `columns`.
  func rows(_ statement: Statement) -> RecordRows { RecordRows(statement, storages) }

  /// Whether a hidden row has the place of a record: its key, or its values in a unique index.
  func isTaken(_ record: Record, by version: Int64) throws -> Bool {
    let unique = [shape.key] + shape.indexes.filter(\.isUnique).map(\.fields)
    for fields in unique where !fields.contains(where: { record.values[$0].isNull }) {
      let condition = fields.map { "\(shape.column($0)) = ?" }.joined(separator: " AND ")
      let rows = try database.statement("SELECT \(SQLText.version) FROM \(shape.table) WHERE \(condition)")
      defer { rows.reset() }
      for (position, field) in fields.enumerated() {
        try shape.columns[field].storage.bind(record.values[field], to: rows, at: position + 1)
      }
      while try rows.step() { if rows.int64(0) == version { return true } }
    }
    return false
  }

  func bind(_ key: RecordKey, to statement: Statement, at first: Int) throws {
    guard key.count == shape.key.count else {
      throw StoreError(.invalid, "a key of \(shape.name) has \(shape.key.count) values, not \(key.count)")
    }
    for (index, field) in shape.key.enumerated() {
      try shape.columns[field].storage.bind(key[index], to: statement, at: first + index)
    }
  }

  /// Whether the table has any record.
  func hasRows() throws -> Bool {
    let statement = try database.statement("SELECT EXISTS(SELECT 1 FROM \(shape.table))")
    defer { statement.reset() }
    return try statement.step() && statement.int64(0) != 0
  }

  /// The first value of the greatest key, in SQLite's order; null for a table without records.
  func lastKey() throws -> JSONValue {
    let field = shape.key[0]
    let statement = try database.statement("SELECT max(\(shape.column(field))) FROM \(shape.table)")
    defer { statement.reset() }
    return try statement.step() ? try shape.columns[field].storage.read(statement, 0) : .null
  }

  /// Calls `body` with the keys of the records that an SQL condition selects. It may run other statements that read.
  func forEachKey(where condition: String, _ body: (RecordKey) throws -> Void) throws {
    let columns = shape.key.map(shape.column).joined(separator: ", ")
    let statement = try database.statement("SELECT \(columns) FROM \(shape.table) WHERE \(condition)")
    defer { statement.reset() }
    while try statement.step() {
      var values: [JSONValue] = []
      for (index, field) in shape.key.enumerated() {
        values.append(try shape.columns[field].storage.read(statement, index))
      }
      try body(RecordKey(values: values))
    }
  }

  /// A statement on the table's connection, from its cache.
  func select(_ sql: String) throws(SQLiteError) -> Statement {
    try database.statement(sql)
  }

  // MARK: Writing

  func insert(_ stored: StoredRecord) throws { try write(stored, replacing: false, &insertStatement) }

  /// Writes a record in place of the one with its key. Columns that this process does not have stay.
  func replace(_ stored: StoredRecord) throws { try write(stored, replacing: true, &replaceStatement) }

  /// Inserts `rowsAtOnce` records by one statement: all of them, or none when one is refused.
  func insert(all records: [StoredRecord]) throws {
    precondition(records.count == rowsAtOnce, "the statement has as many rows as the table says")
    let statement: Statement
    if let known = insertSeveralStatement {
      statement = known
    } else {
      statement = try prepareWrite(rows: rowsAtOnce)
      insertSeveralStatement = statement
    }
    var index = 1
    for record in records { try bind(record, to: statement, at: &index) }
    try statement.run()
  }

  private func write(_ stored: StoredRecord, replacing: Bool, _ known: inout Statement?) throws {
    let statement: Statement
    if let known {
      statement = known
    } else {
      statement = try prepareWrite(rows: 1, replacing: replacing)
      known = statement
    }
    var index = 1
    try bind(stored, to: statement, at: &index)
    try statement.run()
  }

  private func prepareWrite(rows: Int, replacing: Bool = false) throws(SQLiteError) -> Statement {
    let row = "(\(SQLText.parameters(shape.columns.count + 3)))"
    let values = repeatElement(row, count: rows).joined(separator: ", ")
    let insertion = "INSERT INTO \(shape.table)(\(columns)) VALUES\(values)"
    guard replacing else { return try database.prepare(insertion) }
    let key = shape.key.map(shape.column).joined(separator: ", ")
    let others = shape.columns.indices.filter { !shape.key.contains($0) }.map(shape.column)
    let settings = (others + [SQLText.version, SQLText.created, SQLText.changed]).map { "\($0) = excluded.\($0)" }
    return try database.prepare(
      "\(insertion) ON CONFLICT(\(key)) DO UPDATE SET \(settings.joined(separator: ", "))")
  }

  private func bind(_ stored: StoredRecord, to statement: Statement, at index: inout Int) throws {
    for field in shape.columns.indices {
      try shape.columns[field].storage.bind(stored.record.values[field], to: statement, at: index)
      index += 1
    }
    try statement.bind(index, stored.version)
    try statement.bind(index + 1, stored.created)
    try statement.bind(index + 2, stored.changed)
    index += 3
  }

  /// Writes the fields at `fields` of `stored`, its version and its time; false when there is no such record.
  func update(_ key: RecordKey, _ fields: [Int], of stored: StoredRecord) throws -> Bool {
    let statement: Statement
    if let known = updateStatements[fields] {
      statement = known
    } else {
      let settings = fields.map { "\(shape.column($0)) = ?, " }.joined()
      statement = try database.prepare(
        "UPDATE \(shape.table) SET \(settings)\(SQLText.version) = ?, \(SQLText.changed) = ? WHERE \(keyCondition)")
      if updateStatements.count >= Self.keptUpdates { updateStatements.removeAll() }
      updateStatements[fields] = statement
    }
    var index = 1
    for field in fields {
      try shape.columns[field].storage.bind(stored.record.values[field], to: statement, at: index)
      index += 1
    }
    try statement.bind(index, stored.version)
    try statement.bind(index + 1, stored.changed)
    try bind(key, to: statement, at: index + 2)
    try statement.run()
    return database.changes == 1
  }

  /// Removes a row of a write that was inserted in slices, if it has this in place of a version.
  func delete(_ key: RecordKey, ofVersion version: Int64) throws {
    let delete = try database.statement(
      "DELETE FROM \(shape.table) WHERE \(keyCondition) AND \(SQLText.version) = ?")
    try bind(key, to: delete, at: 1)
    try delete.bind(shape.key.count + 1, version)
    try delete.run()
  }

  /// Removes a record; false when there is none.
  func delete(_ key: RecordKey) throws -> Bool {
    let statement: Statement
    if let known = deleteStatement {
      statement = known
    } else {
      statement = try database.prepare("DELETE FROM \(shape.table) WHERE \(keyCondition)")
      deleteStatement = statement
    }
    try bind(key, to: statement, at: 1)
    try statement.run()
    return database.changes == 1
  }
}
