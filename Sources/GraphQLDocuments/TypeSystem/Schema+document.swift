extension Schema {
  /// The schema as definitions: extensions merged, nothing of what every schema has.
  ///
  /// The order is the document's, so equal documents give equal text.
  package var document: Document {
    var definitions: [Definition] = []
    if let definition = schemaDefinition { definitions.append(.schema(definition)) }
    definitions += directives.compactMap { $0.definition.map { .directive($0) } }
    definitions += types.compactMap { type in type.merged.map { .type($0) } }
    return Document(definitions: definitions)
  }

  /// The schema in the type system language.
  package var text: String {
    Printer.text(of: document)
  }

  /// The schema definition, unless it says only what holds without it.
  private var schemaDefinition: SchemaDefinition? {
    let roots = OperationKind.allCases.compactMap { kind in
      rootType(kind).map { OperationTypeDefinition(kind: kind, type: Name($0.name)) }
    }
    let hasDefaultNames = OperationKind.allCases.allSatisfy { kind in
      let name = kind.rawValue.prefix(1).uppercased() + kind.rawValue.dropFirst()
      return (rootType(kind)?.name ?? name) == name && (rootType(kind) != nil || type(name) == nil)
    }
    if hasDefaultNames, description == nil, appliedDirectives.isEmpty { return nil }
    return SchemaDefinition(
      description: definition?.description, directives: appliedDirectives, operationTypes: roots)
  }
}

extension NamedType {
  /// The definition with its extensions in it; nil for types that every schema has.
  fileprivate var merged: TypeDefinition? {
    guard var merged = definition else { return nil }
    for part in extensions {
      merged.directives += part.directives
      switch (merged.content, part.content) {
      case (.object(let interfaces, let fields), .object(let moreInterfaces, let moreFields)):
        merged.content = .object(interfaces: interfaces + moreInterfaces, fields: fields + moreFields)
      case (.interface(let interfaces, let fields), .interface(let moreInterfaces, let moreFields)):
        merged.content = .interface(interfaces: interfaces + moreInterfaces, fields: fields + moreFields)
      case (.union(let members), .union(let more)): merged.content = .union(members: members + more)
      case (.enumeration(let values), .enumeration(let more)): merged.content = .enumeration(values: values + more)
      case (.inputObject(let fields), .inputObject(let more)): merged.content = .inputObject(fields: fields + more)
      case (.scalar, _), (.object, _), (.interface, _), (.union, _), (.enumeration, _), (.inputObject, _): break
      }
    }
    return merged
  }
}
