internal import MartletJSON
package import MartletModelSDL
package import MartletModels

extension RecordShape {
  /// The shapes of a schema's models, with an index for every relation that has none of its own, and what goes with a
  /// deleted record.
  package static func shapes(of schema: ModelSchema) -> [RecordShape] {
    var shapes = shapes(of: schema.models)
    for (index, model) in schema.models.enumerated() {
      for (position, field) in model.fields.enumerated() {
        shapes[index].columns[position].domain = schema.domain(of: field)
      }
    }
    return shapes
  }

  /// The shapes of `models`.
  package static func shapes(of models: [ModelDefinition]) -> [RecordShape] {
    var shapes = models.map(RecordShape.init)
    for model in models {
      for relation in model.relations where relation.kind != .belongsTo {
        guard let child = shapes.firstIndex(where: { $0.model == relation.target }) else { continue }
        guard let parent = shapes.firstIndex(where: { $0.model == model.number }) else { continue }
        if relation.kind == .hasOne {
          // Either side may hold the other's key.
          let holdsKey = relation.targetFields == shapes[child].key
          shapes[holdsKey ? parent : child].addUniqueIndex(
            for: holdsKey ? relation.sourceFields : relation.targetFields, relation: "\(model.name).\(relation.name)")
        }
        shapes[child].addIndex(for: relation.targetFields)
        guard let action = relation.onDelete.map(Cascade.Action.init) else { continue }
        shapes[parent].cascades.append(
          Cascade(child: relation.target, reference: relation.targetFields, action: action))
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

  /// Adds a unique index for a one-to-one relation, unless the fields are the key.
  private mutating func addUniqueIndex(for fields: [Int], relation: String) {
    if fields.isEmpty || fields == key || indexes.contains(where: { $0.isUnique && $0.fields == fields }) { return }
    let names = fields.map { columns[$0].name }.joined(separator: "_")
    var index = RecordIndex(name: "#one_" + names, fields: fields, isUnique: true)
    index.relation = relation
    indexes.append(index)
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

extension RecordShape.Cascade.Action {
  init(_ action: ModelRelation.DeleteAction) {
    switch action {
    case .cascade: self = .delete
    case .restrict: self = .refuse
    case .setNull: self = .clear
    }
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
