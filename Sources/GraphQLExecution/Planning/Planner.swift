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
  /// The coerced variables. Only those that conditions read are looked at.
  let variables: JSONObject
  /// The shape in which parts will be delivered; nil to plan one whole response, whatever `@defer` and `@stream` say.
  let format: IncrementalFormat?
  /// Deferred fragments that may still be planned.
  var deferrals: Int
  /// Whether something is deferred or streamed.
  var isIncremental = false
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
    variables: JSONObject, budget: Int, format: IncrementalFormat? = nil
  ) {
    self.schema = schema
    self.fragments = fragments
    self.root = root
    self.isSubscription = isSubscription
    self.variables = variables
    self.budget = budget
    self.format = format
    deferrals = format == nil ? 0 : schema.limits.deferredFragments
  }

  /// Plans `selectionSets` together, as selected on the object type `type`.
  mutating func plan(_ selectionSets: [SelectionSet], on type: NamedType) -> SelectionPlan {
    plan(on: type, within: []) { collector throws(PlanFault) in
      for selectionSet in selectionSets { try collector.collect(selectionSet) }
    }
  }

  /// Plans what is selected below a field, for a part that belongs to the deferred fragments `within`.
  mutating func plan(below places: [CollectedField], on type: NamedType, within: [DeferUsage]) -> SelectionPlan {
    plan(on: type, within: within) { collector throws(PlanFault) in
      for place in places {
        if let selectionSet = place.node.selectionSet { try collector.collect(selectionSet, into: place.usage) }
      }
    }
  }

  private mutating func plan(
    on type: NamedType, within: [DeferUsage], collect: (inout FieldCollector) throws(PlanFault) -> Void
  ) -> SelectionPlan {
    var collector = FieldCollector(
      schema: schema.schema, fragments: fragments, variables: variables, type: type, deferrals: deferrals)
    do {
      try collect(&collector)
      deferrals = collector.deferrals
      guard format == nil else { return try split(collector, within: within) }
    } catch {
      // A plan for delivery in parts may have faults that one for a whole response does not have.
      isIncremental = isIncremental || format != nil
      return SelectionPlan(typeName: type.name, fields: [], fault: error)
    }
    var fields: [FieldPlan] = []
    fields.reserveCapacity(collector.names.count)
    for places in collector.groups {
      if let field = plan(places, on: type, within: []) { fields.append(field) }
    }
    return SelectionPlan(typeName: type.name, fields: fields, fault: nil)
  }

  /// Plans one field, selected at `places`; nil for a field that does not exist.
  mutating func plan(
    _ places: [CollectedField], on type: NamedType, within: [DeferUsage], stream directive: Directive? = nil
  ) -> FieldPlan? {
    guard let node = places.first?.node, let definition = schema.schema.field(node.name.text, on: type) else {
      return nil
    }
    budget -= 1
    let code = schema.code(of: definition, on: type)
    let resolver = code.resolver ?? fallback(for: definition, on: type)
    if resolver.runsUserCode { runsUserCode = true }
    if resolver.isDeferred { isDeferred = true }
    if definition.arguments.contains(where: { self.schema.types.leaf($0.type.named)?.runsUserCode == true }) {
      runsUserCode = true
    }
    let arguments = schema.types.planArguments(of: node, definition)
    let content = content(of: definition, places, within)
    let stream = directive.flatMap { directive -> StreamPlan? in
      guard definition.type.isList else { return nil }
      isIncremental = true
      // Streamed elements no longer belong to the deferred fragments around the list.
      let isPlain = places.allSatisfy { $0.usage == nil }
      let items =
        isPlain
        ? content : self.content(of: definition, places.map { CollectedField(node: $0.node, usage: nil) }, [])
      return StreamPlan(
        label: directive.argument("label")?.stringText, initialCount: directive.argument("initialCount"),
        items: FieldPlan(
          responseName: node.responseName, parentName: type.name, definition: definition, resolver: resolver,
          slot: code.slot, arguments: arguments, content: items, places: places))
    }
    return FieldPlan(
      responseName: node.responseName, parentName: type.name, definition: definition, resolver: resolver,
      slot: code.slot, parentSlots: resolver.runsUserCode ? schema.resolvers.slots[type.name] ?? [:] : [:],
      arguments: arguments, content: content, places: places, stream: stream)
  }

  private mutating func content(
    of definition: SchemaField, _ places: [CollectedField], _ within: [DeferUsage]
  ) -> FieldContent {
    if definition === schema.schema.typenameField { return .typeName }
    let named = schema.schema[definition.type.named]
    if let leaf = schema.types.leaf(named.id) {
      if leaf.runsUserCode { runsUserCode = true }
      return .leaf(leaf)
    }
    guard named.isAbstract else { return .object(plan(below: places, on: named, within: within)) }
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
      selections[object.name] = plan(below: places, on: object, within: within)
    }
    return .abstract(named, selections)
  }

  private func fallback(for definition: SchemaField, on type: NamedType) -> FieldResolver {
    if definition === schema.schema.schemaField { return schema.introspection.schemaResolver }
    if definition === schema.schema.typeField { return schema.introspection.typeResolver }
    return isSubscription && type === root ? .parent : .property
  }
}
