import MartletGraphQLLanguage
internal import MartletModels
internal import MartletVocabulary

/// Reads `@primaryKey` and `@index`.
enum ModelKeys {
  /// The primary key: `@primaryKey`'s field and its sort key, else `id`, which is added where it is not written.
  static func readPrimary(
    _ type: TypeDefinition, _ model: inout ModelDefinition, _ complaints: inout Complaints
  ) {
    let marked = type.fields.filter { $0.directive("primaryKey") != nil }
    if marked.count > 1 {
      complaints.add("\(model.name) has more than one @primaryKey.", at: marked[1].location)
    }
    guard let field = marked.first, let directive = field.directive("primaryKey") else {
      if let position = model.position(of: "id") {
        let isText = model.fields[position].filterBase == .id || model.fields[position].filterBase == .string
        if !isText || model.fields[position].isList || !model.fields[position].isRequired {
          complaints.add(
            "\(model.name).id must be ID! or String! to identify records.", at: model.fields[position].location)
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
    model.primaryKey = fields(
      names, of: model, required: true, for: "@primaryKey", at: directive.location, &complaints)
  }

  /// The indexes of `@index`.
  static func readIndexes(
    _ type: TypeDefinition, _ model: inout ModelDefinition, _ complaints: inout Complaints
  ) {
    for field in type.fields {
      for directive in field.directives where directive.name.text == "index" {
        let sort = directive.argument("sortKeyFields")?.strings ?? []
        let name = directive.argument("name")?.string ?? indexName(model, field.name.text, sort)
        let positions = fields(
          [field.name.text] + sort, of: model, required: false, for: "@index \"\(name)\"", at: directive.location,
          &complaints)
        guard positions.count == sort.count + 1 else { continue }
        if model.indexes.contains(where: { $0.name == name }) {
          complaints.add("\(model.name) has two indexes called \"\(name)\".", at: directive.location)
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
  private static func indexName(_ model: ModelDefinition, _ field: String, _ sort: [String]) -> String {
    ModelNames.uncapitalized(model.pluralName) + "By"
      + ([field] + sort).map { ModelNames.capitalized($0) }.joined(separator: "And")
  }

  /// Positions of fields that records can be found by: single, not embedded, and required where they identify.
  private static func fields(
    _ names: [String], of model: ModelDefinition, required: Bool, for purpose: String, at location: Location,
    _ complaints: inout Complaints
  ) -> [Int] {
    var positions: [Int] = []
    for name in names {
      guard let position = model.position(of: name) else {
        complaints.add("\(purpose) of \(model.name) names \"\(name)\", which is not a stored field.", at: location)
        continue
      }
      let field = model.fields[position]
      if case .embedded = field.kind {
        complaints.add("\(purpose) of \(model.name) names \(name), which is an embedded type.", at: location)
      } else if field.isList {
        complaints.add("\(purpose) of \(model.name) names \(name), which is a list.", at: location)
      } else if required, !field.isRequired {
        complaints.add("\(purpose) of \(model.name) names \(name), which must not be nullable.", at: location)
      } else if positions.contains(position) {
        complaints.add("\(purpose) of \(model.name) names \(name) twice.", at: location)
      } else {
        positions.append(position)
      }
    }
    return positions
  }
}
