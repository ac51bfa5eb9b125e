internal import MartletJSON
package import MartletModelSchema
package import MartletStore

/// What the store has to know of the models: columns, keys and indexes.
package enum RecordShapes {
  package static func make(_ schema: ModelSchema) -> [RecordShape] {
    schema.models.map { model in
      RecordShape(
        model: model.number, name: model.name, tableName: model.tableName,
        columns: model.fields.map { column($0, of: model) }, key: model.primaryKey,
        indexes: indexes(model, schema.models), cascades: [])
    }
  }

  private static func column(_ field: ModelField, of model: ModelDefinition) -> RecordColumn {
    let (storage, type): (ColumnStorage, String) =
      switch field.kind {
      case .embedded(let name): (.json, name)
      case .enumeration(let name, _): (.text, name)
      case .scalar(let kind):
        switch kind.filterBase {
        case .int: (.integer, kind.rawValue)
        case .float: (.real, kind.rawValue)
        case .boolean: (.boolean, kind.rawValue)
        case .id, .string, .awsDate, .awsTime, .awsDateTime, .awsTimestamp, .awsEmail, .awsJSON, .awsURL, .awsPhone,
          .awsIPAddress:
          (.text, kind.filterBase == .id ? "String" : kind.rawValue)
        }
      }
    return RecordColumn(
      name: field.columnName, field: field.name, storage: field.isList ? .json : storage,
      signature: field.isList ? "[\(type)]" : type, isRequired: field.isRequired,
      defaultValue: field.defaultValue ?? .null)
  }

  /// Declared indexes, and one for each has-many relation that no declared one serves.
  private static func indexes(_ model: ModelDefinition, _ models: [ModelDefinition]) -> [RecordIndex] {
    var indexes = model.indexes.map { RecordIndex(name: $0.name, fields: $0.fields, isUnique: false) }
    for owner in models {
      for relation in owner.relations where relation.target == model.number && relation.kind != .belongsTo {
        let fields = relation.targetFields
        let isServed =
          indexes.contains { $0.fields.starts(with: fields) } || model.primaryKey.starts(with: fields)
        if !isServed {
          indexes.append(RecordIndex(name: "\(owner.name)_\(relation.name)", fields: fields, isUnique: false))
        }
      }
    }
    return indexes
  }
}
