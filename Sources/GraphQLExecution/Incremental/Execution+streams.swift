import MartletGraphQLLanguage
import MartletJSON

// Lists whose later items are delivered one after the other (`@stream`).
extension Execution {
  /// How many items a list has to have before it is delivered for the first time.
  func initialCount(_ stream: StreamPlan) throws(PlanFault) -> Int {
    guard let literal = stream.initialCount else { return 0 }
    let number: Int64?
    switch literal.kind {
    case .int(let digits): number = Int64(digits)
    case .variable(let name):
      switch variables[name] {
      case nil: number = 0
      case .int(let given)?: number = given
      default: number = nil
      }
    case .float, .string, .boolean, .null, .enumeration, .list, .object: number = nil
    }
    guard let number, number >= 0 else {
      throw PlanFault(
        message: "Argument 'initialCount' of '@stream' must not be negative.",
        locations: [literal.location.source].compactMap { $0 })
    }
    return Int(clamping: number)
  }

  /// How many items a resolver that answers a sequence has to give at first.
  func wantedItems(_ field: FieldPlan) throws(PlanFault) -> Int {
    if delivery != nil, let stream = field.stream { return try initialCount(stream) }
    // One more than allowed is enough to find out.
    return schema.limits.listItems + 1
  }

  /// Completes the first items of a list and notes the rest.
  func completeStream(
    _ items: [ResolvedValue], _ source: SourceEvents?, _ element: WrappedType, _ field: FieldPlan, _ stream: StreamPlan
  ) -> ResultValue? {
    let count: Int
    do {
      count = try initialCount(stream)
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
          place: steps + [Step(container: list, index: 0, isNullable: false)], path: path))
    }
    return .list(list)
  }

  /// Starts items as far ahead of the delivery as the limit allows, and asks the source for the next.
  func advance(_ list: StreamedList) {
    let limit = max(1, schema.limits.streamedItemsAhead)
    while list.ahead.count < limit, list.ahead.last?.isNull != true, let item = list.items.popFirst() {
      let container = ResultContainer(capacity: 1)
      container.values.append(.pending)
      let part = DetachedPart(
        .item(list, index: list.nextIndex), container: container, source: item, path: list.path, origin: nil)
      list.nextIndex += 1
      list.ahead.append(part)
      start(part)
    }
    guard let source = list.source, !list.isAsking, list.items.isEmpty, list.ahead.count < limit else { return }
    list.isAsking = true
    single.append(FieldWork(asking: source, for: list, context: context))
  }

  /// Takes up what the source of a list answered: an item, the end, or a failure.
  func answered(_ list: StreamedList, _ results: ResolverResults) {
    list.isAsking = false
    guard list.state == .pending else { return }
    delivery?.touch(list)
    switch results.first {
    case .success(let item): list.items.append(item)
    case .failure(let error):
      list.source = nil
      let items = list.plan.items
      list.failure = [plan.responseError(for: error, of: items, locations: items.locations, path: list.path)]
    case nil: list.source = nil
    }
  }
}
