import MartletGraphQLLanguage
import MartletJSON

/// Turns a valid operation into a plan: fields merged per object type, conditions decided, arguments prepared.
///
/// Walks what the document says and nothing else; the same document, operation and condition values give the same
/// plan, which is why plans can be kept.
struct Planner {
  let schema: ExecutableSchema
  let fragments: [String: FragmentDefinition]
  let root: NamedType
  let isSubscription: Bool
  /// The coerced variables. Only those that `@skip` and `@include` read are looked at.
  let variables: JSONObject
  /// Fields that may still be planned.
  private(set) var budget: Int
  /// Whether executing runs code of the program that uses the library.
  private(set) var runsUserCode = false
  /// Whether some field answers later.
  private(set) var isDeferred = false
  /// Whether parts were left out for lack of budget.
  private(set) var isPartial = false

  init(
    schema: ExecutableSchema, fragments: [String: FragmentDefinition], root: NamedType, isSubscription: Bool,
    variables: JSONObject, budget: Int
  ) {
    self.schema = schema
    self.fragments = fragments
    self.root = root
    self.isSubscription = isSubscription
    self.variables = variables
    self.budget = budget
  }

  /// Plans `selectionSets` together, as selected on the object type `type`.
  mutating func plan(_ selectionSets: [SelectionSet], on type: NamedType) -> SelectionPlan {
    var collector = FieldCollector(schema: schema.schema, fragments: fragments, variables: variables, type: type)
    do {
      for selectionSet in selectionSets { try collector.collect(selectionSet) }
    } catch {
      return SelectionPlan(typeName: type.name, fields: [], fault: error)
    }
    var fields: [FieldPlan] = []
    fields.reserveCapacity(collector.names.count)
    for nodes in collector.groups {
      if let field = plan(nodes, on: type) { fields.append(field) }
    }
    return SelectionPlan(typeName: type.name, fields: fields, fault: nil)
  }

  private mutating func plan(_ nodes: [Field], on type: NamedType) -> FieldPlan? {
    guard let node = nodes.first, let definition = schema.schema.field(node.name.text, on: type) else { return nil }
    budget -= 1
    let code = schema.code(of: definition, on: type)
    let resolver = code.resolver ?? fallback(for: definition, on: type)
    if resolver.runsUserCode { runsUserCode = true }
    if resolver.isDeferred { isDeferred = true }
    if definition.arguments.contains(where: { self.schema.types.leaf($0.type.named)?.runsUserCode == true }) {
      runsUserCode = true
    }
    return FieldPlan(
      responseName: node.responseName, parentName: type.name, definition: definition, resolver: resolver,
      slot: code.slot,
      arguments: schema.types.planArguments(of: node, definition),
      content: content(of: definition, nodes), nodes: nodes)
  }

  private mutating func content(of definition: SchemaField, _ nodes: [Field]) -> FieldContent {
    if definition === schema.schema.typenameField { return .typeName }
    let named = schema.schema[definition.type.named]
    if let leaf = schema.types.leaf(named.id) {
      if leaf.runsUserCode { runsUserCode = true }
      return .leaf(leaf)
    }
    let selectionSets = nodes.compactMap(\.selectionSet)
    guard named.isAbstract else { return .object(plan(selectionSets, on: named)) }
    if schema.resolvers.types[named.name] != nil { runsUserCode = true }
    var selections: [String: SelectionPlan] = [:]
    for id in named.possibleTypes {
      guard budget > 0 else {
        isPartial = true
        runsUserCode = runsUserCode || schema.hasUserCode
        isDeferred = isDeferred || schema.hasDeferredFields
        break
      }
      let object = schema.schema[id]
      selections[object.name] = plan(selectionSets, on: object)
    }
    return .abstract(named, selections)
  }

  private func fallback(for definition: SchemaField, on type: NamedType) -> FieldResolver {
    if definition === schema.schema.schemaField { return schema.introspection.schemaResolver }
    if definition === schema.schema.typeField { return schema.introspection.typeResolver }
    return isSubscription && type === root ? .parent : .property
  }
}
