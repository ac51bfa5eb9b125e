package import MartletGraphQLLanguage
package import MartletJSON
internal import MartletRuntime

/// One operation of one valid document, ready to be executed any number of times.
///
/// What `@skip` and `@include` leave out depends on variables; each combination of their values has a variant, made
/// when it is first needed.
package final class OperationPlan: Sendable {
  package let schema: ExecutableSchema
  package let operation: OperationDefinition
  package let root: NamedType
  let fragments: [String: FragmentDefinition]
  let variables: [VariablePlan]
  let conditions: [String]
  /// The variables that decide what is deferred or streamed.
  private let incrementalConditions: [String]
  /// Whether the operation asks for delivery in parts, if its conditions allow it.
  package let hasIncrementalDirectives: Bool
  package let cost: RequestCost
  private let only: PlanVariant?
  private let variants: Lock<[VariantKey: PlanVariant]>

  /// The decisions a variant is made for.
  private struct VariantKey: Hashable {
    var bits: UInt64
    var format: IncrementalFormat?
  }

  package var kind: OperationKind { operation.kind }

  /// Whether the values of variables decide which fields are selected.
  package var hasSeveralVariants: Bool { only == nil }

  init(
    schema: ExecutableSchema, operation: OperationDefinition, root: NamedType,
    fragments: [String: FragmentDefinition], variables: [VariablePlan]
  ) {
    self.schema = schema
    self.operation = operation
    self.root = root
    self.fragments = fragments
    self.variables = variables
    cost = RequestCost(operation, fragments: fragments, schema: schema, variables: variables)
    var found = ConditionVariables()
    found.find(in: operation.selectionSet, fragments: fragments)
    conditions = found.names
    incrementalConditions = found.incremental
    hasIncrementalDirectives =
      found.hasIncremental && schema.schema.options.incrementalDelivery && operation.kind != .subscription
    only =
      found.names.isEmpty
      ? PlanVariant(schema, operation, root: root, fragments: fragments, variables: JSONObject()) : nil
    variants = Lock([:])
  }

  /// The variant for the coerced `variables` that delivers the response whole.
  package func variant(for variables: JSONObject) -> PlanVariant {
    if let only { return only }
    return variant(for: variables, format: nil, key: key(for: variables))
  }

  /// The variant that delivers in parts, or nil when there is nothing to deliver later.
  package func variant(for variables: JSONObject, format: IncrementalFormat) -> PlanVariant? {
    guard hasIncrementalDirectives else { return nil }
    let found = variant(for: variables, format: format, key: incrementalKey(for: variables))
    return found.isIncremental ? found : nil
  }

  private func variant(for variables: JSONObject, format: IncrementalFormat?, key bits: UInt64?) -> PlanVariant {
    let key = bits.map { VariantKey(bits: $0, format: format) }
    if let key, let known = variants.withLock({ $0[key] }) { return known }
    let made = PlanVariant(
      schema, operation, root: root, fragments: fragments, variables: variables, format: format)
    guard let key else { return made }
    let limit = schema.limits.variantsPerPlan
    variants.withLock { known in
      if known.count >= limit { known.removeAll() }
      known[key] = made
    }
    return made
  }

  /// The values of the condition variables, two bits each; nil when they do not fit or one has no value.
  private func key(for variables: JSONObject) -> UInt64? {
    guard conditions.count <= 64 else { return nil }
    var key: UInt64 = 0
    for name in conditions {
      guard case .bool(let flag)? = variables[name] else { return nil }
      key = key << 1 | (flag ? 1 : 0)
    }
    return key
  }

  private func incrementalKey(for variables: JSONObject) -> UInt64? {
    guard conditions.count + incrementalConditions.count <= 64, var key = key(for: variables) else { return nil }
    for name in incrementalConditions {
      switch variables[name] {
      case nil, .bool(true): key = key << 1 | 1
      case .bool(false): key = key << 1
      default: return nil
      }
    }
    return key
  }
}

/// A plan with all conditions decided.
package final class PlanVariant: Sendable {
  package let selection: SelectionPlan
  /// Whether code of the program that uses the library runs. Such an operation never runs on a loop.
  package let runsUserCode: Bool
  /// Whether some field answers later, so that the operation cannot finish within one call.
  package let isDeferred: Bool
  /// Whether the planning limit left parts out.
  package let isPartial: Bool
  /// Whether something is deferred or streamed.
  package let isIncremental: Bool

  init(
    _ schema: ExecutableSchema, _ operation: OperationDefinition, root: NamedType,
    fragments: [String: FragmentDefinition], variables: JSONObject, format: IncrementalFormat? = nil
  ) {
    var planner = Planner(
      schema: schema, fragments: fragments, root: root, isSubscription: operation.kind == .subscription,
      variables: variables, budget: schema.limits.plannedFields, format: format)
    selection = planner.plan([operation.selectionSet], on: root)
    runsUserCode = planner.runsUserCode
    isDeferred = planner.isDeferred
    isPartial = planner.isPartial
    isIncremental = planner.isIncremental
  }
}

/// A variable of an operation with its type resolved.
struct VariablePlan: Sendable {
  let name: String
  let type: WrappedType
  let defaultValue: JSONValue?
  let location: SourceLocation?
}
