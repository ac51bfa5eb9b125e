package import MartletGraphQLLanguage

/// Writes an operation for each root field of a schema: all arguments as variables, and the fields that can be selected
/// without arguments, to a depth.
package struct SchemaOperations {
  private let schema: Schema
  private let depth: Int

  /// How deep selections go by default: the root field's own fields, and those one object further in, which is
  /// where lists of records are.
  package static let defaultDepth = 2
  /// The deepest that can be asked for; selections grow with every level.
  package static let maximumDepth = 8

  /// One document for each root field, named as its operation, in order of kinds and fields.
  ///
  /// - Parameter depth: objects inside each other that are selected, 1 to `maximumDepth`.
  package static func documents(for schema: Schema, depth: Int = defaultDepth) -> [GeneratedFile] {
    let writer = SchemaOperations(schema: schema, depth: min(max(depth, 1), maximumDepth))
    var taken: Set<String> = []
    var files: [GeneratedFile] = []
    for kind in OperationKind.allCases {
      for field in schema.rootType(kind)?.fields ?? [] {
        guard let selections = writer.selections(of: field.type, level: 1, path: []) else { continue }
        // A query and a mutation of one name stay apart.
        var name = SwiftName.type(field.name)
        if !taken.insert(name).inserted {
          name += SwiftName.capitalised(kind.rawValue)
          taken.insert(name)
        }
        let operation = writer.operation(kind, name, field, selections)
        files.append(
          GeneratedFile(
            name: name + ".graphql", text: Printer.text(of: Document(definitions: [.operation(operation)]))))
      }
    }
    return files
  }

  private func operation(
    _ kind: OperationKind, _ name: String, _ field: SchemaField, _ selections: [Selection]
  ) -> OperationDefinition {
    let variables = field.arguments.map { argument in
      // The default is the server's: a variable that is not given leaves the argument out.
      let type = argument.defaultValue == nil ? argument.type : argument.type.nullable
      return VariableDefinition(name: Name(argument.name), type: reference(type))
    }
    let arguments = field.arguments.map {
      Argument(name: Name($0.name), value: Value(.variable($0.name)))
    }
    let root = Field(
      name: Name(field.name), arguments: arguments,
      selectionSet: selections.isEmpty ? nil : SelectionSet(selections))
    return OperationDefinition(
      description: field.description.map { StringValue($0) }, kind: kind, name: Name(name), variables: variables,
      selectionSet: SelectionSet([.field(root)]))
  }

  /// What to select on values of a type: nothing for leaves; nil where an object has nothing to select at this depth.
  private func selections(of type: WrappedType, level: Int, path: [TypeID]) -> [Selection]? {
    let named = schema[type.named]
    guard named.isComposite else { return [] }
    guard level <= depth, !path.contains(named.id) else { return nil }
    let path = path + [named.id]
    var selections = fields(of: named, level: level, path: path)
    guard named.isAbstract else { return selections.isEmpty ? nil : selections }
    selections.insert(.field(Field(name: Name("__typename"))), at: 0)
    // One response name must mean one type whatever the object is, so the first object to use it decides.
    var shapes: [String: WrappedType] = Dictionary(
      named.fields.map { ($0.name, $0.type) }, uniquingKeysWith: { first, _ in first })
    for id in named.possibleTypes {
      let object = schema[id]
      let own = fields(of: object, level: level, path: path + [id]).filter { selection in
        guard case .field(let field) = selection, named.field(field.name.text) == nil,
          let definition = object.field(field.name.text)
        else { return false }
        if let known = shapes[field.name.text] { return known == definition.type && field.selectionSet == nil }
        shapes[field.name.text] = definition.type
        return true
      }
      guard !own.isEmpty else { continue }
      selections.append(
        .inlineFragment(InlineFragment(typeCondition: Name(object.name), selectionSet: SelectionSet(own))))
    }
    return selections
  }

  private func fields(of type: NamedType, level: Int, path: [TypeID]) -> [Selection] {
    type.fields.compactMap { field in
      guard field.deprecationReason == nil, !field.arguments.contains(where: \.isRequired),
        let inner = selections(of: field.type, level: level + 1, path: path)
      else { return nil }
      return .field(Field(name: Name(field.name), selectionSet: inner.isEmpty ? nil : SelectionSet(inner)))
    }
  }

  private func reference(_ type: WrappedType) -> TypeReference {
    if type.isNonNull { return .nonNull(reference(type.nullable)) }
    if let element = type.element { return .list(reference(element)) }
    return .named(schema[type.named].name)
  }
}
