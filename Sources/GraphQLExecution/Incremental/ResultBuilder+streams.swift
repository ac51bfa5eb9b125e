import MartletGraphQLLanguage
import MartletJSON

// Lists whose later items are delivered one after the other (`@stream`).
extension ResultBuilder {
  /// How many items a resolver that answers a sequence has to give at first.
  func wantedItems(_ field: FieldPlan) throws(PlanFault) -> Int {
    if delivery != nil, let stream = field.stream { return try stream.initialItems(under: variables) }
    // One more than allowed is enough to find out.
    return schema.limits.listItems + 1
  }

  /// Completes the first items of a list and notes the rest.
  mutating func completeStream(
    _ items: [ResolvedValue], _ source: SourceEvents?, _ element: WrappedType, _ field: FieldPlan, _ stream: StreamPlan
  ) -> ResultValue? {
    let count: Int
    do {
      count = try stream.initialItems(under: variables)
    } catch {
      report(error.message, error.locations)
      return nil
    }
    let list = ResultContainer(capacity: min(count, items.count))
    for item in items.prefix(count) {
      guard append(item, to: list, element, field) else { return nil }
    }
    if items.count > count || source != nil {
      let path = path
      delivery?.note(
        Discovery(
          content: .list(
            StreamedList(
              path: path, plan: stream, element: element, items: items.dropFirst(count), source: source,
              nextIndex: list.values.count)),
          place: steps + [ResultStep(container: list, index: 0, isNullable: false)], path: path))
    }
    return .list(list)
  }

  /// Completes an item that is delivered by itself.
  mutating func completeItem(_ item: ResolvedValue, of list: StreamedList) -> ResultValue? {
    let field = list.plan.items
    listItems += 1
    guard listItems <= schema.limits.listItems else {
      report("The response has more than \(schema.limits.listItems) list items.", field.locations)
      return nil
    }
    return completePosition(item, list.element, field)
  }
}
