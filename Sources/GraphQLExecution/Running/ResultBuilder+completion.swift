import MartletGraphQLLanguage
import MartletJSON

// Section 6.4.3 "Value Completion". Nil means what it means for fields.
extension ResultBuilder {
  /// Completes a value at a position that is a field or a list's item: where null may stand, faults below end here.
  mutating func completePosition(_ value: ResolvedValue, _ type: WrappedType, _ field: FieldPlan) -> ResultValue? {
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

  private mutating func completeLeaf(_ value: ResolvedValue, _ leaf: LeafShape, _ field: FieldPlan) -> ResultValue? {
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

  private mutating func completeList(_ value: ResolvedValue, _ element: WrappedType, _ field: FieldPlan) -> ResultValue?
  {
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

  mutating func append(
    _ item: ResolvedValue, to list: ResultContainer, _ element: WrappedType, _ field: FieldPlan
  ) -> Bool {
    let index = list.values.count
    listItems += 1
    guard listItems <= schema.limits.listItems else {
      report("The response has more than \(schema.limits.listItems) list items.", field.locations)
      return false
    }
    list.values.append(.pending)
    steps.append(ResultStep(container: list, index: index, isNullable: !element.isNonNull))
    defer { steps.removeLast() }
    guard let value = completePosition(item, element, field) else { return false }
    list.values[index] = value
    return true
  }

  private mutating func executeSelection(_ selection: SelectionPlan, of source: ResolvedValue) -> ResultValue? {
    if let fault = selection.fault {
      report(fault.message, fault.locations)
      return nil
    }
    let container = ResultContainer(unfilled: selection)
    if let delivery, let deferral = selection.deferral {
      delivery.note(
        Discovery(
          content: .deferral(deferral, source: source),
          place: steps + [ResultStep(container: container, index: 0, isNullable: false)], path: path))
    }
    // One open position that moves along, and one array that is put in at the end: cheaper than both for every field.
    let depth = steps.count
    steps.append(ResultStep(container: container, index: 0, isNullable: false))
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

  private mutating func completeAbstract(
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
    let named: NamedType
    do {
      named = try schema.objectType(name, in: type, for: field)
    } catch {
      report(error.message, error.locations)
      return nil
    }
    // The plan left this type out to stay within its limit.
    var planner = Planner(
      schema: schema, fragments: plan.fragments, root: plan.root, isSubscription: plan.kind == .subscription,
      variables: variables, budget: schema.limits.plannedFields)
    return executeSelection(planner.plan(field.places.compactMap(\.node.selectionSet), on: named), of: value)
  }
}
