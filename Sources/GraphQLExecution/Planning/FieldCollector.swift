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
  private(set) var groups: [[CollectedField]] = []
  /// The deferred fragments found; outer ones before those inside them.
  private(set) var usages: [DeferUsage] = []
  /// Deferred fragments that may still be planned. Further ones become part of what is around them, as do all when
  /// this is zero from the start.
  private(set) var deferrals: Int
  private var visited: Set<Visit> = []

  /// A fragment that has been collected, and the deferred fragment it was collected into.
  private struct Visit: Hashable {
    var fragment: String
    var usage: ObjectIdentifier?
  }

  init(
    schema: Schema, fragments: [String: FragmentDefinition], variables: JSONObject, type: NamedType, deferrals: Int
  ) {
    self.schema = schema
    self.fragments = fragments
    self.variables = variables
    self.type = type
    self.deferrals = deferrals
  }

  mutating func collect(_ selectionSet: SelectionSet, into usage: DeferUsage? = nil) throws(PlanFault) {
    for selection in selectionSet.selections {
      guard try isIncluded(selection.directives) else { continue }
      switch selection {
      case .field(let field):
        let name = field.responseName
        if let index = names[name] {
          groups[index].append(CollectedField(node: field, usage: usage))
        } else {
          names[name] = groups.count
          groups.append([CollectedField(node: field, usage: usage)])
        }
      case .fragmentSpread(let spread):
        guard !isVisited(spread.name.text, usage), let fragment = fragments[spread.name.text] else { continue }
        guard applies(fragment.typeCondition) else { continue }
        let inner = try deferral(spread.directives, in: usage) ?? usage
        visited.insert(Visit(fragment: spread.name.text, usage: inner.map { ObjectIdentifier($0) }))
        try collect(fragment.selectionSet, into: inner)
      case .inlineFragment(let fragment):
        guard fragment.typeCondition.map({ applies($0) }) ?? true else { continue }
        try collect(fragment.selectionSet, into: try deferral(fragment.directives, in: usage) ?? usage)
      }
    }
  }

  /// Whether the fragment's fields come with `usage` or before it anyway.
  private func isVisited(_ fragment: String, _ usage: DeferUsage?) -> Bool {
    if visited.isEmpty { return false }
    var outer = usage
    while let usage = outer {
      if visited.contains(Visit(fragment: fragment, usage: ObjectIdentifier(usage))) { return true }
      outer = usage.parent
    }
    return visited.contains(Visit(fragment: fragment, usage: nil))
  }

  /// The deferred fragment that begins here; nil when none does.
  private mutating func deferral(_ directives: [Directive], in parent: DeferUsage?) throws(PlanFault) -> DeferUsage? {
    guard deferrals > 0, let directive = directives.first(where: { $0.name.text == "defer" }),
      try isOn(directive)
    else { return nil }
    deferrals -= 1
    let usage = DeferUsage(label: directive.argument("label")?.stringText, parent: parent)
    usages.append(usage)
    return usage
  }

  /// The `@stream` of a field; nil when it is delivered whole.
  func stream(_ directives: [Directive]) throws(PlanFault) -> Directive? {
    guard let directive = directives.first(where: { $0.name.text == "stream" }), try isOn(directive) else {
      return nil
    }
    return directive
  }

  /// The value of `if` of `@defer` or `@stream`, true by default.
  private func isOn(_ directive: Directive) throws(PlanFault) -> Bool {
    guard let literal = directive.argument("if") else { return true }
    if case .variable(let variable) = literal.kind, variables[variable] == nil { return true }
    return try condition(directive.name.text, [directive]) ?? true
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

/// A place where the document selects a field.
struct CollectedField {
  let node: Field
  /// The innermost deferred fragment around the place; nil when it is not deferred.
  let usage: DeferUsage?
}

/// The variables that decide what is part of an operation.
struct ConditionVariables {
  private(set) var names: [String] = []
  /// Those that decide what is deferred or streamed.
  private(set) var incremental: [String] = []
  /// Whether `@defer` or `@stream` stands anywhere.
  private(set) var hasIncremental = false
  private var visited: Set<String> = []

  mutating func find(in selectionSet: SelectionSet, fragments: [String: FragmentDefinition]) {
    for selection in selectionSet.selections {
      for directive in selection.directives where directive.name.text == "skip" || directive.name.text == "include" {
        if case .variable(let name)? = directive.argument("if")?.kind, !names.contains(name) { names.append(name) }
      }
      for directive in selection.directives where directive.name.text == "defer" || directive.name.text == "stream" {
        hasIncremental = true
        if case .variable(let name)? = directive.argument("if")?.kind, !incremental.contains(name) {
          incremental.append(name)
        }
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
