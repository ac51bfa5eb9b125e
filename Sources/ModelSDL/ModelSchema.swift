package import MartletGraphQLLanguage
package import MartletModels

/// What a document of `@model` types means: the models, the schema that serves them, and what each generated root field
/// does.
package struct ModelSchema: Sendable {
  package let models: [ModelDefinition]
  /// The executable schema, generated parts included.
  package let schema: Schema
  /// What the generated root fields do. Root fields that are not here were written by hand and need resolvers.
  package let operations: [FieldPath: BuiltInOperation]
  /// For each model's type, the record position of each shown field.
  package let slots: [String: [String: Int]]
  /// Changes when anything a stored plan or group depends on changes: FNV-1a over
  /// the written text, so that it is the same in every run. A comment counts as a change: resumes then plan anew.
  package let version: UInt64

  /// Reads a document.
  ///
  /// - Parameters:
  ///   - options: Those of the executable schema.
  ///   - conflicts: What models without `@versioned` do about conflicts; nil for models without versions.
  ///   - servesTree: Whether the server has a tree, which subscriptions can follow.
  ///   - previous: The models of the schema in force, whose numbers and field positions are kept.
  /// - Throws: everything that is wrong with it, with places.
  package init(
    _ source: String, name: String? = nil, options: SchemaOptions = SchemaOptions(),
    conflicts: ConflictStrategy? = nil, servesTree: Bool = false, keeping previous: [ModelDefinition] = []
  ) throws(ModelSchemaError) {
    var document: Document
    let prelude: Prelude
    do {
      document = try Parser.parse(source, name: name, limits: .schema)
      prelude = try Prelude()
    } catch {
      throw ModelSchemaError([error.graphQLError])
    }
    Self.takeExtensionsOfRoots(&document)
    try Self.checkDirectives(document, prelude)
    var complaints = Complaints()
    Self.refuseStrayRules(document, &complaints)
    let expanded = JoinModels.expand(document, &complaints)
    var reader = ModelReader(expanded, conflicts: conflicts)
    reader.read()
    let errors = complaints.errors + reader.complaints.errors
    guard errors.isEmpty else { throw ModelSchemaError(errors) }
    do {
      models = try reader.models.numbered(keeping: previous)
    } catch {
      throw ModelSchemaError([GraphQLError(message: "\(error)")])
    }

    var generator = SchemaGenerator(models: models, document: expanded)
    generator.generate()
    if servesTree { generator.generateTree() }
    try Self.readSubscriptions(expanded, models, &generator)
    operations = generator.operations
    let served = try DocumentAssembly(models: models, written: expanded, prelude: prelude).assemble(generator)
    do {
      schema = try Schema.build(from: served, options: options)
    } catch {
      throw ModelSchemaError(error.errors)
    }
    slots = Dictionary(
      uniqueKeysWithValues: models.map { model in
        let stamps = model.conflicts == nil ? [] : RecordStamp.allCases.map { ($0.fieldName, $0.slot) }
        return (model.name, Dictionary(model.fields.enumerated().map { ($1.name, $0) } + stamps) { first, _ in first })
      })
    version = Self.hash(source + (conflicts?.rawValue ?? "") + (servesTree ? "tree" : ""))
  }

  /// Models bring root types of their own, which a document may extend without writing them: its first extension then
  /// stands for the type.
  private static func takeExtensionsOfRoots(_ document: inout Document) {
    let hasModels = document.definitions.contains {
      if case .type(let type) = $0 { type.directives.contains { $0.name.text == "model" } } else { false }
    }
    guard hasModels else { return }
    var written: Set<String> = []
    for case .type(let type) in document.definitions { written.insert(type.name.text) }
    for (position, definition) in document.definitions.enumerated() {
      guard case .typeExtension(let type) = definition, ["Query", "Mutation", "Subscription"].contains(type.name.text),
        written.insert(type.name.text).inserted
      else { continue }
      document.definitions[position] = .type(type)
    }
  }

  /// Model directives are checked as any directive is: place, arguments, types. The written document alone need not be
  /// a whole schema (it may lack a query root), so a stand-in completes it.
  private static func checkDirectives(_ document: Document, _ prelude: Prelude) throws(ModelSchemaError) {
    try checkDirectiveNames(document, prelude)
    var whole = document
    // A document may define the scalars itself, as `martlet schema print` writes them.
    var written: Set<String> = []
    for case .type(let type) in document.definitions { written.insert(type.name.text) }
    whole.definitions += prelude.definitions.filter { definition in
      if case .type(let type) = definition { !written.contains(type.name.text) } else { true }
    }
    let hasQuery = document.definitions.contains {
      if case .type(let type) = $0 { type.name.text == "Query" } else { false }
    }
    if !hasQuery {
      let field = FieldDefinition(name: Name("unused"), type: .named("String"))
      whole.definitions.append(
        .type(TypeDefinition(name: Name("Query"), content: .object(interfaces: [], fields: [field]))))
    }
    do {
      _ = try Schema.build(from: whole)
    } catch {
      throw ModelSchemaError(error.errors)
    }
  }

  /// Rules outside models would be read and not enforced.
  private static func refuseStrayRules(_ document: Document, _ complaints: inout Complaints) {
    for definition in document.definitions {
      let type: TypeDefinition
      switch definition {
      case .type(let written) where written.directive("model") == nil: type = written
      case .typeExtension(let written) where ["Query", "Mutation", "Subscription"].contains(written.name.text):
        type = written
      default: continue
      }
      let places =
        [(type.name.text, type.directive("auth"))]
        + type.fields.map { ("\(type.name.text).\($0.name.text)", $0.directive("auth")) }
      for case (let place, let directive?) in places {
        complaints.add(
          "\(place) has @auth, which types with @model and their fields can have. Resolvers of the program's own decide "
            + "by the identity of their request.", at: directive.location)
      }
    }
  }

  /// An undefined directive whose name is close to one of the models' is a typing error.
  private static func checkDirectiveNames(_ document: Document, _ prelude: Prelude) throws(ModelSchemaError) {
    var known = prelude.directives.union(["deprecated", "specifiedBy", "oneOf"])
    for case .directive(let directive) in document.definitions { known.insert(directive.name.text) }
    var complaints = Complaints()
    func check(_ directives: [Directive]) {
      for directive in directives where !known.contains(directive.name.text) {
        let near = Suggestions.near(directive.name.text, among: known.sorted()).prefix(1).map { "@\($0)" }
        guard !near.isEmpty else { continue }
        complaints.add(
          "Unknown directive '@\(directive.name.text)'.\(Suggestions.text(near))", at: directive.location)
      }
    }
    for case .type(let type) in document.definitions {
      check(type.directives)
      for field in type.fields { check(field.directives) }
    }
    guard complaints.errors.isEmpty else { throw ModelSchemaError(complaints.errors) }
  }

  /// Written subscription fields with `@aws_subscribe`: their arguments equal the record's fields.
  private static func readSubscriptions(
    _ document: Document, _ models: [ModelDefinition], _ generator: inout SchemaGenerator
  ) throws(ModelSchemaError) {
    var complaints = Complaints()
    let mutations = generator.operations
    for case .type(let type) in document.definitions where type.name.text == "Subscription" {
      for field in type.fields {
        guard let directive = field.directive("aws_subscribe") else { continue }
        let place = "Subscription.\(field.name.text)"
        guard let model = models.first(where: { $0.name == field.type.name.text }) else {
          complaints.add("\(place) has @aws_subscribe and so must have a model's type.", at: field.location)
          continue
        }
        var events: Set<BuiltInOperation.SubscriptionSource.Event> = []
        for name in directive.argument("mutations")?.strings ?? [] {
          switch mutations[FieldPath("Mutation", name)] {
          case .create(model.number): events.insert(.create)
          case .update(model.number): events.insert(.update)
          case .delete(model.number): events.insert(.delete)
          case .get, .list, .listByIndex, .sync, .create, .update, .delete, .transaction, .subscribe, .changes,
            .treeChanges, nil:
            complaints.add(
              "\(place) names \"\(name)\", which is not a mutation of \(model.name).", at: directive.location)
          }
        }
        var equalities: [BuiltInOperation.SubscriptionSource.Equality] = []
        for argument in field.arguments {
          guard let position = model.position(of: argument.name.text) else {
            complaints.add(
              "\(place) has the argument \"\(argument.name.text)\", which is not a field of \(model.name).",
              at: argument.location)
            continue
          }
          equalities.append(.init(argument: argument.name.text, field: position))
        }
        generator.add(
          .subscribe(.init(model: model.number, events: events, filter: .equalities(equalities))),
          at: FieldPath("Subscription", field.name.text))
      }
    }
    guard complaints.errors.isEmpty else { throw ModelSchemaError(complaints.errors) }
  }

  private static func hash(_ text: String) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return hash
  }
}

extension ModelSchema {
  /// The name of the argument that narrows a sort key of these fields.
  package static func sortArgumentName(_ model: ModelDefinition, _ fields: [Int]) -> String {
    SchemaGenerator.sortArgumentName(model, fields)
  }
}
