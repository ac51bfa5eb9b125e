internal import MartletJSON
internal import MartletSQLite

/// Carries a migration plan out inside the caller's transaction and writes the new catalogue.
struct Migrator {
  let database: Database
  /// The catalogue as it was; numbers for what is new come from it.
  var catalogue: Catalogue
  /// The revision this migration makes.
  let revision: Int64

  init(_ database: Database, _ catalogue: Catalogue) {
    self.database = database
    self.catalogue = catalogue
    revision = catalogue.revision + 1
  }

  /// Runs every step. `schema` names the new revision, `at` is the calendar time in milliseconds.
  mutating func run(_ plan: MigrationPlan, schema: String, at: Int64) throws {
    for step in plan.steps { try run(step) }
    let insert = try database.prepare("INSERT INTO martlet_revisions(revision, schema, at) VALUES(?, ?, ?)")
    try insert.bind(1, revision)
    try insert.bind(2, text: schema)
    try insert.bind(3, at)
    try insert.run()
  }

  private mutating func run(_ step: MigrationPlan.Step) throws {
    switch step {
    case .createTable(let shape): try createTable(shape)
    case .renameModel(let table, let name):
      try update("UPDATE martlet_models SET name = ? WHERE number = ?", [.text(name), .number(try number(table))])
    case .addColumn(let shape, let field): try addColumn(shape, field)
    case .require(let shape, let field): try require(shape, field)
    case .relax(let shape, let field): try setRequired(shape, field, false)
    case .dropColumn(let table, let column):
      try database.execute("ALTER TABLE \(SQLText.quoted("record_" + table)) DROP COLUMN \(SQLText.quoted(column))")
      try update(
        "UPDATE martlet_fields SET is_dropped = 1 WHERE model = ? AND name = ? AND is_dropped = 0",
        [.number(try number(table)), .text(column)])
    case .createIndex(let shape, let index): try createIndex(shape, index)
    case .dropIndex(let table, let index):
      try database.execute("DROP INDEX \(SQLText.quoted("index_\(table)_\(index)"))")
      try update(
        "DELETE FROM martlet_indexes WHERE model = ? AND name = ?", [.number(try number(table)), .text(index)])
    case .dropTable(let table):
      try database.execute("DROP TABLE \(SQLText.quoted("record_" + table))")
      let model = try number(table)
      try update("UPDATE martlet_models SET is_dropped = 1 WHERE number = ?", [.number(model)])
      try update("DELETE FROM martlet_indexes WHERE model = ?", [.number(model)])
    }
  }

  // MARK: Steps

  private mutating func createTable(_ shape: RecordShape) throws {
    // Rows lie in the order of their key and carry no second key: one tree to write for each record.
    let columns = shape.columns.enumerated().map { field, column in
      "\(shape.column(field)) \(column.storage.sqlType)" + (shape.key.contains(field) ? " NOT NULL" : "")
    }
    let key = shape.key.map(shape.column).joined(separator: ", ")
    try database.execute(
      """
      CREATE TABLE \(shape.table)(\(columns.joined(separator: ", ")), \(SQLText.version) INTEGER NOT NULL, \
      \(SQLText.created) INTEGER NOT NULL, \(SQLText.changed) INTEGER NOT NULL, PRIMARY KEY(\(key))) \
      WITHOUT ROWID, STRICT
      """)
    let model = catalogue.nextModel
    catalogue.nextModel += 1
    let names = shape.key.map { shape.columns[$0].name }
    catalogue.models.append(
      Catalogue.Model(
        number: model, tableName: shape.tableName, name: shape.name, key: names, columns: [], indexes: []))
    try update(
      "INSERT INTO martlet_models(number, table_name, name, key) VALUES(?, ?, ?, ?)",
      [.number(Int64(model)), .text(shape.tableName), .text(shape.name), .text(names.joined(separator: ","))])
    for field in shape.columns.indices { try enter(shape, field) }
  }

  private mutating func addColumn(_ shape: RecordShape, _ field: Int) throws {
    let column = shape.columns[field]
    if column.isRequired, column.defaultValue == .null {
      let count = try self.count("SELECT count(*) FROM \(shape.table)")
      if count > 0 {
        throw StoreError(
          .migration,
          "\(shape.name).\(column.field) is new and required, and \(count) records have no value for it; give it a "
            + "@default or make it optional")
      }
    }
    // Records that exist get the default at no cost: SQLite adds it when it reads them.
    let value = column.defaultValue == .null ? "" : " DEFAULT \(literal(column.defaultValue, column.storage))"
    try database.execute(
      "ALTER TABLE \(shape.table) ADD COLUMN \(shape.column(field)) \(column.storage.sqlType)\(value)")
    try enter(shape, field)
  }

  private func require(_ shape: RecordShape, _ field: Int) throws {
    let column = shape.columns[field]
    let name = shape.column(field)
    if column.defaultValue != .null {
      try database.execute(
        "UPDATE \(shape.table) SET \(name) = \(literal(column.defaultValue, column.storage)) WHERE \(name) IS NULL")
    }
    let count = try self.count("SELECT count(*) FROM \(shape.table) WHERE \(name) IS NULL")
    if count > 0 {
      throw StoreError(
        .migration,
        "\(shape.name).\(column.field) is now required, and \(count) records have no value for it; give it a @default "
          + "or fill them first")
    }
    try setRequired(shape, field, true)
  }

  private func createIndex(_ shape: RecordShape, _ index: RecordIndex) throws {
    let columns = index.fields.map(shape.column).joined(separator: ", ")
    do {
      try database.execute(
        "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(shape.quotedName(of: index)) ON \(shape.table)(\(columns))")
    } catch {
      guard error.code == .unique else { throw error }
      throw StoreError(
        .migration, "the unique index \(index.name) of \(shape.name) cannot be made: records share values")
    }
    try update(
      "INSERT INTO martlet_indexes(model, name, columns, is_unique) VALUES(?, ?, ?, ?)",
      [
        .number(try number(shape.tableName)), .text(index.name),
        .text(index.fields.map { shape.columns[$0].name }.joined(separator: ",")), .number(index.isUnique ? 1 : 0),
      ])
  }

  // MARK: The catalogue

  private mutating func enter(_ shape: RecordShape, _ field: Int) throws {
    let model = Int(try number(shape.tableName))
    let number = catalogue.nextField[model] ?? 1
    catalogue.nextField[model] = number + 1
    let column = shape.columns[field]
    try update(
      "INSERT INTO martlet_fields(model, number, name, signature, is_required, added) VALUES(?, ?, ?, ?, ?, ?)",
      [
        .number(Int64(model)), .number(Int64(number)), .text(column.name), .text(column.signature),
        .number(column.isRequired ? 1 : 0), .number(revision),
      ])
  }

  private func setRequired(_ shape: RecordShape, _ field: Int, _ isRequired: Bool) throws {
    try update(
      "UPDATE martlet_fields SET is_required = ? WHERE model = ? AND name = ? AND is_dropped = 0",
      [.number(isRequired ? 1 : 0), .number(try number(shape.tableName)), .text(shape.columns[field].name)])
  }

  private func number(_ table: String) throws(StoreError) -> Int64 {
    guard let model = catalogue.model(table: table) else {
      throw StoreError(.migration, "the table \(table) is not in the folder's catalogue")
    }
    return Int64(model.number)
  }

  // MARK: Statements

  private enum Argument {
    case text(String)
    case number(Int64)
  }

  private func update(_ sql: String, _ arguments: [Argument]) throws(SQLiteError) {
    let statement = try database.prepare(sql)
    for (index, argument) in arguments.enumerated() {
      switch argument {
      case .text(let text): try statement.bind(index + 1, text: text)
      case .number(let number): try statement.bind(index + 1, number)
      }
    }
    try statement.run()
  }

  private func count(_ sql: String) throws(SQLiteError) -> Int64 {
    let statement = try database.prepare(sql)
    return try statement.step() ? statement.int64(0) : 0
  }

  private func literal(_ value: JSONValue, _ storage: ColumnStorage) -> String {
    switch (storage, value) {
    case (_, .null): "NULL"
    case (.boolean, .bool(let flag)): flag ? "1" : "0"
    case (.integer, .int(let number)): "\(number)"
    case (.real, .int(let number)): "\(Double(number))"
    case (.real, .double(let number)): "\(number)"
    case (.text, .string(let text)): SQLText.literal(text)
    default: SQLText.literal(String(decoding: value.serialized(), as: UTF8.self))
    }
  }
}
