import MartletGraphQLLanguage

/// What an execution knows about the parts of its response that come later. Confined to its `Execution`.
final class Delivery {
  /// The deferred fragments that begin at one object.
  struct Scope {
    /// Keeps the object, whose identity is the scope's name.
    var container: ResultContainer
    var fragments: [(usage: DeferUsage, fragment: DeferredFragment)]
  }

  /// The part that is being executed; nil for the initial one.
  var current: DetachedPart?
  /// Parts that have been started and not finished, by their containers.
  var parts: [ObjectIdentifier: DetachedPart] = [:]
  /// What the initial part came across.
  var found: [Discovery] = []
  var scopes: [ObjectIdentifier: Scope] = [:]
  /// Parts to be started before anything else is done.
  var released: [DetachedPart] = []
  /// Announced lists that something has happened to, which may let them advance or deliver.
  var touched: [StreamedList] = []
  /// Everything announced and not over.
  var open: [Int: DeliveryNode] = [:]
  /// Fragments and lists that are not over.
  var nodes = 0
  /// What has happened since the last payload.
  var news = IncrementalUpdate()
  /// Errors in all parts.
  var errorCount = 0
  private var nextID = 0
  /// How many fragments and lists may be open.
  let openParts: Int

  init(openParts: Int) {
    self.openParts = openParts
  }

  func part(of place: [ResultStep]) -> DetachedPart? {
    place.first.flatMap { parts[ObjectIdentifier($0.container)] }
  }

  func note(_ discovery: Discovery) {
    if let current { current.found.append(discovery) } else { found.append(discovery) }
  }

  /// The deferred fragment that `usage` is at a place of `part`, or of what is around it.
  func fragment(_ usage: DeferUsage, at place: [ResultStep], in part: DetachedPart?) -> DeferredFragment? {
    var (place, part) = (place, part)
    while true {
      for step in place.reversed() {
        let scope = scopes[ObjectIdentifier(step.container)]
        if let found = scope?.fragments.first(where: { $0.usage === usage }) { return found.fragment }
      }
      guard let origin = part?.origin else { return nil }
      (place, part) = (origin.place, origin.part)
    }
  }

  /// What has happened since the last payload; nil when nothing has.
  func takeNews() -> IncrementalUpdate? {
    guard !news.isEmpty else { return nil }
    var update = news
    update.hasNext = !open.isEmpty
    news = IncrementalUpdate()
    return update
  }

  // MARK: Announcing and completing

  /// Announces what can be delivered now that what is around it has been.
  func promote(_ nodes: [DeliveryNode]) {
    for node in nodes where node.state == .waiting {
      if let list = node as? StreamedList {
        announce(list)
        touch(list)
      } else if let fragment = node as? DeferredFragment {
        promote(fragment)
      }
    }
  }

  private func promote(_ fragment: DeferredFragment) {
    if let failure = fragment.failure {
      announce(fragment)
      complete(fragment, failure)
    } else if fragment.isEmpty {
      // All its fields came with something else.
      fragment.state = .over
      nodes -= 1
      promote(fragment.children)
    } else {
      announce(fragment)
      released += fragment.unfinished.filter { !$0.isStarted }
      if fragment.unfinished.isEmpty { deliver(fragment) }
    }
  }

  private func announce(_ node: DeliveryNode) {
    node.id = nextID
    node.state = .pending
    open[nextID] = node
    news.pending.append(PendingPart(id: nextID, path: node.path, label: node.label, isList: node is StreamedList))
    nextID += 1
  }

  func complete(_ node: DeliveryNode, _ errors: [ResponseError]?) {
    guard node.state == .pending, let id = node.id else { return }
    node.state = .over
    nodes -= 1
    open[id] = nil
    news.completed.append(
      CompletedPart(id: id, path: node.path, label: node.label, isList: node is StreamedList, errors: errors))
    let children = node.children
    node.children = []
    if errors == nil { promote(children) } else { drop(children) }
  }

  /// Forgets what never was announced.
  private func drop(_ children: [DeliveryNode]) {
    for child in children where child.state == .waiting {
      child.state = .over
      nodes -= 1
      drop(child.children)
      child.children = []
    }
  }

  /// Delivers a fragment whose parts are all finished.
  func deliver(_ fragment: DeferredFragment) {
    for part in fragment.finished where !part.isDelivered {
      part.isDelivered = true
      guard case .fields(_, let fragments) = part.content else { continue }
      var owner: DeliveryNode = fragment
      for other in fragments where other.state == .pending && other.path.count > owner.path.count { owner = other }
      guard let id = owner.id else { continue }
      news.patches.append(
        IncrementalPatch(
          id: id, content: .fields(.object(part.container)), path: part.path,
          subPath: Array(part.path.dropFirst(owner.path.count)), label: owner.label, errors: part.errors))
    }
    fragment.finished = []
    complete(fragment, nil)
  }

  /// A fragment cannot be delivered; neither can what is inside it.
  func fail(_ fragment: DeferredFragment, _ errors: [ResponseError]) {
    guard fragment.failure == nil else { return }
    fragment.failure = errors
    complete(fragment, errors)
    for part in fragment.unfinished where !part.isWanted { parts[ObjectIdentifier(part.container)] = nil }
  }

  // MARK: Lists

  func touch(_ list: StreamedList) {
    guard !list.isTouched else { return }
    list.isTouched = true
    touched.append(list)
  }

  /// Delivers the items that are finished, in order.
  func flush(_ list: StreamedList) {
    var items: [ResultValue] = []
    var errors: [ResponseError] = []
    var children: [DeliveryNode] = []
    var failure: [ResponseError]?
    let first = list.nextIndex - list.ahead.count
    var count = 0
    for part in list.ahead {
      guard part.isFinished else { break }
      if part.isNull {
        failure = part.errors
        break
      }
      count += 1
      items += part.container.values
      errors += part.errors
      children += part.children
    }
    list.ahead.removeFirst(count)
    if !items.isEmpty, let id = list.id {
      // There is room for further items.
      touch(list)
      news.patches.append(
        IncrementalPatch(
          id: id, content: .items(items, at: first), path: list.path, subPath: [], label: list.label, errors: errors))
      promote(children)
    }
    let isDrained = list.ahead.isEmpty && list.items.isEmpty && list.source == nil
    guard failure != nil || isDrained else { return }
    complete(list, failure ?? list.failure)
    for part in list.ahead {
      parts[ObjectIdentifier(part.container)] = nil
      drop(part.children)
    }
    list.close()
  }
}
