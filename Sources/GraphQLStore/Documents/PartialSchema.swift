internal import MartletGraphQLDocuments

/// A schema of which only a part may be known: what it refers to without defining it is defined as the least it can be.
struct PartialSchema {
  let schema: Schema
  /// Types that are referred to and not defined: which objects they are is not known.
  let missing: Set<String>

  /// - Throws: what is wrong with the text beyond being incomplete.
  init(_ text: String) throws(GraphQLStoreError) {
    do {
      var document = try Parser.parse(text, limits: .schema)
      let missing = Self.missing(document)
      self.missing = Set(missing.map(\.name.text))
      document.definitions += missing.map { .type($0) }
      schema = try Schema.resolve(document, options: SchemaOptions(incrementalDelivery: true, isForeign: true))
    } catch {
      throw GraphQLStoreError(.invalidSchema, "the configured schema is not valid", underlying: error)
    }
  }

  private static func missing(_ document: Document) -> [TypeDefinition] {
    var known: Set<String> = ["Int", "Float", "String", "Boolean", "ID"]
    for case .type(let type) in document.definitions { known.insert(type.name.text) }
    var made: [TypeDefinition] = []
    func need(_ name: Name, _ content: TypeDefinition.Content) {
      guard known.insert(name.text).inserted else { return }
      made.append(TypeDefinition(name: Name(name.text), content: content))
    }
    func need(_ inputs: [InputValueDefinition]) { for input in inputs { need(input.type.name, .scalar) } }
    let types = document.definitions.compactMap { definition -> TypeDefinition? in
      switch definition {
      case .type(let type), .typeExtension(let type): type
      case .operation, .fragment, .schema, .schemaExtension, .directive: nil
      }
    }
    // What a name must be comes before what it may be.
    for type in types {
      for name in type.interfaces { need(name, .interface(interfaces: [], fields: [])) }
      if case .union(let members) = type.content {
        for name in members { need(name, .object(interfaces: [], fields: [])) }
      }
    }
    for case .schema(let schema) in document.definitions {
      for root in schema.operationTypes { need(root.type, .object(interfaces: [], fields: [])) }
    }
    for type in types {
      for field in type.fields {
        need(field.type.name, .scalar)
        need(field.arguments)
      }
      if case .inputObject(let fields) = type.content { need(fields) }
    }
    for case .directive(let directive) in document.definitions { need(directive.arguments) }
    return made
  }

  /// Key fields of interfaces and unions, given to the objects that belong to them and have none of their own.
  static func expand(
    _ keyFields: [String: [String]], _ schema: Schema?, _ possibleTypes: [String: Set<String>]
  ) -> [String: [String]] {
    var all = keyFields
    for (name, fields) in keyFields.sorted(by: { $0.key < $1.key }) {
      var objects = possibleTypes[name] ?? []
      if let schema, let type = schema.type(name), type.isAbstract {
        objects.formUnion(type.possibleTypes.map { schema[$0].name })
      }
      for object in objects where all[object] == nil { all[object] = fields }
    }
    return all
  }
}
