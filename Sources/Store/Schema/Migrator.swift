internal import MartletJSON
internal import MartletSQLite

/// Turns a migration plan into steps with numbers, checks each against the records and carries it out, inside the
/// caller's transaction. Only an authority migrates; other stores carry out the steps it logged.
struct Migrator {
  private var tables: CatalogueTables
  /// The revision this migration makes.
  private let revision: Int64
  private var steps: [SchemaStep] = []

  init(_ database: Database, _ catalogue: Catalogue) {
    tables = CatalogueTables(database, catalogue)
    revision = catalogue.revision + 1
  }

  /// Runs every step of `plan`.
  ///
  /// - Returns: the change for the log, and the catalogue it makes.
  /// - Throws: `StoreError.migration` when records stand in the way.
  mutating func run(
    _ plan: MigrationPlan, name: String, text: String, at time: Int64
  ) throws -> (change: SchemaMigration, catalogue: Catalogue) {
    for step in plan.steps { try run(step) }
    let change = SchemaMigration(revision: revision, name: name, text: text, steps: steps)
    try tables.finish(change, at: time)
    return (change, tables.catalogue)
  }

  private mutating func run(_ step: MigrationPlan.Step) throws {
    switch step {
    case .createTable(let shape): try perform(.createModel(newModel(shape)))
    case .renameModel(let table, let name): try perform(.renameModel(model: try number(table), name: name))
    case .renameTable(let table, let name): try perform(.renameTable(model: try number(table), name: name))
    case .renameColumn(let table, let column, let name):
      try perform(.renameField(model: try number(table), field: try number(table, column), name: name))
    case .addColumn(let shape, let field):
      try checkAdded(shape, field)
      let model = try number(shape.tableName)
      let next = tables.catalogue.nextField[model] ?? 1
      try perform(.addField(model: model, newField(shape.columns[field], next)))
    case .require(let shape, let field):
      let column = shape.columns[field]
      try perform(
        .requireField(
          model: try number(shape.tableName), field: try number(shape.tableName, column.name),
          fill: column.defaultValue))
      try checkRequired(shape, field)
    case .relax(let shape, let field):
      try perform(
        .relaxField(
          model: try number(shape.tableName), field: try number(shape.tableName, shape.columns[field].name)))
    case .dropColumn(let table, let column):
      try perform(.dropField(model: try number(table), field: try number(table, column)))
    case .createIndex(let shape, let index): try createIndex(shape, index)
    case .dropIndex(let table, let index): try perform(.dropIndex(model: try number(table), name: index))
    case .dropTable(let table): try perform(.dropModel(model: try number(table)))
    }
  }

  private mutating func perform(_ step: SchemaStep) throws {
    try tables.run(step, revision: revision)
    steps.append(step)
  }

  // MARK: Numbers

  private func newModel(_ shape: RecordShape) -> SchemaStep.NewModel {
    SchemaStep.NewModel(
      number: tables.catalogue.nextModel, tableName: shape.tableName, name: shape.name, key: shape.key.map { $0 + 1 },
      fields: shape.columns.enumerated().map { newField($1, $0 + 1) })
  }

  private func newField(_ column: RecordColumn, _ number: Int) -> SchemaStep.NewField {
    SchemaStep.NewField(
      number: number, name: column.name, signature: column.signature, storage: column.storage,
      isRequired: column.isRequired, defaultValue: column.defaultValue)
  }

  private func number(_ table: String) throws(StoreError) -> Int {
    guard let model = tables.catalogue.model(table: table) else {
      throw StoreError(.migration, "the table \(table) is not in the folder's catalogue")
    }
    return model.number
  }

  private func number(_ table: String, _ column: String) throws(StoreError) -> Int {
    guard let known = tables.catalogue.model(table: table)?.columns.first(where: { $0.name == column }) else {
      throw StoreError(.migration, "the column \(table).\(column) is not in the folder's catalogue")
    }
    return known.number
  }

  // MARK: Checks

  private func checkAdded(_ shape: RecordShape, _ field: Int) throws {
    let column = shape.columns[field]
    guard column.isRequired, column.defaultValue.isNull else { return }
    let count = try self.count("SELECT count(*) FROM \(shape.table)")
    guard count > 0 else { return }
    throw StoreError(
      .migration,
      "\(shape.name).\(column.field) is new and required, and \(Self.having(count)) no value for it; give it a "
        + "@default or make it optional")
  }

  private func checkRequired(_ shape: RecordShape, _ field: Int) throws {
    let count = try self.count("SELECT count(*) FROM \(shape.table) WHERE \(shape.column(field)) IS NULL")
    guard count > 0 else { return }
    throw StoreError(
      .migration,
      "\(shape.name).\(shape.columns[field].field) is now required, and \(Self.having(count)) no value for it; give it "
        + "a @default or fill them first")
  }

  private static func having(_ count: Int64) -> String { count == 1 ? "1 record has" : "\(count) records have" }

  private mutating func createIndex(_ shape: RecordShape, _ index: RecordIndex) throws {
    let columns = shape.listedColumns(of: index)
    do {
      try perform(
        .createIndex(
          model: try number(shape.tableName),
          Catalogue.Index(name: index.name, columns: columns, isUnique: index.isUnique)))
    } catch {
      guard (error as? SQLiteError)?.code == .unique else { throw error }
      throw StoreError(
        .migration, "the unique index \(index.name) of \(shape.name) cannot be made: records share values")
    }
  }

  private func count(_ sql: String) throws(SQLiteError) -> Int64 {
    let statement = try tables.database.prepare(sql)
    return try statement.step() ? statement.int64(0) : 0
  }
}
