extension Validation {
  /// Visits everything in an operation.
  func walk(_ operation: OperationDefinition) {
    KnownOperationTypes.check(operation, self)
    if !operation.variables.isEmpty { walk(operation.variables) }
    if !operation.directives.isEmpty {
      walk(operation.directives, at: operation.kind.directiveLocation)
    }
    walk(operation.selectionSet, on: schema.rootType(operation.kind))
  }

  /// Visits everything in a fragment.
  func walk(_ fragment: FragmentDefinition) {
    let type = KnownTypeNames.check(fragment.typeCondition, self)
    if let type { FragmentsOnCompositeTypes.check(type, fragment.typeCondition, fragment: fragment, self) }
    if !fragment.directives.isEmpty { walk(fragment.directives, at: .fragmentDefinition) }
    walk(fragment.selectionSet, on: type?.isComposite == true ? type : nil)
  }

  private func walk(_ variables: [VariableDefinition]) {
    UniqueVariableNames.check(variables, self)
    for variable in variables {
      if KnownTypeNames.check(variable.type.name, self) != nil {
        let type = schema.resolve(variable.type)
        if let type { VariablesAreInputTypes.check(variable, type, self) }
        if let value = variable.defaultValue {
          walk(value, type: type.flatMap { schema[$0.named].isInput ? $0 : nil })
        }
      } else if let value = variable.defaultValue {
        walk(value, type: nil)
      }
      if !variable.directives.isEmpty { walk(variable.directives, at: .variableDefinition) }
    }
  }

  /// Visits the selections made on `parent`, which is nil when the type is unknown.
  private func walk(_ set: SelectionSet, on parent: NamedType?) {
    overlap.check(set, on: parent, self)
    for selection in set.selections {
      if schema.options.incrementalDelivery { IncrementalDirectives.check(selection, on: parent, self) }
      switch selection {
      case .field(let field): walk(field, on: parent)
      case .fragmentSpread(let spread):
        facts.spreads.append(spread)
        if !spread.directives.isEmpty { walk(spread.directives, at: .fragmentSpread) }
        if let fragment = KnownFragmentNames.check(spread, self), let parent {
          PossibleFragmentSpreads.check(spread, fragment, on: parent, self)
        }
      case .inlineFragment(let fragment):
        var type = parent
        if let condition = fragment.typeCondition {
          type = KnownTypeNames.check(condition, self)
          if let known = type {
            FragmentsOnCompositeTypes.check(known, condition, fragment: nil, self)
            if !known.isComposite { type = nil }
          }
          if let type, let parent { PossibleFragmentSpreads.check(fragment, type, on: parent, self) }
        }
        if !fragment.directives.isEmpty { walk(fragment.directives, at: .inlineFragment) }
        walk(fragment.selectionSet, on: type)
      }
    }
  }

  private func walk(_ field: Field, on parent: NamedType?) {
    let definition = parent.flatMap { FieldsOnCorrectType.check(field, on: $0, self) }
    if let definition {
      ScalarLeafs.check(field, definition, self)
      if parent === schema.queryType { MaxIntrospectionDepth.check(field, definition, self) }
    }
    if !field.arguments.isEmpty || definition?.arguments.isEmpty == false {
      let owner = definition.map { ArgumentOwner.field($0, parent) } ?? .unknown
      walk(field.arguments, of: owner, at: field.location)
    }
    if !field.directives.isEmpty { walk(field.directives, at: .field) }
    if let set = field.selectionSet {
      let type = definition.map { schema[$0.type.named] }
      walk(set, on: type?.isComposite == true ? type : nil)
    }
  }

  func walk(_ directives: [Directive], at location: DirectiveLocation) {
    UniqueDirectivesPerLocation.check(directives, self)
    for directive in directives {
      let definition = KnownDirectives.check(directive, at: location, self)
      walk(
        directive.arguments, of: definition.map { .directive($0) } ?? .unknown, at: directive.location)
    }
  }

  private func walk(_ arguments: [Argument], of owner: ArgumentOwner, at location: Location) {
    if arguments.count > 1 { UniqueArgumentNames.check(arguments, self) }
    for argument in arguments {
      let input = KnownArgumentNames.check(argument, of: owner, self)
      walk(argument.value, type: input?.type, hasDefault: input?.defaultValue != nil)
    }
    ProvidedRequiredArguments.check(arguments, of: owner, at: location, self)
  }

  /// Visits a value at a position of `type`, which is nil when it is unknown.
  private func walk(
    _ value: Value, type: WrappedType?, hasDefault: Bool = false, oneOf: NamedType? = nil
  ) {
    switch value.kind {
    case .variable(let name):
      facts.usages.append(
        VariableUsage(
          name: name, location: value.location, type: type, hasLocationDefault: hasDefault, oneOf: oneOf))
    case .int, .float, .string, .boolean, .null, .enumeration:
      if let type { ValuesOfCorrectType.checkLeaf(value, type, self) }
    case .list(let values):
      var element: WrappedType?
      if let type {
        element = type.element
        if element == nil { ValuesOfCorrectType.checkLeaf(value, type, self) }
      }
      for value in values { walk(value, type: element) }
    case .object(let fields):
      if fields.count > 1 { UniqueInputFieldNames.check(fields, self) }
      var object: NamedType?
      if let type {
        object = ValuesOfCorrectType.checkObject(value, fields, type, self)
      }
      for field in fields {
        let input = object?.inputField(field.name.text)
        walk(
          field.value, type: input?.type, hasDefault: input?.defaultValue != nil,
          oneOf: object?.isOneOf == true ? object : nil)
      }
    }
  }
}

/// What arguments belong to.
enum ArgumentOwner {
  case field(SchemaField, NamedType?)
  case directive(SchemaDirective)
  case unknown
}

extension OperationKind {
  /// Where directives on an operation of this kind stand.
  var directiveLocation: DirectiveLocation {
    switch self {
    case .query: .query
    case .mutation: .mutation
    case .subscription: .subscription
    }
  }
}
