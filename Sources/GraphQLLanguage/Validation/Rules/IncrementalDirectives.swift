/// `@defer` and `@stream` stand where incremental delivery is possible, and their labels are unique.
enum IncrementalDirectives {
  /// What needs no more than the selection and its parent's type.
  static func check(_ selection: Selection, on parent: NamedType?, _ validation: Validation) {
    for directive in selection.directives {
      let name = directive.name.text
      guard name == "defer" || name == "stream" else { continue }
      validation.facts.incremental.append(directive)
      checkRoot(directive, on: parent, validation)
      checkLabel(directive, validation)
      if name == "stream", case .field(let field) = selection, let parent,
        let definition = validation.schema.field(field.name.text, on: parent), !definition.type.isList
      {
        validation.report(
          .streamDirectiveOnListField,
          "Directive '@stream' cannot be used on non-list field '\(parent.name).\(definition.name)'.",
          directive.location)
      }
    }
  }

  private static func checkRoot(_ directive: Directive, on parent: NamedType?, _ validation: Validation) {
    guard let parent else { return }
    for (root, kind) in [
      (validation.schema.mutationType, "mutation"), (validation.schema.subscriptionType, "subscription"),
    ]
    where root === parent {
      validation.report(
        .deferStreamDirectiveOnRootField,
        "Directive '@\(directive.name.text)' cannot be used on root \(kind) type '\(parent.name)'.", directive.location)
    }
  }

  private static func checkLabel(_ directive: Directive, _ validation: Validation) {
    guard let label = directive.argument("label") else { return }
    guard let text = label.stringText else {
      validation.report(
        .deferStreamDirectiveLabel, "Argument 'label' of directive '@\(directive.name.text)' must be a static string.",
        directive.location)
      return
    }
    guard let first = validation.labels.updateValue(directive.location, forKey: text) else { return }
    validation.labels[text] = first
    validation.report(
      .deferStreamDirectiveLabel, "The label '\(text)' of '@defer' and '@stream' must be unique in a document.", first,
      directive.location)
  }

  /// What depends on the operation: a subscription cannot deliver one event in parts.
  static func check(_ operation: OperationDefinition, _ facts: Validation.Facts, _ validation: Validation) {
    guard operation.kind == .subscription else { return }
    var applied = facts.incremental
    for name in validation.fragmentNames(reachableFrom: facts) {
      applied += validation.facts(ofFragment: name)?.incremental ?? []
    }
    for directive in applied where !canBeOff(directive) {
      validation.report(
        .deferStreamDirectiveOnValidOperations,
        "Directive '@\(directive.name.text)' is not supported on subscription operations. Disable it by setting the "
          + "'if' argument to false.", directive.location)
    }
  }

  private static func canBeOff(_ directive: Directive) -> Bool {
    switch directive.argument("if")?.kind {
    case .boolean(let flag): !flag
    case .variable: true
    case .int, .float, .string, .null, .enumeration, .list, .object, nil: false
    }
  }
}
