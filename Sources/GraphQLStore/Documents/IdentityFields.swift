internal import MartletGraphQLLanguage

/// Adds to a document what normalization needs: `__typename` in every selection below the root, and key fields where
/// the schema says that the type has them.
struct IdentityFields {
  private let schema: Schema?
  private let keyFields: [String: [String]]
  private let defaultKeyFields: [String]
  /// The fields that were added; their values are not part of results.
  private(set) var added: Set<ObjectIdentifier> = []
  private var nodes: [String: Field] = [:]

  init(schema: Schema?, configuration: GraphQLStoreConfiguration) {
    self.schema = schema
    keyFields = configuration.keyFields
    defaultKeyFields = configuration.defaultKeyFields
  }

  mutating func adding(to document: Document) -> Document {
    var result = document
    result.definitions = document.definitions.map { definition in
      switch definition {
      case .operation(let operation):
        let root = schema?.rootType(operation.kind)
        return .operation(
          OperationDefinition(
            description: operation.description, kind: operation.kind, name: operation.name,
            variables: operation.variables, directives: operation.directives,
            selectionSet: set(operation.selectionSet, on: root, adds: false), location: operation.location))
      case .fragment(let fragment):
        let type = schema?.type(fragment.typeCondition.text)
        return .fragment(
          FragmentDefinition(
            description: fragment.description, name: fragment.name, typeCondition: fragment.typeCondition,
            directives: fragment.directives, selectionSet: set(fragment.selectionSet, on: type, adds: false),
            location: fragment.location))
      case .schema, .schemaExtension, .type, .typeExtension, .directive: return definition
      }
    }
    return result
  }

  private mutating func set(_ set: SelectionSet, on type: NamedType?, adds: Bool) -> SelectionSet {
    var selections = set.selections.map { selection(of: $0, on: type) }
    if adds {
      for name in ["__typename"] + keys(of: type) where !set.selections.contains(where: { $0.answers(to: name) }) {
        selections.append(.field(node(name)))
      }
    }
    return SelectionSet(selections, location: set.location)
  }

  private mutating func selection(of selection: Selection, on type: NamedType?) -> Selection {
    switch selection {
    case .field(let field):
      guard let inner = field.selectionSet else { return selection }
      let known = type.flatMap { schema?.field(field.name.text, on: $0) }
      let result = known.flatMap { schema?[$0.type.named] }
      return .field(
        Field(
          alias: field.alias, name: field.name, arguments: field.arguments, directives: field.directives,
          selectionSet: set(inner, on: result, adds: true)))
    case .inlineFragment(let fragment):
      let condition = fragment.typeCondition.flatMap { schema?.type($0.text) } ?? type
      return .inlineFragment(
        InlineFragment(
          typeCondition: fragment.typeCondition, directives: fragment.directives,
          selectionSet: set(fragment.selectionSet, on: condition, adds: false), location: fragment.location))
    case .fragmentSpread: return selection
    }
  }

  /// The key fields the type certainly has.
  private func keys(of type: NamedType?) -> [String] {
    guard let type, type.isComposite, !type.isIntrospection else { return [] }
    let names = keyFields[type.name] ?? defaultKeyFields
    return names.filter { type.field($0)?.arguments.contains { $0.isRequired } == false }
  }

  private mutating func node(_ name: String) -> Field {
    if let known = nodes[name] { return known }
    let field = Field(name: Name(name))
    nodes[name] = field
    added.insert(ObjectIdentifier(field))
    return field
  }
}

extension Selection {
  /// Whether this is a field with that name in the response; another field of that name leaves no place for it.
  fileprivate func answers(to name: String) -> Bool {
    if case .field(let field) = self { field.responseName == name && field.directives.isEmpty } else { false }
  }
}
