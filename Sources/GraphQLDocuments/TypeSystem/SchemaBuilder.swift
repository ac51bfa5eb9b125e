/// Turns definitions into a schema: merges extensions, numbers types, resolves references.
struct SchemaBuilder {
  /// A definition with its extensions.
  private struct Source {
    var definition: TypeDefinition
    var extensions: [TypeDefinition] = []
    var isBuiltIn: Bool
  }

  private var sources: [Source] = []
  private var numbers: [String: Int] = [:]
  private var directives: [(definition: DirectiveDefinition, isBuiltIn: Bool)] = []
  private var metaFields: [FieldDefinition] = []
  private var errors: [GraphQLError] = []

  static func build(
    _ document: Document, options: SchemaOptions, checks: SchemaChecks?
  ) throws(SchemaErrors) -> Schema {
    var builder = SchemaBuilder()
    var builtIn: Document
    do {
      builtIn = try Parser.parse(BuiltIn.source, limits: .schema)
      if options.incrementalDelivery {
        builtIn.definitions += try Parser.parse(BuiltIn.incrementalDirectives, limits: .schema).definitions
      }
      if options.isForeign {
        builtIn.definitions += try Parser.parse(BuiltIn.foreignScalars, limits: .schema).definitions
      }
    } catch {
      throw SchemaErrors([error.graphQLError])
    }
    var report = TypeSystemReport()
    DefinitionUniqueness.check(document, &report)
    DefinitionReferences.check(document, builtIn: builtIn, &report)
    checks?.ofDocument(document, builtIn, &report)
    guard report.errors.isEmpty else { throw SchemaErrors(report.errors) }
    builder.collect(document, isBuiltIn: false)
    builder.collect(builtIn, isBuiltIn: true)
    let schema = builder.resolve(document, options)
    guard let schema, builder.errors.isEmpty else { throw SchemaErrors(builder.errors) }
    checks?.ofSchema(schema, &report)
    guard report.errors.isEmpty else { throw SchemaErrors(report.errors) }
    return schema
  }

  // MARK: Collecting

  private mutating func collect(_ document: Document, isBuiltIn: Bool) {
    let used = isBuiltIn ? referencedNames(and: document) : []
    for definition in document.definitions {
      switch definition {
      case .type(let type):
        let name = type.name.text
        if isBuiltIn, name == "MetaFields" {
          metaFields = type.fields
        } else if isBuiltIn, type.kind == .scalar, !used.contains(name) {
          // A built-in scalar that nothing refers to does not belong to the schema (section 3.5).
        } else if !isBuiltIn, BuiltIn.scalars.contains(name) {
          // Some tools write the built-in scalars out; the definition adds nothing.
        } else if numbers[name] == nil {
          numbers[name] = sources.count
          sources.append(Source(definition: type, isBuiltIn: isBuiltIn))
        }
      case .directive(let directive):
        if !directives.contains(where: { $0.definition.name == directive.name }) {
          directives.append((directive, isBuiltIn))
        }
      case .typeExtension, .operation, .fragment, .schema, .schemaExtension: break
      }
    }
    for definition in document.definitions {
      guard case .typeExtension(let type) = definition, let number = numbers[type.name.text] else { continue }
      if sources[number].definition.kind == type.kind { sources[number].extensions.append(type) }
    }
  }

  /// The type names that written definitions, the introspection types and optional directives use.
  private func referencedNames(and builtIn: Document) -> Set<String> {
    var names: Set<String> = ["String", "Boolean"]
    func add(_ inputs: [InputValueDefinition]) { for input in inputs { names.insert(input.type.name.text) } }
    for source in sources {
      for type in [source.definition] + source.extensions {
        for field in type.fields {
          names.insert(field.type.name.text)
          add(field.arguments)
        }
        if case .inputObject(let fields) = type.content { add(fields) }
      }
    }
    for (directive, _) in directives { add(directive.arguments) }
    for definition in builtIn.definitions {
      if case .directive(let directive) = definition { add(directive.arguments) }
    }
    return names
  }

  // MARK: Resolving

  private mutating func resolve(_ document: Document, _ options: SchemaOptions) -> Schema? {
    var possible: [[TypeID]] = Array(repeating: [], count: sources.count)
    for (index, source) in sources.enumerated() where source.definition.kind == .object {
      possible[index] = [TypeID(index: index)]
      for name in Self.parts(source).flatMap(\.interfaces) {
        if let number = numbers[name.text], sources[number].definition.kind == .interface,
          possible[number].last?.index != index
        {
          possible[number].append(TypeID(index: index))
        }
      }
    }
    var types: [NamedType] = []
    for (index, source) in sources.enumerated() {
      types.append(type(source, id: TypeID(index: index), possibleTypes: possible[index]))
    }
    let schemaDirectives = directives.map { definition, isBuiltIn in
      SchemaDirective(
        definition: definition, arguments: inputs(definition.arguments, isBuiltIn: isBuiltIn), isBuiltIn: isBuiltIn)
    }
    let meta = fields(metaFields, isBuiltIn: true, isMeta: true)
    guard errors.isEmpty, meta.count == 3 else { return nil }
    let (definition, extensions) = Self.schemaParts(document)
    return Schema(
      types: types, directives: schemaDirectives, definition: definition, extensions: extensions,
      roots: roots(definition, extensions), metaFields: (meta[0], meta[1], meta[2]), options: options)
  }

  private static func parts(_ source: Source) -> [TypeDefinition] {
    [source.definition] + source.extensions
  }

  private static func schemaParts(_ document: Document) -> (SchemaDefinition?, [SchemaDefinition]) {
    var found: SchemaDefinition?
    var extensions: [SchemaDefinition] = []
    for definition in document.definitions {
      if case .schema(let schema) = definition, found == nil { found = schema }
      if case .schemaExtension(let schema) = definition { extensions.append(schema) }
    }
    return (found, extensions)
  }

  private mutating func roots(
    _ definition: SchemaDefinition?, _ extensions: [SchemaDefinition]
  ) -> [OperationKind: TypeID] {
    var roots: [OperationKind: TypeID] = [:]
    if definition == nil {
      // Without a schema definition the root types are those with the default names (section 3.3.1).
      for (kind, name) in [(OperationKind.query, "Query"), (.mutation, "Mutation"), (.subscription, "Subscription")] {
        roots[kind] = numbers[name].map { TypeID(index: $0) }
      }
    }
    for operation in (definition?.operationTypes ?? []) + extensions.flatMap(\.operationTypes) {
      roots[operation.kind] = id(operation.type)
    }
    return roots
  }

  private mutating func type(_ source: Source, id: TypeID, possibleTypes: [TypeID]) -> NamedType {
    let parts = Self.parts(source)
    var possibleTypes = possibleTypes
    var values: [EnumValueDefinition] = []
    var inputFields: [InputValueDefinition] = []
    for part in parts {
      switch part.content {
      case .scalar, .object, .interface: break
      case .union(let members): for member in members { if let id = self.id(member) { possibleTypes.append(id) } }
      case .enumeration(let more): values += more
      case .inputObject(let more): inputFields += more
      }
    }
    var interfaces: [TypeID] = []
    for name in parts.flatMap(\.interfaces) { if let id = self.id(name) { interfaces.append(id) } }
    return NamedType(
      id: id, name: source.definition.name.text, kind: source.definition.kind,
      description: source.definition.description?.text,
      fields: fields(parts.flatMap(\.fields), isBuiltIn: source.isBuiltIn), interfaces: interfaces,
      possibleTypes: possibleTypes,
      enumValues: values.enumerated().map { SchemaEnumValue(index: $0, definition: $1, isBuiltIn: source.isBuiltIn) },
      inputFields: inputs(inputFields, isBuiltIn: source.isBuiltIn), appliedDirectives: parts.flatMap(\.directives),
      definition: source.isBuiltIn ? nil : source.definition, extensions: source.extensions)
  }

  private mutating func fields(
    _ definitions: [FieldDefinition], isBuiltIn: Bool, isMeta: Bool = false
  ) -> [SchemaField] {
    var fields: [SchemaField] = []
    for definition in definitions {
      guard let type = wrapped(definition.type) else { continue }
      fields.append(
        SchemaField(
          index: isMeta ? -1 : fields.count, definition: definition,
          arguments: inputs(definition.arguments, isBuiltIn: isBuiltIn), type: type, isBuiltIn: isBuiltIn))
    }
    return fields
  }

  private mutating func inputs(_ definitions: [InputValueDefinition], isBuiltIn: Bool) -> [SchemaInput] {
    var inputs: [SchemaInput] = []
    for definition in definitions {
      guard let type = wrapped(definition.type) else { continue }
      inputs.append(SchemaInput(index: inputs.count, definition: definition, type: type, isBuiltIn: isBuiltIn))
    }
    return inputs
  }

  private mutating func wrapped(_ reference: TypeReference, lists: Int = 0) -> WrappedType? {
    switch reference {
    case .named(let name): return id(name).map { WrappedType($0) }
    case .list(let element, let location):
      guard lists < WrappedType.maximumLists else {
        errors.append(
          GraphQLError(
            message: "Types nest at most \(WrappedType.maximumLists) lists.",
            locations: location.source.map { [$0] } ?? []))
        return nil
      }
      return wrapped(element, lists: lists + 1)?.listed
    case .nonNull(let type, _): return wrapped(type, lists: lists)?.nonNull
    }
  }

  private mutating func id(_ name: Name) -> TypeID? {
    if let number = numbers[name.text] { return TypeID(index: number) }
    errors.append(
      GraphQLError(message: "Unknown type '\(name.text)'.", locations: name.location.source.map { [$0] } ?? []))
    return nil
  }
}
