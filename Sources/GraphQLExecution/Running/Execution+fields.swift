import MartletGraphQLLanguage
import MartletJSON

// Sections 6.4.2 "Value Resolution" and 6.4.3 "Value Completion". A nil result means: null may not stand here, and the
// error is already reported, so the null travels to the next position outwards where it may (section 6.4.4).
extension Execution {
  /// Executes one field; false when its null must travel further.
  func executeField(
    _ field: FieldPlan, at index: Int, in container: ResultContainer, of source: ResolvedValue
  ) -> Bool {
    if case .typeName = field.content {
      container.values[index] = .string(field.parentName)
      return true
    }
    steps.append(Step(container: container, index: index, isNullable: !field.isNonNull))
    defer { steps.removeLast() }
    guard let value = resolve(field, of: source) else { return false }
    container.values[index] = value
    return true
  }

  private func resolve(_ field: FieldPlan, of source: ResolvedValue) -> ResultValue? {
    let arguments: JSONObject
    switch field.arguments {
    case .none:
      if case .property = field.resolver { return readProperty(field, of: source) }
      arguments = JSONObject()
    case .constant(let constant): arguments = constant
    case .variable(let sources):
      do {
        arguments = try schema.types.arguments(
          sources, variables: variables, location: field.location)
      } catch {
        return fail(error, field)
      }
    case .fault(let fault): return fail(fault, field)
    }
    do {
      switch field.resolver {
      case .property: return readProperty(field, of: source)
      case .parent: return completePosition(source, field.type, field)
      case .builtIn(let body):
        return completePosition(try body(request(field, source, arguments, path: [])), field.type, field)
      case .computed(let body):
        return completePosition(try body(request(field, source, arguments, path: path)), field.type, field)
      case .waiting, .batched, .callback:
        enqueue(field, source, arguments)
        return .pending
      case .sequence:
        enqueue(field, source, arguments, wanted: try wantedItems(field))
        return .pending
      }
    } catch {
      return fail(error, field)
    }
  }

  /// A field that its parent has already: most fields of most answers, so leaves take no way round.
  private func readProperty(_ field: FieldPlan, of source: ResolvedValue) -> ResultValue? {
    guard let leaf = field.leaf else {
      return completePosition(source.property(field, near: position), field.type, field)
    }
    switch source.content {
    case .record(let record):
      guard let slot = field.slot, let value = record[slot: slot] else { break }
      return completeLeaf(value, leaf, field)
    case .json(.object(let members)):
      return completeLeaf(members.value(named: field.name, near: position) ?? .null, leaf, field)
    case .null, .json, .list, .partial, .object: break
    }
    return completePosition(source.property(field, near: position), field.type, field)
  }

  /// The place of the field that is executed among its neighbours.
  private var position: Int { steps.last?.index ?? 0 }

  private func noteUnexpected(_ error: any Error, _ field: FieldPlan) {
    guard let note = schema.onUnexpectedError, !(error is CancellationError) else { return }
    note(
      UnexpectedError(
        field: "\(field.parentName).\(field.definition.name)", path: path, operation: plan.operation.name?.text,
        error: error))
  }

  private func completeLeaf(_ value: JSONValue, _ leaf: LeafShape, _ field: FieldPlan) -> ResultValue? {
    if case .null = value { return field.isNonNull ? reportNull(field) : .null }
    do {
      return try leaf.serialize(value)
    } catch {
      return fail(error, field)
    }
  }

  private func request(
    _ field: FieldPlan, _ source: ResolvedValue, _ arguments: JSONObject, path: [GraphQLError.PathElement]
  ) -> FieldRequest {
    FieldRequest(
      source: source, arguments: arguments, context: context, typeName: field.parentName, fieldName: field.name,
      path: path, slots: field.parentSlots)
  }

  /// Completes a value at a position that is a field or a list's item: where null may stand, faults below end here.
  func completePosition(_ value: ResolvedValue, _ type: WrappedType, _ field: FieldPlan) -> ResultValue? {
    if value.isNull {
      return type.isNonNull ? reportNull(field) : .null
    }
    let completed: ResultValue?
    if let element = type.element {
      completed = completeList(value, element, field)
    } else {
      switch field.content {
      case .leaf(let leaf): completed = completeLeaf(value, leaf, field)
      case .typeName: completed = .string(field.parentName)
      case .object(let selection): completed = executeSelection(selection, of: value)
      case .abstract(let type, let selections): completed = completeAbstract(value, type, selections, field)
      }
    }
    if type.isNonNull { return completed }
    return completed ?? .null
  }

  private func reportNull(_ field: FieldPlan) -> ResultValue? {
    report(
      "Cannot return null for non-nullable field \(field.parentName).\(field.name).", field.locations)
    return nil
  }

  /// Reports an error of a resolver; null where the field may be null.
  func fail(_ error: any Error, _ field: FieldPlan) -> ResultValue? {
    reportError(error, field)
    return field.isNonNull ? nil : .null
  }

  func fail(_ message: String, _ field: FieldPlan) -> ResultValue? {
    report(message, field.locations)
    return field.isNonNull ? nil : .null
  }

  private func reportError(_ error: any Error, _ field: FieldPlan) {
    switch error {
    case let fault as PlanFault:
      report(fault.message, fault.locations)
    case let failure as CoercionFailure:
      report(failure.message, field.locations)
    case let failure as ResolverError:
      report(failure.message, field.locations, extensions: failure.extensions)
    default:
      noteUnexpected(error, field)
      switch schema.exposure {
      case .messages: report(ResolverError.text(of: error), field.locations)
      case .masked(let message): report(message, field.locations)
      }
    }
  }

  private func completeLeaf(_ value: ResolvedValue, _ leaf: LeafShape, _ field: FieldPlan) -> ResultValue? {
    guard let json = value.json else {
      report("\(leaf.name) cannot represent an object.", field.locations)
      return nil
    }
    do {
      return try leaf.serialize(json)
    } catch {
      reportError(error, field)
      return nil
    }
  }

  private func completeList(_ value: ResolvedValue, _ element: WrappedType, _ field: FieldPlan) -> ResultValue? {
    let list: ResultContainer
    switch value.content {
    case .list(let items):
      if let stream = streamed(field) { return completeStream(items, nil, element, field, stream) }
      list = ResultContainer(capacity: items.count)
      for item in items {
        guard append(item, to: list, element, field) else { return nil }
      }
    case .partial(let items, let source):
      if let stream = streamed(field) { return completeStream(items, source, element, field, stream) }
      source.cancel()
      list = ResultContainer(capacity: items.count)
      for item in items {
        guard append(item, to: list, element, field) else { return nil }
      }
    case .json(.array(let items)):
      if let stream = streamed(field) {
        return completeStream(items.map { ResolvedValue(.json($0)) }, nil, element, field, stream)
      }
      list = ResultContainer(capacity: items.count)
      for item in items {
        guard append(ResolvedValue(.json(item)), to: list, element, field) else { return nil }
      }
    case .null, .json, .record, .object:
      report(
        "Expected Iterable, but did not find one for field '\(field.parentName).\(field.name)'.", field.locations)
      return nil
    }
    return .list(list)
  }

  /// How the list at the current position is streamed: only a field's own list is, not a list that is one of its items.
  private func streamed(_ field: FieldPlan) -> StreamPlan? {
    guard delivery != nil, let stream = field.stream, steps.last?.container.selection != nil else { return nil }
    return stream
  }

  func append(
    _ item: ResolvedValue, to list: ResultContainer, _ element: WrappedType, _ field: FieldPlan
  ) -> Bool {
    let index = list.values.count
    listItems += 1
    guard listItems <= schema.limits.listItems else {
      report("The response has more than \(schema.limits.listItems) list items.", field.locations)
      return false
    }
    list.values.append(.pending)
    steps.append(Step(container: list, index: index, isNullable: !element.isNonNull))
    defer { steps.removeLast() }
    guard let value = completePosition(item, element, field) else { return false }
    list.values[index] = value
    return true
  }

  private func executeSelection(_ selection: SelectionPlan, of source: ResolvedValue) -> ResultValue? {
    if let fault = selection.fault {
      report(fault.message, fault.locations)
      return nil
    }
    let container = ResultContainer(unfilled: selection)
    if let delivery, let deferral = selection.deferral {
      delivery.note(
        Discovery(
          content: .deferral(deferral, source: source),
          place: steps + [Step(container: container, index: 0, isNullable: false)], path: path))
    }
    // One open position that moves along, and one array that is put in at the end: cheaper than both for every field.
    let depth = steps.count
    steps.append(Step(container: container, index: 0, isNullable: false))
    defer { steps.removeLast() }
    var values: [ResultValue] = []
    values.reserveCapacity(selection.fields.count)
    for field in selection.fields {
      if case .typeName = field.content {
        values.append(.string(field.parentName))
        continue
      }
      steps[depth].index = values.count
      steps[depth].isNullable = !field.isNonNull
      guard let value = resolve(field, of: source) else { return nil }
      values.append(value)
    }
    container.values = values
    return .object(container)
  }

  private func completeAbstract(
    _ value: ResolvedValue, _ type: NamedType, _ selections: [String: SelectionPlan], _ field: FieldPlan
  ) -> ResultValue? {
    guard let name = schema.resolvers.types[type.name]?(value) ?? value.statedType else {
      report(
        "Abstract type '\(type.name)' must resolve to an Object type at runtime for field"
          + " '\(field.parentName).\(field.name)'. Either the value or a type resolver has to name it.",
        field.locations)
      return nil
    }
    if let selection = selections[name] { return executeSelection(selection, of: value) }
    guard let named = schema.schema.type(name) else {
      report(
        "Abstract type '\(type.name)' was resolved to a type '\(name)' that does not exist inside the schema.",
        field.locations)
      return nil
    }
    guard named.kind == .object else {
      report("Abstract type '\(type.name)' was resolved to a non-object type '\(name)'.", field.locations)
      return nil
    }
    guard type.includes(named.id) else {
      report(
        "Runtime Object type '\(named.name)' is not a possible type for '\(type.name)'.", field.locations)
      return nil
    }
    // The plan left this type out to stay within its limit.
    var planner = Planner(
      schema: schema, fragments: plan.fragments, root: plan.root, isSubscription: plan.kind == .subscription,
      variables: variables, budget: schema.limits.plannedFields)
    return executeSelection(planner.plan(field.places.compactMap(\.node.selectionSet), on: named), of: value)
  }
}

extension ResolvedValue {
  /// What a field without a resolver reads from its parent. `position` is the field's own in its selection: JSON that
  /// was made for the query has its members in that order.
  func property(_ field: FieldPlan, near position: Int) -> ResolvedValue {
    switch content {
    case .record(let record):
      guard let slot = field.slot, let value = record[slot: slot] else { return .null }
      return ResolvedValue(.json(value))
    case .json(.object(let members)):
      return members.value(named: field.name, near: position).map { ResolvedValue(.json($0)) } ?? .null
    case .object(let object): return object.value(of: field.name)
    case .null, .json, .list, .partial: return .null
    }
  }

  /// The object type that the value names itself.
  var statedType: String? {
    if let typeName { return typeName }
    switch content {
    case .record(let record): return record.typeName
    case .object(let object): return object.typeName
    case .json(.object(let members)):
      if case .string(let name)? = members["__typename"] { return name }
      return nil
    case .null, .json, .list, .partial: return nil
    }
  }
}
