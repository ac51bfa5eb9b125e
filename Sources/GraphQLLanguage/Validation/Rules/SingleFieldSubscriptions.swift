/// A subscription selects exactly one root field, unconditionally, and no introspection field.
enum SingleFieldSubscriptions {
  private struct Collected {
    var names: [String] = []
    var fields: [String: [Field]] = [:]
    var conditions: [Location] = []
    var fragments: Set<String> = []
  }

  static func check(_ operation: OperationDefinition, _ validation: Validation) {
    guard operation.kind == .subscription, let root = validation.schema.subscriptionType else { return }
    var collected = Collected()
    collect(operation.selectionSet, on: root, &collected, validation)
    let subject = operation.name.map { "Subscription '\($0.text)'" } ?? "Anonymous Subscription"
    if !collected.conditions.isEmpty {
      validation.report(
        .singleFieldSubscriptions,
        "\(subject) must not use `@skip` or `@include` directives in the top level selection.", collected.conditions)
      return
    }
    if collected.names.isEmpty {
      validation.report(
        .singleFieldSubscriptions, "\(subject) must select one top level field.", operation.selectionSet.location)
    }
    if collected.names.count > 1 {
      let extra = collected.names.dropFirst().flatMap { collected.fields[$0] ?? [] }
      validation.report(
        .singleFieldSubscriptions, "\(subject) must select only one top level field.", extra.map(\.location))
    }
    for name in collected.names {
      guard let fields = collected.fields[name], let first = fields.first, first.name.text.utf8.starts(with: "__".utf8)
      else { continue }
      validation.report(
        .singleFieldSubscriptions, "\(subject) must not select an introspection top level field.",
        fields.map(\.location))
    }
  }

  /// CollectSubscriptionFields of section 5.2.4.1.
  private static func collect(
    _ set: SelectionSet, on root: NamedType, _ collected: inout Collected, _ validation: Validation
  ) {
    for selection in set.selections {
      let directives = selection.directives
      if let condition = directives.first(where: { $0.name.text == "skip" })
        ?? directives.first(where: { $0.name.text == "include" })
      {
        collected.conditions.append(condition.location)
        continue
      }
      switch selection {
      case .field(let field):
        let name = field.responseName
        if collected.fields[name] == nil { collected.names.append(name) }
        collected.fields[name, default: []].append(field)
      case .inlineFragment(let fragment):
        guard applies(fragment.typeCondition, to: root, validation) else { continue }
        collect(fragment.selectionSet, on: root, &collected, validation)
      case .fragmentSpread(let spread):
        guard collected.fragments.insert(spread.name.text).inserted,
          let fragment = validation.fragments[spread.name.text],
          applies(fragment.typeCondition, to: root, validation)
        else { continue }
        collect(fragment.selectionSet, on: root, &collected, validation)
      }
    }
  }

  private static func applies(_ condition: Name?, to root: NamedType, _ validation: Validation) -> Bool {
    guard let condition else { return true }
    return validation.schema.type(condition.text)?.includes(root.id) ?? false
  }
}
