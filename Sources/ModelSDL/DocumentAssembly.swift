import MartletGraphQLLanguage
internal import MartletModels
internal import MartletVocabulary

/// Puts the served document together: written types as they are shown, generated types, and merged root types.
struct DocumentAssembly {
  let models: [ModelDefinition]
  let written: Document
  let prelude: Prelude

  /// The document that the served schema is built from.
  func assemble(_ generator: SchemaGenerator) throws(ModelSchemaError) -> Document {
    // Without models nothing uses the models' inputs.
    var source = (models.isEmpty ? "" : CommonInputs.source + "\n") + generator.types.joined(separator: "\n")
    for (type, fields) in [
      ("Query", generator.query), ("Mutation", generator.mutation), ("Subscription", generator.subscription),
    ] where !fields.isEmpty {
      source += "\n\(hasType(type) ? "extend " : "")type \(type) { \(fields.joined(separator: "\n")) }"
    }
    var generated = Document(definitions: [])
    do {
      if !source.isEmpty { generated = try Parser.parse(source, limits: .schema) }
    } catch {
      throw ModelSchemaError([error.graphQLError])
    }
    let scalars = Set(
      models.flatMap(\.fields).compactMap { field -> String? in
        if case .scalar(let kind) = field.kind, kind.isAWS { kind.rawValue } else { nil }
      } + (models.contains { $0.conflicts != nil } ? [ScalarKind.awsTimestamp.rawValue] : [])
        + (generator.operations.values.contains(.treeChanges) ? [ScalarKind.awsJSON.rawValue] : []))
    var definitions: [Definition] = written.definitions.map(shown)
    let used = scalars.union(usedScalars()).filter { !hasType($0) }
    definitions += used.sorted().map { .type(TypeDefinition(name: Name($0), content: .scalar)) }
    definitions += generated.definitions
    generated.definitions = definitions
    return generated
  }

  private func hasType(_ name: String) -> Bool {
    written.definitions.contains { if case .type(let type) = $0 { type.name.text == name } else { false } }
  }

  /// AppSync scalars that written types mention outside models.
  private func usedScalars() -> Set<String> {
    var names: Set<String> = []
    for definition in written.definitions {
      guard case .type(let type) = definition else { continue }
      for field in type.fields {
        names.insert(field.type.name.text)
        for argument in field.arguments { names.insert(argument.type.name.text) }
      }
      if case .inputObject(let fields) = type.content { for field in fields { names.insert(field.type.name.text) } }
    }
    return names.filter { ScalarKind(rawValue: $0)?.isAWS == true }
  }

  /// A definition as clients see it: without model directives, models with their time stamps, keys and relations.
  private func shown(_ definition: Definition) -> Definition {
    guard case .type(var type) = definition else { return definition }
    type.directives.removeAll { prelude.directives.contains($0.name.text) }
    guard case .object(let interfaces, var fields) = type.content else { return .type(type) }
    let model = models.first { $0.name == type.name.text }
    fields = fields.map { field in
      var field = field
      if let model, let relation = model.relations.first(where: { $0.name == field.name.text }),
        relation.kind == .hasMany
      {
        field = connectionField(field, relation)
      }
      field.directives.removeAll { prelude.directives.contains($0.name.text) }
      return field
    }
    if let model { fields += addedFields(model, to: fields) }
    type.content = .object(interfaces: interfaces, fields: fields)
    return .type(type)
  }

  /// `departures(filter:sortDirection:limit:nextToken:): ModelFlightConnection`. A page size that the relation declares
  /// is the default of `limit`, so that clients see it and the estimated cost of an operation counts it.
  private func connectionField(_ field: FieldDefinition, _ relation: ModelRelation) -> FieldDefinition {
    let target = models[relation.target]
    let type = ModelNames.capitalized(target.name)
    var field = field
    field.arguments = [
      InputValueDefinition(name: Name("filter"), type: .named("Model\(type)FilterInput")),
      InputValueDefinition(name: Name("sortDirection"), type: .named("ModelSortDirection")),
      InputValueDefinition(
        name: Name("limit"), type: .named("Int"), defaultValue: relation.hasOwnLimit ? .int(relation.limit) : nil),
      InputValueDefinition(name: Name("nextToken"), type: .named("String")),
    ]
    field.type = .named("Model\(type)Connection")
    return field
  }

  private func addedFields(_ model: ModelDefinition, to fields: [FieldDefinition]) -> [FieldDefinition] {
    let known = Set(fields.map(\.name.text))
    let added = model.fields.filter { !known.contains($0.name) }.map { field in
      let named = TypeReference.named(SchemaGenerator.named(field))
      return FieldDefinition(name: Name(field.name), type: field.isRequired ? .nonNull(named) : named)
    }
    guard model.conflicts != nil else { return added }
    return added
      + RecordStamp.allCases.map { stamp in
        FieldDefinition(name: Name(stamp.fieldName), type: stamp.type)
      }
  }
}

extension RecordStamp {
  fileprivate var type: TypeReference {
    switch self {
    case .version: .nonNull(.named("Int"))
    case .deleted: .named("Boolean")
    case .lastChangedAt: .nonNull(.named(ScalarKind.awsTimestamp.rawValue))
    }
  }
}
