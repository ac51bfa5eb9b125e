internal import MartletJSON
internal import MartletSQLite

/// Carries out the steps of a schema change on the tables of an open folder, and enters them in its catalogue.
///
/// A step does the same on every store that holds the same records: it decides nothing.
struct CatalogueTables {
  let database: Database
  /// The catalogue before the step; read again after each.
  private(set) var catalogue: Catalogue

  init(_ database: Database, _ catalogue: Catalogue) {
    self.database = database
    self.catalogue = catalogue
  }

  /// Carries out one step of the change that makes `revision`.
  mutating func run(_ step: SchemaStep, revision: Int64) throws {
    switch step {
    case .createModel(let model): try create(model, revision)
    case .renameModel(let model, let name):
      try update("UPDATE martlet_models SET name = ? WHERE number = ?", [.text(name), .number(Int64(model))])
    case .addField(let model, let field): try add(field, to: try known(model), revision)
    case .renameTable(let model, let name):
      // SQLite's names ignore case, in which alone the new one differs; so do those of the indexes.
      try update("UPDATE martlet_models SET table_name = ? WHERE number = ?", [.text(name), .number(Int64(model))])
    case .renameField(let model, let field, let name): try rename(field, name, of: try known(model))
    case .requireField(let model, let field, let fill): try require(field, fill, of: try known(model), revision)
    case .relaxField(let model, let field):
      try update(
        "UPDATE martlet_fields SET is_required = 0 WHERE model = ? AND number = ?",
        [.number(Int64(model)), .number(Int64(field))])
    case .dropField(let model, let field): try drop(field, of: try known(model))
    case .createIndex(let model, let index): try create(index, on: try known(model))
    case .dropIndex(let model, let name):
      let model = try known(model)
      try database.execute("DROP INDEX \(SQLText.quoted("index_\(model.tableName)_\(name)"))")
      try update(
        "DELETE FROM martlet_indexes WHERE model = ? AND name = ?", [.number(Int64(model.number)), .text(name)])
    case .dropModel(let model): try drop(try known(model))
    }
    catalogue = try Catalogue(reading: database)
  }

  /// Enters the revision that the steps have made.
  mutating func finish(_ change: SchemaMigration, at time: Int64) throws {
    try update(
      "INSERT INTO martlet_revisions(revision, schema, at, text) VALUES(?, ?, ?, ?)",
      [.number(change.revision), .text(change.name), .number(time), .text(change.text)])
    catalogue.revision = change.revision
    catalogue.schemaName = change.name
  }

  // MARK: Models

  private func create(_ model: SchemaStep.NewModel, _ revision: Int64) throws {
    let keys = model.key.compactMap { number in model.fields.first { $0.number == number }?.name }
    // Rows lie in the order of their key and carry no second key: one tree to write for each record.
    let columns = model.fields.map { field in
      "\(SQLText.quoted(field.name)) \(field.storage.sqlType)" + (model.key.contains(field.number) ? " NOT NULL" : "")
    }
    try database.execute(
      """
      CREATE TABLE \(SQLText.quoted("record_" + model.tableName))(\(columns.joined(separator: ", ")), \
      \(SQLText.version) INTEGER NOT NULL, \(SQLText.created) INTEGER NOT NULL, \(SQLText.changed) INTEGER NOT NULL, \
      PRIMARY KEY(\(keys.map(SQLText.quoted).joined(separator: ", ")))) WITHOUT ROWID, STRICT
      """)
    try update(
      "INSERT INTO martlet_models(number, table_name, name, key) VALUES(?, ?, ?, ?)",
      [.number(Int64(model.number)), .text(model.tableName), .text(model.name), .text(keys.joined(separator: ","))])
    for field in model.fields { try enter(field, model.number, revision) }
  }

  private func drop(_ model: Catalogue.Model) throws {
    try database.execute("DROP TABLE \(table(model))")
    let number = Int64(model.number)
    try update("UPDATE martlet_models SET is_dropped = 1 WHERE number = ?", [.number(number)])
    try update("DELETE FROM martlet_indexes WHERE model = ?", [.number(number)])
    try TombstoneTable(database).remove(model: model.number)
  }

  // MARK: Fields

  private func add(_ field: SchemaStep.NewField, to model: Catalogue.Model, _ revision: Int64) throws {
    // Records that exist get the default at no cost: SQLite adds it when it reads them.
    let value = field.defaultValue.isNull ? "" : " DEFAULT \(literal(field.defaultValue, field.storage))"
    try database.execute(
      "ALTER TABLE \(table(model)) ADD COLUMN \(SQLText.quoted(field.name)) \(field.storage.sqlType)\(value)")
    try enter(field, model.number, revision)
  }

  /// Gives a field the same name in other case, under which SQLite finds its column as before.
  private func rename(_ field: Int, _ name: String, of model: Catalogue.Model) throws {
    let old = try column(field, model).name
    func renamed(_ names: [String]) -> Argument {
      .text(names.map { IndexedColumn.renamed($0, old, to: name) }.joined(separator: ","))
    }
    let number = Int64(model.number)
    try update(
      "UPDATE martlet_fields SET name = ? WHERE model = ? AND number = ?",
      [.text(name), .number(number), .number(Int64(field))])
    try update("UPDATE martlet_models SET key = ? WHERE number = ?", [renamed(model.key), .number(number)])
    for index in model.indexes {
      try update(
        "UPDATE martlet_indexes SET columns = ? WHERE model = ? AND name = ?",
        [renamed(index.columns), .number(number), .text(index.name)])
    }
  }

  private func require(_ field: Int, _ fill: JSONValue, of model: Catalogue.Model, _ revision: Int64) throws {
    let column = try self.column(field, model)
    let name = SQLText.quoted(column.name)
    if !fill.isNull {
      try database.execute(
        "UPDATE \(table(model)) SET \(name) = \(literal(fill, column.storage)) WHERE \(name) IS NULL")
      try update(
        "UPDATE martlet_fields SET fills = ? WHERE model = ? AND number = ?",
        [
          .blob(ColumnFill.bytes(column.fills + [ColumnFill(revision: revision, value: fill)])),
          .number(Int64(model.number)), .number(Int64(field)),
        ])
    }
    try update(
      "UPDATE martlet_fields SET is_required = 1 WHERE model = ? AND number = ?",
      [.number(Int64(model.number)), .number(Int64(field))])
  }

  private func drop(_ field: Int, of model: Catalogue.Model) throws {
    let column = try self.column(field, model)
    try database.execute("ALTER TABLE \(table(model)) DROP COLUMN \(SQLText.quoted(column.name))")
    try update(
      "UPDATE martlet_fields SET is_dropped = 1 WHERE model = ? AND number = ?",
      [.number(Int64(model.number)), .number(Int64(field))])
  }

  private func enter(_ field: SchemaStep.NewField, _ model: Int, _ revision: Int64) throws(SQLiteError) {
    var writer = EntryWriter()
    writer.value(field.defaultValue)
    try update(
      """
      INSERT INTO martlet_fields(model, number, name, signature, is_required, added, storage, added_default)
      VALUES(?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .number(Int64(model)), .number(Int64(field.number)), .text(field.name), .text(field.signature),
        .number(field.isRequired ? 1 : 0), .number(revision), .text(field.storage.rawValue), .blob(writer.bytes),
      ])
  }

  // MARK: Indexes

  private func create(_ index: Catalogue.Index, on model: Catalogue.Model) throws(SQLiteError) {
    let columns = index.columns.map(IndexedColumn.sql).joined(separator: ", ")
    try database.execute(
      """
      CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(SQLText.quoted("index_\(model.tableName)_\(index.name)")) \
      ON \(table(model))(\(columns))
      """)
    try update(
      "INSERT INTO martlet_indexes(model, name, columns, is_unique) VALUES(?, ?, ?, ?)",
      [
        .number(Int64(model.number)), .text(index.name), .text(index.columns.joined(separator: ",")),
        .number(index.isUnique ? 1 : 0),
      ])
  }

  // MARK: The catalogue

  private func table(_ model: Catalogue.Model) -> String { SQLText.quoted("record_" + model.tableName) }

  private func known(_ number: Int) throws(StoreError) -> Catalogue.Model {
    guard let model = catalogue.models.first(where: { $0.number == number }) else {
      throw StoreError(.diverged, "the log changes model number \(number), which the catalogue does not have")
    }
    return model
  }

  private func column(_ field: Int, _ model: Catalogue.Model) throws(StoreError) -> Catalogue.Column {
    guard let column = model.columns.first(where: { $0.number == field }) else {
      throw StoreError(.diverged, "the log changes field number \(field) of \(model.name), which the catalogue lacks")
    }
    return column
  }

  // MARK: Statements

  private enum Argument {
    case text(String)
    case number(Int64)
    case blob([UInt8])
  }

  private func update(_ sql: String, _ arguments: [Argument]) throws(SQLiteError) {
    let statement = try database.prepare(sql)
    for (index, argument) in arguments.enumerated() {
      switch argument {
      case .text(let text): try statement.bind(index + 1, text: text)
      case .number(let number): try statement.bind(index + 1, number)
      case .blob(let bytes): try statement.bind(index + 1, blob: bytes)
      }
    }
    try statement.run()
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
