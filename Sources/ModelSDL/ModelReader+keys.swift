import MartletGraphQLLanguage
internal import MartletModels
internal import MartletVocabulary

extension ModelReader {
  /// The primary key: `@primaryKey`'s field and its sort key, else `id`, which is added where it is not written.
  mutating func readKey(_ type: TypeDefinition, _ model: inout ModelDefinition) {
    let marked = type.fields.filter { $0.directive("primaryKey") != nil }
    if marked.count > 1 {
      complain("\(model.name) has more than one @primaryKey.", at: marked[1].location)
    }
    guard let field = marked.first, let directive = field.directive("primaryKey") else {
      if let position = model.position(of: "id") {
        let isText = model.fields[position].filterBase == .id || model.fields[position].filterBase == .string
        if !isText || model.fields[position].isList || !model.fields[position].isRequired {
          complain("\(model.name).id must be ID! or String! to identify records.", at: model.fields[position].location)
        }
        model.primaryKey = [position]
      } else {
        model.fields.insert(
          ModelField(
            name: "id", columnName: "id", kind: .scalar(.id), isRequired: true, place: type.location.place), at: 0)
        model.primaryKey = [0]
      }
      return
    }
    let names = [field.name.text] + (directive.argument("sortKeyFields")?.strings ?? [])
    model.primaryKey = keyFields(names, of: model, required: true, for: "@primaryKey", at: directive.location)
  }

  /// Positions of fields that records can be found by: single, not embedded, and required where they identify.
  private mutating func keyFields(
    _ names: [String], of model: ModelDefinition, required: Bool, for purpose: String, at location: Location
  ) -> [Int] {
    var positions: [Int] = []
    for name in names {
      guard let position = model.position(of: name) else {
        complain("\(purpose) of \(model.name) names \"\(name)\", which is not a stored field.", at: location)
        continue
      }
      let field = model.fields[position]
      if case .embedded = field.kind {
        complain("\(purpose) of \(model.name) names \(name), which is an embedded type.", at: location)
      } else if field.isList {
        complain("\(purpose) of \(model.name) names \(name), which is a list.", at: location)
      } else if required, !field.isRequired {
        complain("\(purpose) of \(model.name) names \(name), which must not be nullable.", at: location)
      } else if positions.contains(position) {
        complain("\(purpose) of \(model.name) names \(name) twice.", at: location)
      } else {
        positions.append(position)
      }
    }
    return positions
  }

  mutating func readIndexes(_ type: TypeDefinition, _ model: inout ModelDefinition) {
    for field in type.fields {
      for directive in field.directives where directive.name.text == "index" {
        let sort = directive.argument("sortKeyFields")?.strings ?? []
        let name = directive.argument("name")?.string ?? indexName(model, field.name.text, sort)
        let positions = keyFields(
          [field.name.text] + sort, of: model, required: false, for: "@index \"\(name)\"", at: directive.location)
        guard positions.count == sort.count + 1 else { continue }
        if model.indexes.contains(where: { $0.name == name }) {
          complain("\(model.name) has two indexes called \"\(name)\".", at: directive.location)
          continue
        }
        let query: String? =
          switch directive.argument("queryField") {
          case nil: indexName(model, field.name.text, sort)
          case let value?: value.isNull ? nil : value.string
          }
        model.indexes.append(ModelIndex(name: name, fields: positions, queryField: query))
      }
    }
  }

  /// AppSync's default: `flightsByOriginAndScheduled`.
  private func indexName(_ model: ModelDefinition, _ field: String, _ sort: [String]) -> String {
    ModelNames.uncapitalized(model.pluralName) + "By"
      + ([field] + sort).map { ModelNames.capitalized($0) }.joined(separator: "And")
  }

  /// `createdAt` and `updatedAt`, renamed or switched off by `timestamps`.
  mutating func readTimestamps(_ directive: Directive, _ model: inout ModelDefinition) {
    let names = directive.argument("timestamps")
    if let names, names.isNull { return }
    model.createdAt = timestamp("createdAt", names, &model, directive.location)
    model.updatedAt = timestamp("updatedAt", names, &model, directive.location)
  }

  private mutating func timestamp(
    _ role: String, _ names: Value?, _ model: inout ModelDefinition, _ location: Location
  ) -> Int? {
    var name = role
    if let value = names?[role] {
      guard let renamed = value.string else { return nil }
      name = renamed
    }
    if let position = model.position(of: name) {
      guard model.fields[position].kind == .scalar(.awsDateTime), !model.fields[position].isList else {
        complain(
          "\(model.name).\(name) must be an AWSDateTime to be a time stamp.", at: model.fields[position].location)
        return nil
      }
      return position
    }
    model.fields.append(
      ModelField(
        name: name, columnName: name, kind: .scalar(.awsDateTime), isRequired: true, place: location.place))
    return model.fields.count - 1
  }

  /// The names of the operations: generated, renamed, or nil where switched off.
  mutating func readOperations(_ directive: Directive, _ model: inout ModelDefinition) {
    func name(_ group: String, _ operation: String, _ generated: String) -> String? {
      guard let map = directive.argument(group) else { return generated }
      if map.isNull { return nil }
      guard let value = map[operation] else { return group == "subscriptions" && hasLevel(map) ? generated : nil }
      if group == "subscriptions" { return value.strings?.first }
      return value.string
    }
    func hasLevel(_ map: Value) -> Bool {
      guard case .enumeration(let level)? = map["level"]?.kind else { return false }
      return level != "off"
    }
    let type = ModelNames.capitalized(model.name)
    model.operations.get = name("queries", "get", "get\(type)")
    model.operations.list = name("queries", "list", "list\(ModelNames.capitalized(model.pluralName))")
    if model.conflicts != nil { model.operations.sync = "sync\(ModelNames.capitalized(model.pluralName))" }
    model.operations.create = name("mutations", "create", "create\(type)")
    model.operations.update = name("mutations", "update", "update\(type)")
    model.operations.delete = name("mutations", "delete", "delete\(type)")
    model.operations.onCreate = name("subscriptions", "onCreate", "onCreate\(type)")
    model.operations.onUpdate = name("subscriptions", "onUpdate", "onUpdate\(type)")
    model.operations.onDelete = name("subscriptions", "onDelete", "onDelete\(type)")
  }
}
