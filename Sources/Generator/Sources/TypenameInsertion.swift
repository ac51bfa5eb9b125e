import MartletGraphQLLanguage

/// Adds `__typename` where a result needs it: beside type conditions that only some objects satisfy.
struct TypenameInsertion {
  let schema: Schema
  let fragments: [String: FragmentDefinition]

  func operation(_ operation: OperationDefinition) -> OperationDefinition {
    guard let root = schema.rootType(operation.kind) else { return operation }
    // The description is for readers of the file; servers need not see it.
    return OperationDefinition(
      kind: operation.kind, name: operation.name,
      variables: operation.variables.map { variable in
        var variable = variable
        variable.description = nil
        return variable
      }, directives: operation.directives, selectionSet: set(operation.selectionSet, on: root),
      location: operation.location)
  }

  func fragment(_ fragment: FragmentDefinition) -> FragmentDefinition {
    guard let type = schema.type(fragment.typeCondition.text) else { return fragment }
    return FragmentDefinition(
      name: fragment.name, typeCondition: fragment.typeCondition, directives: fragment.directives,
      selectionSet: set(fragment.selectionSet, on: type), location: fragment.location)
  }

  private func set(_ set: SelectionSet, on parent: NamedType) -> SelectionSet {
    var narrows = false
    var hasTypename = false
    var selections: [Selection] = []
    for selection in set.selections {
      switch selection {
      case .field(let field):
        if field.responseName == "__typename", field.directives.isEmpty { hasTypename = true }
        guard let inner = field.selectionSet, let definition = schema.field(field.name.text, on: parent) else {
          selections.append(selection)
          continue
        }
        selections.append(
          .field(
            Field(
              alias: field.alias, name: field.name, arguments: field.arguments, directives: field.directives,
              selectionSet: self.set(inner, on: schema[definition.type.named]))))
      case .inlineFragment(let fragment):
        let type = fragment.typeCondition.flatMap { schema.type($0.text) } ?? parent
        narrows = narrows || !covers(type, parent)
        selections.append(
          .inlineFragment(
            InlineFragment(
              typeCondition: fragment.typeCondition, directives: fragment.directives,
              selectionSet: self.set(fragment.selectionSet, on: type), location: fragment.location)))
      case .fragmentSpread(let spread):
        if let type = fragments[spread.name.text].flatMap({ schema.type($0.typeCondition.text) }) {
          narrows = narrows || !covers(type, parent)
        }
        selections.append(selection)
      }
    }
    if narrows, !hasTypename { selections.insert(.field(Field(name: Name("__typename"))), at: 0) }
    return SelectionSet(selections, location: set.location)
  }

  private func covers(_ type: NamedType, _ parent: NamedType) -> Bool {
    type === parent || Set(parent.possibleTypes).isSubset(of: type.possibleTypes)
  }
}
