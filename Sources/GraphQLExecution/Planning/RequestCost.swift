internal import MartletGraphQLLanguage
package import MartletJSON

/// What requests with one operation cost, of which validation sees the document alone: variables may say how long its
/// lists and pages are.
package struct RequestCost: Sendable {
  private let operation: OperationDefinition
  private let fragments: [String: FragmentDefinition]
  private let schema: ExecutableSchema
  /// The defaults of the variables that have one.
  private let defaults: [String: JSONValue]
  /// Whether a variable says how long a list or page is, so that each request has a cost of its own.
  package let dependsOnVariables: Bool

  init(
    _ operation: OperationDefinition, fragments: [String: FragmentDefinition], schema: ExecutableSchema,
    variables: [VariablePlan]
  ) {
    self.operation = operation
    self.fragments = fragments
    self.schema = schema
    let pairs = variables.compactMap { variable in variable.defaultValue.map { (variable.name, $0) } }
    defaults = Dictionary(pairs) { first, _ in first }
    var asksVariables = false
    // A length is a whole number: most operations have no variable of that type, and are not walked for it.
    let mayAsk = variables.contains { schema.schema.describe($0.type).utf8.starts(with: "Int".utf8) }
    guard mayAsk else {
      dependsOnVariables = false
      return
    }
    _ = OperationCost.estimate(operation, fragments: fragments, schema: schema.schema) { _ in
      asksVariables = true
      return nil
    }
    dependsOnVariables = asksVariables
  }

  /// The estimated cost with these variables, coerced or as they were given.
  package func estimate(_ variables: JSONObject) -> Int {
    OperationCost.estimate(
      operation, fragments: fragments, schema: schema.schema, largestPage: schema.limits.validation.largestPage
    ) { [defaults] name in
      ((variables[name] ?? defaults[name])?.int).map { Int(clamping: $0) }
    }
  }

  /// Why a request with these variables costs too much; nil when it does not.
  func refusal(of variables: JSONObject) -> GraphQLError? {
    guard dependsOnVariables else { return nil }
    let allowed = schema.limits.validation.complexity
    return OperationCost.refusal(of: operation, cost: estimate(variables), allowed: allowed).map {
      GraphQLError(message: $0, locations: [operation.location.source].compactMap { $0 })
    }
  }
}
