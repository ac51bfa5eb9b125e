import MartletGraphQLLanguage
import MartletJSON

// Delivery in parts. The initial part is executed first and on its own; a deferred part starts when the client has been
// notified of it. After the initial payload a caller continues as before, with `takeWork` and `complete`, and asks
// `takeUpdate` after each of them, until the last payload.
extension Execution {
  /// The first payload, once `isFinished`. To be called once.
  package func takeInitial() -> IncrementalPayload {
    guard let delivery else { return .whole(result) }
    delivery.promote(delivery.absorb(takeFound(of: nil), of: nil))
    guard let update = delivery.takeNews() else { return .whole(result) }
    return .initial(result, update)
  }

  /// The next payload, or nil while there is nothing to say.
  package func takeUpdate() -> IncrementalUpdate? {
    guard let delivery else { return nil }
    let touched = delivery.touched
    delivery.touched = []
    for list in touched {
      list.isTouched = false
      guard list.state == .pending else { continue }
      delivery.flush(list)
      // Announced after the last look at what can be started.
      if list.state == .pending, list.ahead.isEmpty, !list.isAsking { delivery.touch(list) }
    }
    return delivery.takeNews()
  }

  // MARK: Parts

  /// Starts the parts that have been announced, and items of announced lists.
  func startReleased() {
    guard let delivery else { return }
    while !delivery.released.isEmpty {
      let released = delivery.released
      delivery.released = []
      for part in released where !part.isStarted && part.isWanted { start(part) }
    }
    for list in delivery.touched where list.state == .pending { advance(list) }
  }

  func start(_ part: DetachedPart) {
    guard let delivery else { return }
    part.isStarted = true
    delivery.parts[ObjectIdentifier(part.container)] = part
    delivery.current = part
    switch part.content {
    case .fields(let selection, _):
      for (index, field) in selection.fields.enumerated()
      where !tree.executeField(field, at: index, in: part.container, of: part.source) {
        part.isNull = true
        break
      }
    case .item(let list, _):
      tree.steps = [ResultStep(container: part.container, index: 0, isNullable: !list.element.isNonNull)]
      if let value = tree.completeItem(part.source, of: list) {
        part.container.values[0] = value
      } else {
        part.isNull = true
      }
      tree.steps.removeAll()
    }
    delivery.current = nil
    if part.isNull || part.waiting == 0 { finish(part) }
  }

  /// One position of `part` no longer waits.
  func settle(_ part: DetachedPart) {
    part.waiting -= 1
    if part.isNull || part.waiting == 0 { finish(part) }
  }

  private func finish(_ part: DetachedPart) {
    guard let delivery, part.isStarted, !part.isFinished else { return }
    part.isFinished = true
    delivery.finish(part, takeFound(of: part))
  }

  /// What a finished part came across and has not dropped with a null.
  private func takeFound(of part: DetachedPart?) -> [Discovery] {
    guard let delivery else { return [] }
    let found = part?.found ?? delivery.found
    if let part { part.found = [] } else { delivery.found = [] }
    return found.filter { isAttached($0.place) }
  }

  // MARK: Lists

  /// Starts items as far ahead of the delivery as the limit allows, and asks the source for the next.
  func advance(_ list: StreamedList) {
    let limit = max(1, tree.schema.limits.streamedItemsAhead)
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
    tree.queue.add(FieldWork(asking: source, for: list, context: tree.context))
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
