import MartletGraphQLLanguage

// What executing the parts comes across: further fragments, parts and lists.
extension Delivery {
  /// A part has been executed. `found` is what it came across and has not dropped.
  func finish(_ part: DetachedPart, _ found: [Discovery]) {
    let roots = absorb(found, of: part)
    parts[ObjectIdentifier(part.container)] = nil
    switch part.content {
    case .item(let list, _):
      part.children = roots
      touch(list)
    case .fields(_, let fragments):
      for fragment in fragments { fragment.unfinished.removeAll { $0 === part } }
      guard !part.isNull else {
        for fragment in fragments { fail(fragment, part.errors) }
        return
      }
      for fragment in fragments {
        fragment.children += roots
        fragment.finished.append(part)
      }
      for fragment in fragments where fragment.state == .pending && fragment.unfinished.isEmpty { deliver(fragment) }
    }
  }

  /// Turns what a finished part came across into fragments, parts and lists, and returns those that are not inside a
  /// fragment still to be delivered.
  func absorb(_ found: [Discovery], of part: DetachedPart?) -> [DeliveryNode] {
    var roots: [DeliveryNode] = []
    for discovery in found {
      switch discovery.content {
      case .list(let list):
        nodes += 1
        if nodes > openParts {
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
    guard let container = discovery.place.last?.container else { return }
    var scope = Scope(container: container, fragments: [])
    for usage in plan.usages {
      let parent = usage.parent.flatMap { usage in
        scope.fragments.first { $0.usage === usage }?.fragment
          ?? self.fragment(usage, at: discovery.place, in: part)
      }
      let fragment = DeferredFragment(path: discovery.path, label: usage.label, parent: parent)
      nodes += 1
      if nodes > openParts { fragment.failure = [tooMany(fragment.path)] }
      scope.fragments.append((usage, fragment))
    }
    if !scope.fragments.isEmpty { scopes[ObjectIdentifier(container)] = scope }
    for (_, fragment) in scope.fragments where fragment.failure != nil { link(fragment, &roots) }
    for group in plan.groups {
      let fragments = group.usages.compactMap { self.fragment($0, at: discovery.place, in: part) }
      let deferred = DetachedPart(
        .fields(group.selection, fragments), container: ResultContainer(group.selection), source: source,
        path: discovery.path, origin: DetachedPart.Origin(place: discovery.place, part: part))
      for fragment in fragments {
        fragment.unfinished.append(deferred)
        link(fragment, &roots)
        // A fragment announced before this place was reached has more to deliver now.
        if fragment.state == .pending { released.append(deferred) }
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
      "The response has more than \(openParts) deferred fragments and streamed lists.", path: path)
  }
}
