/// Checks requests against a schema (section 5 "Validation").
package enum Validator {
  /// All errors of the executable document, in no promised order; empty when it can be executed.
  ///
  /// - Parameter suggests: Whether messages say what a misspelt name may have meant, which shows parts of the schema.
  package static func validate(
    _ document: Document, against schema: Schema, limits: ValidationLimits = ValidationLimits(), suggests: Bool = true
  ) -> [GraphQLError] {
    validate(document, against: schema, limits: limits, suggests: suggests, settingAside: []).errors
  }

  /// The same, with the errors of some rules apart: they do not count towards the limit of errors.
  package static func validate(
    _ document: Document, against schema: Schema, limits: ValidationLimits, suggests: Bool = true,
    settingAside rules: Set<ValidationRule>
  ) -> (errors: [GraphQLError], aside: [GraphQLError]) {
    let validation = Validation(
      document: document, schema: schema, limits: limits, suggests: suggests, settingAside: rules)
    validation.run()
    return (validation.errors, validation.aside)
  }
}

/// The state of one validation: what is known about the document, and the errors so far.
///
/// The document is walked once. The walk knows the types and calls the rules by name, so that a node costs as much as
/// the rules that look at it. What rules need about whole operations is collected on the way.
final class Validation {
  /// A use of a variable.
  struct VariableUsage {
    var name: String
    var location: Location
    /// The type of the position; nil when it is unknown.
    var type: WrappedType?
    var hasLocationDefault: Bool
    /// The input object whose field the variable is, when that takes exactly one field.
    var oneOf: NamedType?
  }

  /// What the walk found in one operation or fragment.
  struct Facts {
    var usages: [VariableUsage] = []
    var spreads: [FragmentSpread] = []
    /// Applications of `@defer` and `@stream`, in a schema that has them.
    var incremental: [Directive] = []
  }

  let schema: Schema
  let document: Document
  let limits: ValidationLimits
  /// Whether messages say what a misspelt name may have meant.
  let suggests: Bool
  private(set) var errors: [GraphQLError] = []
  /// Errors of the rules that the caller sets aside: as many as the document has.
  private(set) var aside: [GraphQLError] = []
  private let rulesAside: Set<ValidationRule>
  /// The fragments by name; of several with one name, the last.
  private(set) var fragments: [String: FragmentDefinition] = [:]
  private(set) var operations: [(definition: OperationDefinition, facts: Facts)] = []
  private(set) var fragmentFacts: [ObjectIdentifier: Facts] = [:]
  var facts = Facts()
  var overlap = OverlappingFieldsCanBeMerged()
  /// The labels of `@defer` and `@stream` so far, with their places.
  var labels: [String: Location] = [:]

  init(
    document: Document, schema: Schema, limits: ValidationLimits, suggests: Bool = true,
    settingAside rules: Set<ValidationRule> = []
  ) {
    self.suggests = suggests
    rulesAside = rules
    self.document = document
    self.schema = schema
    self.limits = limits
    for definition in document.definitions {
      if case .fragment(let fragment) = definition { fragments[fragment.name.text] = fragment }
    }
  }

  func run() {
    guard ExpandedDepth.check(self) else { return }
    let definedOperations = document.operations
    ExecutableDefinitions.check(self)
    UniqueOperationNames.check(definedOperations, self)
    LoneAnonymousOperation.check(definedOperations, self)
    for definition in document.definitions {
      facts = Facts()
      switch definition {
      case .operation(let operation):
        walk(operation)
        operations.append((operation, facts))
      case .fragment(let fragment):
        walk(fragment)
        fragmentFacts[ObjectIdentifier(fragment)] = facts
      case .schema, .schemaExtension, .type, .typeExtension, .directive: break
      }
    }
    for (operation, facts) in operations {
      let usages = usages(reachableFrom: facts)
      NoUndefinedVariables.check(operation, usages, self)
      NoUnusedVariables.check(operation, usages, self)
      VariablesInAllowedPosition.check(operation, usages, self)
      SingleFieldSubscriptions.check(operation, self)
      if schema.options.incrementalDelivery { IncrementalDirectives.check(operation, facts, self) }
    }
    if !fragments.isEmpty {
      UniqueFragmentNames.check(self)
      NoUnusedFragments.check(self)
      NoFragmentCycles.check(self)
    }
    if errors.isEmpty { OperationCost.check(definedOperations, self) }
  }

  func report(_ rule: ValidationRule, _ message: @autoclosure () -> String, _ locations: Location...) {
    report(rule, message(), locations)
  }

  func report(_ rule: ValidationRule, _ message: @autoclosure () -> String, _ locations: [Location]) {
    if rulesAside.contains(rule) {
      aside.append(GraphQLError(message: message(), locations: locations.compactMap(\.source), rule: rule.rawValue))
      return
    }
    guard errors.count <= limits.errors else { return }
    if errors.count == limits.errors {
      errors.append(
        GraphQLError(
          message: "Too many validation errors, error limit reached. Validation aborted.",
          rule: ValidationRule.validationLimits.rawValue))
      return
    }
    errors.append(
      GraphQLError(message: message(), locations: locations.compactMap(\.source), rule: rule.rawValue))
  }

  /// The facts of the fragment called `name`.
  func facts(ofFragment name: String) -> Facts? {
    fragments[name].flatMap { fragmentFacts[ObjectIdentifier($0)] }
  }

  /// The uses of variables in an operation and in all fragments it reaches.
  private func usages(reachableFrom facts: Facts) -> [VariableUsage] {
    guard !facts.spreads.isEmpty else { return facts.usages }
    var usages = facts.usages
    for name in fragmentNames(reachableFrom: facts) {
      if let more = self.facts(ofFragment: name) { usages += more.usages }
    }
    return usages
  }

  /// The names of the fragments an operation or fragment reaches, each once.
  func fragmentNames(reachableFrom facts: Facts) -> [String] {
    var seen: Set<String> = []
    var names: [String] = []
    var waiting = facts.spreads
    while let spread = waiting.popLast() {
      guard seen.insert(spread.name.text).inserted else { continue }
      names.append(spread.name.text)
      if let more = self.facts(ofFragment: spread.name.text) { waiting += more.spreads }
    }
    return names
  }
}
