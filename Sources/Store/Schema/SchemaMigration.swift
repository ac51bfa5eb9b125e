internal import MartletJSON

/// A migration as the log keeps it: steps that need no plan and no schema to be carried out.
///
/// The authority finds the steps, checks them against the records and logs them; every store that folds the log carries
/// out the same ones. Models and fields have their numbers, defaults are values.
struct SchemaMigration: Equatable {
  /// The catalogue's revision that this change makes.
  var revision: Int64
  /// The schema's name, a hash for instance; for people reading the file.
  var name: String
  /// The schema's text, empty when the store was opened without one.
  var text: String
  var steps: [SchemaStep]
}

/// One step of a migration.
enum SchemaStep: Equatable {
  case createModel(NewModel)
  case renameModel(model: Int, name: String)
  /// The name that the data is stored under differs in case from now on.
  case renameTable(model: Int, name: String)
  case addField(model: Int, NewField)
  /// The name that a field is stored under differs in case from now on.
  case renameField(model: Int, field: Int, name: String)
  /// A field became required; records without a value are given `fill`, unless that is null.
  case requireField(model: Int, field: Int, fill: JSONValue)
  case relaxField(model: Int, field: Int)
  case dropField(model: Int, field: Int)
  case createIndex(model: Int, Catalogue.Index)
  case dropIndex(model: Int, name: String)
  case dropModel(model: Int)

  struct NewModel: Equatable {
    var number: Int
    var tableName: String
    var name: String
    /// Numbers of the primary key's fields, in order.
    var key: [Int]
    var fields: [NewField]
  }

  struct NewField: Equatable {
    var number: Int
    var name: String
    var signature: String
    var storage: ColumnStorage
    var isRequired: Bool
    /// The value of records that were written before the field existed.
    var defaultValue: JSONValue
  }
}

/// The bodies of schema changes in the log.
enum SchemaCoder {
  private enum Tag {
    static let createModel: UInt8 = 0
    static let renameModel: UInt8 = 1
    static let addField: UInt8 = 2
    static let requireField: UInt8 = 3
    static let relaxField: UInt8 = 4
    static let dropField: UInt8 = 5
    static let createIndex: UInt8 = 6
    static let dropIndex: UInt8 = 7
    static let dropModel: UInt8 = 8
    static let renameTable: UInt8 = 9
    static let renameField: UInt8 = 10
  }

  // MARK: Writing

  static func write(_ change: SchemaMigration, into writer: inout EntryWriter) {
    writer.unsigned(UInt64(bitPattern: change.revision))
    writer.text(change.name)
    writer.text(change.text)
    writer.count(change.steps.count)
    for step in change.steps { write(step, &writer) }
  }

  private static func write(_ step: SchemaStep, _ writer: inout EntryWriter) {
    func head(_ tag: UInt8, _ model: Int) {
      writer.byte(tag)
      writer.count(model)
    }
    switch step {
    case .createModel(let model):
      head(Tag.createModel, model.number)
      writer.text(model.tableName)
      writer.text(model.name)
      writer.count(model.key.count)
      for field in model.key { writer.count(field) }
      writer.count(model.fields.count)
      for field in model.fields { write(field, &writer) }
    case .renameModel(let model, let name):
      head(Tag.renameModel, model)
      writer.text(name)
    case .renameTable(let model, let name):
      head(Tag.renameTable, model)
      writer.text(name)
    case .renameField(let model, let field, let name):
      head(Tag.renameField, model)
      writer.count(field)
      writer.text(name)
    case .addField(let model, let field):
      head(Tag.addField, model)
      write(field, &writer)
    case .requireField(let model, let field, let fill):
      head(Tag.requireField, model)
      writer.count(field)
      writer.value(fill)
    case .relaxField(let model, let field):
      head(Tag.relaxField, model)
      writer.count(field)
    case .dropField(let model, let field):
      head(Tag.dropField, model)
      writer.count(field)
    case .createIndex(let model, let index):
      head(Tag.createIndex, model)
      writer.text(index.name)
      writer.flag(index.isUnique)
      writer.count(index.columns.count)
      for column in index.columns { writer.text(column) }
    case .dropIndex(let model, let name):
      head(Tag.dropIndex, model)
      writer.text(name)
    case .dropModel(let model): head(Tag.dropModel, model)
    }
  }

  private static func write(_ field: SchemaStep.NewField, _ writer: inout EntryWriter) {
    writer.count(field.number)
    writer.text(field.name)
    writer.text(field.signature)
    writer.text(field.storage.rawValue)
    writer.flag(field.isRequired)
    writer.value(field.defaultValue)
  }

  // MARK: Reading

  static func read(_ reader: inout EntryReader) throws(StoreError) -> SchemaMigration {
    let revision = try reader.signedPattern()
    let name = try reader.text()
    let text = try reader.text()
    var steps: [SchemaStep] = []
    for _ in 0..<(try reader.count()) { steps.append(try step(&reader)) }
    return SchemaMigration(revision: revision, name: name, text: text, steps: steps)
  }

  private static func step(_ reader: inout EntryReader) throws(StoreError) -> SchemaStep {
    let tag = try reader.byte()
    let model = try reader.number()
    switch tag {
    case Tag.createModel: return .createModel(try newModel(model, &reader))
    case Tag.renameModel: return .renameModel(model: model, name: try reader.text())
    case Tag.renameTable: return .renameTable(model: model, name: try reader.text())
    case Tag.renameField:
      return .renameField(model: model, field: try reader.number(), name: try reader.text())
    case Tag.addField: return .addField(model: model, try newField(&reader))
    case Tag.requireField:
      return .requireField(model: model, field: try reader.number(), fill: try reader.value())
    case Tag.relaxField: return .relaxField(model: model, field: try reader.number())
    case Tag.dropField: return .dropField(model: model, field: try reader.number())
    case Tag.createIndex:
      let name = try reader.text()
      let isUnique = try reader.flag()
      var columns: [String] = []
      for _ in 0..<(try reader.count()) { columns.append(try reader.text()) }
      return .createIndex(model: model, Catalogue.Index(name: name, columns: columns, isUnique: isUnique))
    case Tag.dropIndex: return .dropIndex(model: model, name: try reader.text())
    case Tag.dropModel: return .dropModel(model: model)
    default: throw EntryReader.damaged
    }
  }

  private static func newModel(
    _ number: Int, _ reader: inout EntryReader
  ) throws(StoreError) -> SchemaStep.NewModel {
    let table = try reader.text()
    let name = try reader.text()
    var key: [Int] = []
    for _ in 0..<(try reader.count()) { key.append(try reader.number()) }
    var fields: [SchemaStep.NewField] = []
    for _ in 0..<(try reader.count()) { fields.append(try newField(&reader)) }
    return SchemaStep.NewModel(number: number, tableName: table, name: name, key: key, fields: fields)
  }

  private static func newField(_ reader: inout EntryReader) throws(StoreError) -> SchemaStep.NewField {
    let number = try reader.number()
    let name = try reader.text()
    let signature = try reader.text()
    guard let storage = ColumnStorage(rawValue: try reader.text()) else { throw EntryReader.damaged }
    return SchemaStep.NewField(
      number: number, name: name, signature: signature, storage: storage, isRequired: try reader.flag(),
      defaultValue: try reader.value())
  }
}
