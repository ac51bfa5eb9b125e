internal import MartletJSON
package import MartletModelSchema

extension RecordShape {
  /// The shapes of a schema's models, with an index for every relation that has none of its own, and what goes with a
  /// deleted record.
  package static func shapes(of schema: ModelSchema) -> [RecordShape] {
    shapes(of: schema.models)
  }

  /// The shapes of `models`.
  package static func shapes(of models: [ModelDefinition]) -> [RecordShape] {
    var shapes = models.map(RecordShape.init)
    for model in models {
      for relation in model.relations where relation.kind != .belongsTo {
        guard let child = shapes.firstIndex(where: { $0.model == relation.target }) else { continue }
        shapes[child].addIndex(for: relation.targetFields)
        guard relation.onDelete == .cascade, let parent = shapes.firstIndex(where: { $0.model == model.number }) else {
          continue
        }
        shapes[parent].cascades.append(Cascade(child: relation.target, reference: relation.targetFields))
      }
    }
    return shapes
  }

  /// The shape of one model.
  package init(_ model: ModelDefinition) {
    self.init(
      model: model.number, name: model.name, tableName: model.tableName, columns: model.fields.map(RecordColumn.init),
      key: model.primaryKey,
      indexes: model.indexes.map { RecordIndex(name: $0.name, fields: $0.fields, isUnique: false) }, cascades: [])
  }

  /// Adds an index that finds records by `fields`, unless the key or an index begins with them already.
  private mutating func addIndex(for fields: [Int]) {
    if fields.isEmpty || key.starts(with: fields) || indexes.contains(where: { $0.fields.starts(with: fields) }) {
      return
    }
    let names = fields.map { columns[$0].name }.joined(separator: "_")
    // '#' cannot stand in a declared index's name.
    indexes.append(RecordIndex(name: "#relation_" + names, fields: fields, isUnique: false))
  }
}

extension RecordColumn {
  /// The column of one field.
  package init(_ field: ModelField) {
    let storage: ColumnStorage
    var signature: String
    switch field.kind {
    case .scalar(let kind):
      storage = field.isList ? .json : ColumnStorage(kind)
      // ID and String hold the same values.
      signature = kind == .id ? ScalarKind.string.rawValue : kind.rawValue
    case .enumeration:
      storage = field.isList ? .json : .text
      signature = "enum"
    case .embedded:
      storage = .json
      signature = "embedded"
    }
    if field.isList { signature = "[\(signature)]" }
    self.init(
      name: field.columnName, field: field.name, storage: storage, signature: signature, isRequired: field.isRequired,
      defaultValue: storage.normalized(field.defaultValue ?? .null))
  }
}

extension ColumnStorage {
  /// How a scalar is stored.
  init(_ kind: ScalarKind) {
    switch kind {
    case .int, .awsTimestamp: self = .integer
    case .float: self = .real
    case .boolean: self = .boolean
    case .id, .string, .awsDate, .awsTime, .awsDateTime, .awsEmail, .awsJSON, .awsURL, .awsPhone, .awsIPAddress:
      self = .text
    }
  }
}
