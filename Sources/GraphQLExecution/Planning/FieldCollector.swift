import MartletGraphQLLanguage
import MartletJSON

/// Collects the fields that a selection asks of one object type, by response name in order of first appearance
/// (section 6.3.2 "CollectFields").
struct FieldCollector {
  let schema: Schema
  let fragments: [String: FragmentDefinition]
  let variables: JSONObject
  let type: NamedType
  private(set) var names: [String: Int] = [:]
  private(set) var groups: [[Field]] = []
  private var visited: Set<String> = []

  init(schema: Schema, fragments: [String: FragmentDefinition], variables: JSONObject, type: NamedType) {
    self.schema = schema
    self.fragments = fragments
    self.variables = variables
    self.type = type
  }

  mutating func collect(_ selectionSet: SelectionSet) throws(PlanFault) {
    for selection in selectionSet.selections {
      guard try isIncluded(selection.directives) else { continue }
      switch selection {
      case .field(let field):
        let name = field.responseName
        if let index = names[name] {
          groups[index].append(field)
        } else {
          names[name] = groups.count
          groups.append([field])
        }
      case .fragmentSpread(let spread):
        guard !visited.contains(spread.name.text), let fragment = fragments[spread.name.text] else { continue }
        visited.insert(spread.name.text)
        if applies(fragment.typeCondition) { try collect(fragment.selectionSet) }
      case .inlineFragment(let fragment):
        if fragment.typeCondition.map({ applies($0) }) ?? true { try collect(fragment.selectionSet) }
      }
    }
  }

  private func applies(_ condition: Name) -> Bool {
    schema.type(condition.text)?.includes(type.id) ?? false
  }

  private func isIncluded(_ directives: [Directive]) throws(PlanFault) -> Bool {
    if directives.isEmpty { return true }
    if try condition("skip", directives) == true { return false }
    return try condition("include", directives) ?? true
  }

  /// The value of `if` on the directive called `name`; nil when the directive is not there.
  private func condition(_ name: String, _ directives: [Directive]) throws(PlanFault) -> Bool? {
    guard let directive = directives.first(where: { $0.name.text == name }) else { return nil }
    guard let literal = directive.argument("if") else { return nil }
    switch literal.kind {
    case .boolean(let flag): return flag
    case .variable(let variable):
      if case .bool(let flag)? = variables[variable] { return flag }
      let what = "Argument 'if' has invalid value: Expected variable '$\(variable)' provided to "
      let missing =
        variables[variable] == nil
        ? "type 'Boolean!' to provide a runtime value." : "non-null type 'Boolean!' not to be null."
      throw PlanFault(message: what + missing, locations: [literal.location.source].compactMap { $0 })
    case .int, .float, .string, .null, .enumeration, .list, .object: return nil
    }
  }
}

/// The variables that decide what is part of an operation.
struct ConditionVariables {
  private(set) var names: [String] = []
  private var visited: Set<String> = []

  mutating func find(in selectionSet: SelectionSet, fragments: [String: FragmentDefinition]) {
    for selection in selectionSet.selections {
      for directive in selection.directives where directive.name.text == "skip" || directive.name.text == "include" {
        if case .variable(let name)? = directive.argument("if")?.kind, !names.contains(name) { names.append(name) }
      }
      switch selection {
      case .field(let field):
        if let selectionSet = field.selectionSet { find(in: selectionSet, fragments: fragments) }
      case .inlineFragment(let fragment):
        find(in: fragment.selectionSet, fragments: fragments)
      case .fragmentSpread(let spread):
        guard visited.insert(spread.name.text).inserted, let fragment = fragments[spread.name.text] else { continue }
        find(in: fragment.selectionSet, fragments: fragments)
      }
    }
  }
}
