import MartletGraphQLLanguage
import MartletJSON

// Delivery in parts. The initial part is executed first and on its own; a deferred part starts when the client has been
// notified of it. After the initial payload a caller continues as before, with `takeWork` and `complete`, and asks
// `takeUpdate` after each of them, until the last payload.
extension Execution {
  /// The first payload, once `isFinished`. To be called once.
  package func takeInitial() -> IncrementalPayload {
    guard let delivery else { return .whole(result) }
    let found = delivery.found
    delivery.found = []
    delivery.promote(absorb(found, of: nil))
    guard let update = takeNews() else { return .whole(result) }
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
    return takeNews()
  }

  private func takeNews() -> IncrementalUpdate? {
    guard let delivery, !delivery.news.isEmpty else { return nil }
    var update = delivery.news
    update.hasNext = !delivery.open.isEmpty
    delivery.news = IncrementalUpdate()
    return update
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
      where !executeField(field, at: index, in: part.container, of: part.source) {
        part.isNull = true
        break
      }
    case .item(let list, _):
      steps = [Step(container: part.container, index: 0, isNullable: !list.element.isNonNull)]
      if let value = completeItem(part.source, of: list) {
        part.container.values[0] = value
      } else {
        part.isNull = true
      }
      steps.removeAll()
    }
    delivery.current = nil
    if part.isNull || part.waiting == 0 { finish(part) }
  }

  private func completeItem(_ item: ResolvedValue, of list: StreamedList) -> ResultValue? {
    let field = list.plan.items
    listItems += 1
    guard listItems <= schema.limits.listItems else {
      report("The response has more than \(schema.limits.listItems) list items.", field.locations)
      return nil
    }
    return completePosition(item, list.element, field)
  }

  /// One position of `part` no longer waits.
  func settle(_ part: DetachedPart) {
    part.waiting -= 1
    if part.isNull || part.waiting == 0 { finish(part) }
  }

  private func finish(_ part: DetachedPart) {
    guard let delivery, part.isStarted, !part.isFinished else { return }
    part.isFinished = true
    let found = part.found
    part.found = []
    let roots = part.isNull ? [] : absorb(found, of: part)
    delivery.parts[ObjectIdentifier(part.container)] = nil
    switch part.content {
    case .item(let list, _):
      part.children = roots
      delivery.touch(list)
    case .fields(_, let fragments):
      for fragment in fragments { fragment.unfinished.removeAll { $0 === part } }
      guard !part.isNull else {
        for fragment in fragments { delivery.fail(fragment, part.errors) }
        return
      }
      for fragment in fragments {
        fragment.children += roots
        fragment.finished.append(part)
      }
      for fragment in fragments where fragment.state == .pending && fragment.unfinished.isEmpty {
        delivery.deliver(fragment)
      }
    }
  }

  // MARK: Discoveries

  /// Turns what a finished part came across into fragments, parts and lists, and answers those that are not inside a
  /// fragment still to be delivered.
  private func absorb(_ found: [Discovery], of part: DetachedPart?) -> [DeliveryNode] {
    guard let delivery else { return [] }
    var roots: [DeliveryNode] = []
    for discovery in found where isAttached(discovery.place) {
      switch discovery.content {
      case .list(let list):
        delivery.nodes += 1
        if delivery.nodes > schema.limits.openParts {
          list.failure = [tooMany(list.path)]
          list.items = []
          list.source?.cancel()
          list.source = nil
        }
        roots.append(list)
      case .deferral(let plan, let source):
        absorb(plan, source, discovery, part, &roots)
      }
    }
    return roots
  }

  private func absorb(
    _ plan: DeferralPlan, _ source: ResolvedValue, _ discovery: Discovery, _ part: DetachedPart?,
    _ roots: inout [DeliveryNode]
  ) {
    guard let delivery, let container = discovery.place.last?.container else { return }
    var scope = Delivery.Scope(container: container, fragments: [])
    for usage in plan.usages {
      let parent = usage.parent.flatMap { usage in
        scope.fragments.first { $0.usage === usage }?.fragment
          ?? delivery.fragment(usage, at: discovery.place, in: part)
      }
      let fragment = DeferredFragment(path: discovery.path, label: usage.label, parent: parent)
      delivery.nodes += 1
      if delivery.nodes > schema.limits.openParts { fragment.failure = [tooMany(fragment.path)] }
      scope.fragments.append((usage, fragment))
    }
    if !scope.fragments.isEmpty { delivery.scopes[ObjectIdentifier(container)] = scope }
    for (_, fragment) in scope.fragments where fragment.failure != nil { link(fragment, &roots) }
    for group in plan.groups {
      let fragments = group.usages.compactMap { delivery.fragment($0, at: discovery.place, in: part) }
      let deferred = DetachedPart(
        .fields(group.selection, fragments), container: ResultContainer(group.selection), source: source,
        path: discovery.path, origin: DetachedPart.Origin(place: discovery.place, part: part))
      for fragment in fragments {
        fragment.unfinished.append(deferred)
        link(fragment, &roots)
        // A fragment announced before this place was reached has more to deliver now.
        if fragment.state == .pending { delivery.released.append(deferred) }
      }
    }
  }

  /// Hangs a fragment below the one around it, or among the roots.
  private func link(_ fragment: DeferredFragment, _ roots: inout [DeliveryNode]) {
    guard !fragment.isLinked else { return }
    fragment.isLinked = true
    if let parent = fragment.parent, parent.state != .over {
      parent.children.append(fragment)
      link(parent, &roots)
    } else {
      roots.append(fragment)
    }
  }

  private func tooMany(_ path: [GraphQLError.PathElement]) -> ResponseError {
    ResponseError(
      "The response has more than \(schema.limits.openParts) deferred fragments and streamed lists.", path: path)
  }
}
