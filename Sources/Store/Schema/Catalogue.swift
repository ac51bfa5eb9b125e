internal import MartletJSON
internal import MartletSQLite

/// What the data folder says about its models: their numbers, columns and indexes, as of its newest revision.
struct Catalogue: Equatable {
  struct Model: Equatable {
    var number: Int
    var tableName: String
    var name: String
    /// Column names of the primary key, in order.
    var key: [String]
    var columns: [Column]
    var indexes: [Index]
  }

  struct Column: Equatable {
    var number: Int
    var name: String
    var signature: String
    var storage: ColumnStorage
    var isRequired: Bool
    var addedRevision: Int64
    /// The default it was added with: what older records and entries hold in it, whatever the schema's default is now.
    var addedDefault: JSONValue
    /// What replaced its nulls when it became required, oldest first.
    var fills: [ColumnFill] = []
  }

  struct Index: Equatable {
    var name: String
    var columns: [String]
    var isUnique: Bool
  }

  /// Grows by one with each migration; log entries carry it.
  var revision: Int64 = 0
  /// The name of the schema that made the newest revision.
  var schemaName = ""
  var models: [Model] = []
  /// The names of the models that were dropped, by number.
  var dropped: [Int: String] = [:]
  /// The next unused number of a model.
  var nextModel = 1
  /// The next unused number of a field in each model ever known, by model number.
  var nextField: [Int: Int] = [:]

  /// The catalogue's tables.
  static let tables = """
    CREATE TABLE martlet_revisions(
      revision INTEGER PRIMARY KEY, schema TEXT NOT NULL, at INTEGER NOT NULL, text TEXT NOT NULL DEFAULT '') STRICT;
    CREATE TABLE martlet_models(
      number INTEGER PRIMARY KEY, table_name TEXT NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL,
      is_dropped INTEGER NOT NULL DEFAULT 0) STRICT;
    CREATE TABLE martlet_fields(
      model INTEGER NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, signature TEXT NOT NULL,
      is_required INTEGER NOT NULL, added INTEGER NOT NULL, is_dropped INTEGER NOT NULL DEFAULT 0,
      storage TEXT NOT NULL DEFAULT '', added_default BLOB, fills BLOB, PRIMARY KEY(model, number)) WITHOUT ROWID, STRICT;
    CREATE TABLE martlet_indexes(
      model INTEGER NOT NULL, name TEXT NOT NULL, columns TEXT NOT NULL, is_unique INTEGER NOT NULL,
      PRIMARY KEY(model, name)) WITHOUT ROWID, STRICT;
    """

  init() {}

  /// Reads the catalogue of an open folder.
  init(reading database: Database) throws {
    let revisions = try database.prepare(
      "SELECT revision, schema FROM martlet_revisions ORDER BY revision DESC LIMIT 1")
    if try revisions.step() {
      revision = revisions.int64(0)
      schemaName = revisions.text(1)
    }
    let rows = try database.prepare(
      "SELECT number, table_name, name, key, is_dropped FROM martlet_models ORDER BY number")
    while try rows.step() {
      let number = Int(rows.int64(0))
      nextModel = max(nextModel, number + 1)
      guard rows.int64(4) == 0 else {
        dropped[number] = rows.text(2)
        continue
      }
      models.append(
        Model(
          number: number, tableName: rows.text(1), name: rows.text(2), key: Self.names(rows.text(3)), columns: [],
          indexes: []))
    }
    try readFields(database)
    try readIndexes(database)
  }

  private mutating func readFields(_ database: Database) throws {
    let rows = try database.prepare(
      """
      SELECT model, number, name, signature, is_required, added, is_dropped, storage, added_default, fills
      FROM martlet_fields ORDER BY model, number
      """)
    while try rows.step() {
      let model = Int(rows.int64(0))
      let number = Int(rows.int64(1))
      nextField[model] = max(nextField[model] ?? 1, number + 1)
      guard rows.int64(6) == 0, let position = models.firstIndex(where: { $0.number == model }) else { continue }
      guard let storage = ColumnStorage(rawValue: rows.text(7)) else {
        throw StoreError(.damaged, "the catalogue has no storage for \(models[position].name).\(rows.text(2))")
      }
      var addedDefault = JSONValue.null
      if !rows.isNull(8) {
        var reader = EntryReader(rows.bytes(8))
        addedDefault = try reader.value()
      }
      models[position].columns.append(
        Column(
          number: number, name: rows.text(2), signature: rows.text(3), storage: storage,
          isRequired: rows.int64(4) != 0, addedRevision: rows.int64(5), addedDefault: addedDefault,
          fills: rows.isNull(9) ? [] : try ColumnFill.read(rows.bytes(9))))
    }
  }

  private mutating func readIndexes(_ database: Database) throws(SQLiteError) {
    let rows = try database.prepare("SELECT model, name, columns, is_unique FROM martlet_indexes ORDER BY model, name")
    while try rows.step() {
      guard let position = models.firstIndex(where: { $0.number == Int(rows.int64(0)) }) else { continue }
      models[position].indexes.append(
        Index(name: rows.text(1), columns: Self.names(rows.text(2)), isUnique: rows.int64(3) != 0))
    }
  }

  func model(table: String) -> Model? {
    models.first { $0.tableName.utf8.elementsEqual(table.utf8) }
  }

  /// The shapes of the catalogue's own models, each with its number as the model's: what a store folds with that has
  /// no schema, or another one.
  var shapes: [RecordShape] {
    var shapes = models.map { model in
      let names = model.columns.map(\.name)
      return RecordShape(
        model: model.number, name: model.name, tableName: model.tableName,
        columns: model.columns.map { column in
          RecordColumn(
            name: column.name, field: column.name, storage: column.storage, signature: column.signature,
            isRequired: column.isRequired, defaultValue: column.addedDefault)
        }, key: model.key.compactMap { names.firstIndex(of: $0) },
        indexes: model.indexes.map { index in
          RecordIndex(
            name: index.name, fields: index.columns.compactMap { names.firstIndex(of: IndexedColumn.name($0)) },
            isUnique: index.isUnique)
        }, cascades: [])
    }
    number(&shapes)
    return shapes
  }

  /// Why records cannot be read with `shapes` under this catalogue; nil when they can.
  func misfit(_ shapes: [RecordShape]) -> String? {
    for shape in shapes {
      guard let model = model(table: shape.tableName) else { return "the data has no model \(shape.name)" }
      guard model.key == shape.key.map({ shape.columns[$0].name }) else {
        return "the data has another primary key for \(shape.name)"
      }
      for column in shape.columns {
        guard let known = model.columns.first(where: { $0.name == column.name }) else {
          return "the data has no field \(shape.name).\(column.field)"
        }
        guard known.signature == column.signature else {
          return "\(shape.name).\(column.field) is \(known.signature) in the data and \(column.signature) in the schema"
        }
      }
    }
    return nil
  }

  /// Whether a model has columns that its shape lacks.
  func hasMore(than shape: RecordShape) -> Bool {
    model(table: shape.tableName)?.columns.contains { column in
      !shape.columns.contains { $0.name == column.name }
    } ?? false
  }

  /// Gives each shape the folder's numbers. Every shape must be in the catalogue.
  func number(_ shapes: inout [RecordShape]) {
    for index in shapes.indices {
      guard let stored = model(table: shapes[index].tableName) else { continue }
      shapes[index].storedNumber = stored.number
      for column in shapes[index].columns.indices {
        guard let known = stored.columns.first(where: { $0.name == shapes[index].columns[column].name }) else {
          continue
        }
        shapes[index].columns[column].storedNumber = known.number
        shapes[index].columns[column].addedRevision = known.addedRevision
        shapes[index].columns[column].addedDefault = known.addedDefault
        shapes[index].columns[column].fills = known.fills
      }
    }
  }

  /// The table of fields in folders of format 2 that were made before fields had fills lacks their column.
  static func addMissingColumns(_ database: Database) throws(SQLiteError) {
    let column = try database.prepare("SELECT 1 FROM pragma_table_info('martlet_fields') WHERE name = 'fills'")
    if try column.step() { return }
    try database.execute("ALTER TABLE martlet_fields ADD COLUMN fills BLOB")
  }

  /// GraphQL names have no commas.
  static func names(_ text: String) -> [String] { text.split(separator: ",").map(String.init) }
}

extension ColumnFill {
  static func read(_ bytes: [UInt8]) throws(StoreError) -> [ColumnFill] {
    var reader = EntryReader(bytes)
    var fills: [ColumnFill] = []
    for _ in 0..<(try reader.count()) {
      fills.append(ColumnFill(revision: try reader.signedPattern(), value: try reader.value()))
    }
    return fills
  }

  static func bytes(_ fills: [ColumnFill]) -> [UInt8] {
    var writer = EntryWriter()
    writer.count(fills.count)
    for fill in fills {
      writer.unsigned(UInt64(bitPattern: fill.revision))
      writer.value(fill.value)
    }
    return writer.bytes
  }
}
