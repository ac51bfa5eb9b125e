internal import MartletGraphQLDocuments

/// Adds to a document what normalization needs: `__typename` in every selection below the root, and key fields where
/// the schema says that the type has them.
struct IdentityFields {
  private let schema: Schema?
  private let keyFields: [String: [String]]
  private let defaultKeyFields: [String]
  /// The fields that were added; their values are not part of results.
  private(set) var added: Set<ObjectIdentifier> = []
  private var nodes: [String: Field] = [:]
  /// Names in the response that the document uses, and those that stand for a field of another name.
  private var used: Set<String> = []
  private var aliases: Set<String> = []
  private var uniform: [String: Bool] = [:]
  private var fragments: [String: FragmentDefinition] = [:]
  /// Key fields that fragments are given, by the fragment's name.
  private var needed: [String: Set<String>] = [:]

  init(schema: Schema?, configuration: GraphQLStoreConfiguration) {
    self.schema = schema
    keyFields = configuration.keyFields
    defaultKeyFields = configuration.defaultKeyFields
  }

  mutating func adding(to document: Document) -> Document {
    fragments = Dictionary(document.fragments.map { ($0.name.text, $0) }) { first, _ in first }
    for definition in document.definitions {
      switch definition {
      case .operation(let operation): survey(operation.selectionSet, on: schema?.rootType(operation.kind))
      case .fragment(let fragment): survey(fragment.selectionSet, on: schema?.type(fragment.typeCondition.text))
      case .schema, .schemaExtension, .type, .typeExtension, .directive: break
      }
    }
    var result = document
    result.definitions = document.definitions.map { definition in
      switch definition {
      case .operation(let operation):
        let root = schema?.rootType(operation.kind)
        return .operation(
          OperationDefinition(
            description: operation.description, kind: operation.kind, name: operation.name,
            variables: operation.variables, directives: operation.directives,
            selectionSet: set(operation.selectionSet, on: root, adding: []), location: operation.location))
      case .fragment(let fragment):
        let type = schema?.type(fragment.typeCondition.text)
        return .fragment(
          FragmentDefinition(
            description: fragment.description, name: fragment.name, typeCondition: fragment.typeCondition,
            directives: fragment.directives,
            selectionSet: set(
              fragment.selectionSet, on: type, adding: (needed[fragment.name.text] ?? []).filter { isOneType($0) }),
            location: fragment.location))
      case .schema, .schemaExtension, .type, .typeExtension, .directive: return definition
      }
    }
    return result
  }

  /// Looks through a set for the names it uses, and for fragments on types that have key fields where the place they
  /// are spread at has none: a member of a union.
  private mutating func survey(_ set: SelectionSet, on type: NamedType?, having more: Set<String> = []) {
    let known = more.union(keys(of: type))
    for selection in set.selections {
      switch selection {
      case .field(let field):
        used.insert(field.responseName)
        if field.responseName != field.name.text { aliases.insert(field.responseName) }
        if let inner = field.selectionSet { survey(inner, on: self.type(of: field, on: type)) }
      case .inlineFragment(let fragment):
        survey(
          fragment.selectionSet, on: fragment.typeCondition.flatMap { schema?.type($0.text) } ?? type, having: known)
      case .fragmentSpread(let spread):
        guard let fragment = fragments[spread.name.text] else { continue }
        let missing = Set(keys(of: schema?.type(fragment.typeCondition.text))).subtracting(known)
        if !missing.isEmpty { needed[spread.name.text, default: []].formUnion(missing) }
      }
    }
  }

  private func type(of field: Field, on parent: NamedType?) -> NamedType? {
    let known = parent.flatMap { schema?.field(field.name.text, on: $0) }
    return known.flatMap { schema?[$0.type.named] }
  }

  /// - Parameters:
  ///   - names: fields to add if they are not there.
  ///   - known: key fields that the object is asked for already.
  private mutating func set(
    _ set: SelectionSet, on type: NamedType?, adding names: Set<String>, having known: Set<String> = []
  ) -> SelectionSet {
    let known = known.union(keys(of: type))
    var selections = set.selections.map { selection(of: $0, on: type, known) }
    if names.contains("__typename"), !set.selections.contains(where: { $0.isTypename }) {
      selections.append(.field(node("__typename")))
    }
    for name in keys(of: type) where names.contains(name) && !set.selections.contains(where: { $0.shows(name) }) {
      selections.append(.field(node(name)))
    }
    return SelectionSet(selections, location: set.location)
  }

  private mutating func selection(of selection: Selection, on type: NamedType?, _ known: Set<String>) -> Selection {
    switch selection {
    case .field(let field):
      guard let inner = field.selectionSet else { return selection }
      let result = self.type(of: field, on: type)
      return .field(
        Field(
          alias: field.alias, name: field.name, arguments: field.arguments, directives: field.directives,
          selectionSet: set(inner, on: result, adding: Set(["__typename"] + keys(of: result)))))
    case .inlineFragment(let fragment):
      let condition = fragment.typeCondition.flatMap { schema?.type($0.text) } ?? type
      let missing = keys(of: condition).filter { !known.contains($0) && isOneType($0) }
      return .inlineFragment(
        InlineFragment(
          typeCondition: fragment.typeCondition, directives: fragment.directives,
          selectionSet: set(fragment.selectionSet, on: condition, adding: Set(missing), having: known),
          location: fragment.location))
    case .fragmentSpread: return selection
    }
  }

  /// The key fields the type certainly has.
  private func keys(of type: NamedType?) -> [String] {
    guard let type, type.isComposite, !type.isIntrospection, !isRoot(type) else { return [] }
    let names = keyFields[type.name] ?? defaultKeyFields
    return names.filter { type.field($0)?.arguments.contains { $0.isRequired } == false }
  }

  private func isRoot(_ type: NamedType) -> Bool {
    OperationKind.allCases.contains { schema?.rootType($0) === type }
  }

  /// Whether a key field has one type wherever it is: fields of one name in the response must, also in fragments that
  /// never apply together.
  private mutating func isOneType(_ name: String) -> Bool {
    if let known = uniform[name] { return known }
    let found = Set((schema?.types ?? []).compactMap { $0.isComposite ? $0.field(name)?.type : nil })
    uniform[name] = found.count == 1
    return found.count == 1
  }

  private mutating func node(_ name: String) -> Field {
    if let known = nodes[name] { return known }
    let field: Field
    if aliases.contains(name) {
      // Two fields of one name in the response would be refused: the store finds it by another.
      var alias = "key_" + name
      while used.contains(alias) { alias += "_" }
      field = Field(alias: Name(alias), name: Name(name))
    } else {
      field = Field(name: Name(name))
    }
    nodes[name] = field
    added.insert(ObjectIdentifier(field))
    return field
  }
}

extension Selection {
  /// Whether this is the type's name, where the store looks for it.
  fileprivate var isTypename: Bool {
    if case .field(let field) = self { field.responseName == "__typename" && field.directives.isEmpty } else { false }
  }

  /// Whether this is the field itself, under whichever name.
  fileprivate func shows(_ name: String) -> Bool {
    guard case .field(let field) = self else { return false }
    return field.name.text == name && field.arguments.isEmpty && field.directives.isEmpty && field.selectionSet == nil
  }
}
