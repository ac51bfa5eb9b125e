import MartletGraphQLLanguage
internal import MartletModels
internal import MartletVocabulary

/// Replaces each `@manyToMany` pair by a model of its own that both sides have many of.
struct JoinModels {
  private struct Side {
    var model: TypeDefinition
    var field: FieldDefinition
    var directive: Directive
  }

  /// The document with join models added and the fields turned into `@hasMany`.
  static func expand(_ document: Document, _ complaints: inout Complaints) -> Document {
    var sides: [String: [Side]] = [:]
    var order: [String] = []
    for case .type(let type) in document.definitions where type.directive("model") != nil {
      for field in type.fields {
        guard let directive = field.directive("manyToMany"), let name = directive.argument("relationName")?.string
        else { continue }
        if sides[name] == nil { order.append(name) }
        sides[name, default: []].append(Side(model: type, field: field, directive: directive))
      }
    }
    guard !order.isEmpty else { return document }
    var result = document
    for name in order {
      let pair = sides[name] ?? []
      guard pair.count == 2, pair[0].field.type.name == pair[1].model.name,
        pair[1].field.type.name == pair[0].model.name
      else {
        complaints.add(
          "The relation \"\(name)\" needs a @manyToMany field on each of two models, each a list of the other.",
          at: pair[0].directive.location)
        continue
      }
      let typeName = ModelNames.capitalized(name)
      let first = ModelNames.uncapitalized(pair[0].model.name.text)
      let second = ModelNames.uncapitalized(pair[1].model.name.text)
      guard first != second, let join = joinModel(typeName, pair.map(\.model), first, second) else {
        complaints.add("The relation \"\(name)\" joins a model with itself.", at: pair[0].directive.location)
        continue
      }
      result.definitions.append(.type(join))
      for side in pair {
        let own = ModelNames.uncapitalized(side.model.name.text)
        rewrite(&result, side, target: typeName, index: "by\(ModelNames.capitalized(own))")
      }
    }
    return result
  }

  private static func joinModel(
    _ name: String, _ models: [TypeDefinition], _ first: String, _ second: String
  ) -> TypeDefinition? {
    // Clients that sync both ends need the rows between them.
    let isVersioned = models.contains { $0.directive("versioned") != nil }
    let source = """
      type \(name) @model\(isVersioned ? " @versioned" : "") {
        id: ID!
        \(first)Id: ID! @index(name: "by\(ModelNames.capitalized(first))", sortKeyFields: ["\(second)Id"], queryField: null)
        \(second)Id: ID! @index(name: "by\(ModelNames.capitalized(second))", sortKeyFields: ["\(first)Id"], queryField: null)
        \(first): \(models[0].name.text)! @belongsTo(fields: ["\(first)Id"])
        \(second): \(models[1].name.text)! @belongsTo(fields: ["\(second)Id"])
      }
      """
    guard first != second, case .type(var type)? = try? Parser.parse(source, limits: .schema).definitions.first else {
      return nil
    }
    if let access = access(of: models, taken: Set(type.fields.map(\.name.text))),
      case .object(let interfaces, let fields) = type.content
    {
      var directive = access.directive
      directive.location = models[0].directive("auth")?.location ?? .none
      type.directives.append(directive)
      type.content = .object(interfaces: interfaces, fields: fields + access.fields)
    }
    return type
  }

  private static func rewrite(_ document: inout Document, _ side: Side, target: String, index: String) {
    for position in document.definitions.indices {
      guard case .type(var type) = document.definitions[position], type.name == side.model.name,
        case .object(let interfaces, var fields) = type.content,
        let place = fields.firstIndex(where: { $0.name == side.field.name })
      else { continue }
      fields[place].type = .list(.named(target))
      fields[place].directives.removeAll { $0.name.text == "manyToMany" }
      let limit = side.directive.argument("limit") ?? .int(100)
      // A row of the join says that both ends belong together, so it goes with either.
      fields[place].directives.append(
        Directive(
          "hasMany", [("indexName", .string(index)), ("limit", limit), ("onDelete", .enumeration("CASCADE"))]))
      type.content = .object(interfaces: interfaces, fields: fields)
      document.definitions[position] = .type(type)
    }
  }
}
