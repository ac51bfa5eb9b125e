/// What the listeners of one window at one node see: the caches, and the events that follow from changes.
struct View {
  /// A listener, and which of its events it got before the server had confirmed them.
  struct Registration {
    let id: ListenerID
    var unacknowledged: Set<TreeKey> = []
    var isValueUnacknowledged = false
  }

  let path: TreePath
  let window: Window
  var cache: ViewCache
  var registrations: [Registration] = []

  /// - Parameters:
  ///   - server: what is known from other listeners.
  ///   - isComplete: whether that is the whole node.
  init(path: TreePath, window: Window, server: TreeNode, isComplete: Bool, writes: PendingWrites) {
    self.path = path
    self.window = window
    let local = LocalWrites(all: writes, path: path)
    let whole = local.value(over: isComplete ? server : nil)
    let node = whole ?? local.knownChildren(over: server)
    let none = OrderedChildren(.empty, order: window.order)
    var changes = ChangeAccumulator()
    let filter = WindowFilter(window: window)
    cache = ViewCache(
      event: CacheNode(
        filter.replace(none, with: node, &changes), isComplete: whole != nil, isFiltered: filter.isFiltering),
      server: CacheNode(OrderedChildren(server, order: window.order), isComplete: isComplete, isFiltered: false))
  }

  /// The server's value at `relative`, when the whole of it is known here.
  func completeServerNode(at relative: TreePath) -> TreeNode? {
    guard let node = cache.completeServerNode else { return nil }
    // Of a window only the children that are present are known.
    guard window.isUnbounded || relative.first.map(node.hasChild) == true else { return nil }
    return node.node(at: relative)
  }

  /// Adds a listener and appends the events it begins with: each known child, then the value if it is known.
  mutating func add(_ id: ListenerID, writes: PendingWrites, _ events: inout [TreeEvent]) {
    var registration = Registration(id: id)
    var previous: TreeKey?
    var reporter = EventReporter(path: path, writes: writes)
    cache.event.ordered.forEach { key, node in
      let isAcknowledged = reporter.isAcknowledged(key)
      if !isAcknowledged { registration.unacknowledged.insert(key) }
      reporter.events.append(
        reporter.event(
          id, .childAdded, key, node, previous: previous, isAcknowledged: isAcknowledged))
      previous = key
      return true
    }
    if cache.event.isComplete {
      let isAcknowledged = reporter.isAcknowledged(nil)
      registration.isValueUnacknowledged = !isAcknowledged
      reporter.events.append(
        reporter.event(id, .value, nil, cache.event.node, previous: nil, isAcknowledged: isAcknowledged))
    }
    events += reporter.events
    registrations.append(registration)
  }

  /// Lets a change take its effect and appends the events that follow.
  ///
  /// - Parameter known: the server's whole value of this node, as far as another listener knows it.
  mutating func apply(
    _ operation: TreeOperation, writes: PendingWrites, known: TreeNode?, _ events: inout [TreeEvent]
  ) {
    let old = cache
    var processor = ViewProcessor(
      filter: WindowFilter(window: window), writes: LocalWrites(all: writes, path: path), known: known, cache: cache)
    processor.apply(operation)
    cache = processor.cache
    let changes = processor.changes.changes
    let isValue = Self.changesValue(old.event, cache.event, hasChanges: !changes.isEmpty)
    let confirmed = acknowledged(by: operation)
    if changes.isEmpty, !isValue, confirmed == .none { return }
    var reporter = EventReporter(path: path, writes: writes)
    reporter.report(changes, isValue: isValue, confirmed: confirmed, in: cache.event, to: &registrations)
    events += reporter.events
  }

  private static func changesValue(_ old: CacheNode, _ new: CacheNode, hasChanges: Bool) -> Bool {
    guard new.isComplete else { return false }
    if hasChanges || !old.isComplete { return true }
    let hasChildren = !new.node.isLeaf && !new.node.isEmpty
    // With children, any difference but the priority's is among the changes.
    return hasChildren ? new.node.priority != old.node.priority : new.node != old.node
  }

  /// Children of which a pending write was answered.
  enum Confirmed: Equatable {
    case none
    case all
    case children([TreeKey])
  }

  private func acknowledged(by operation: TreeOperation) -> Confirmed {
    guard case .acknowledge(let marks, _) = operation.kind,
      registrations.contains(where: { $0.isValueUnacknowledged || !$0.unacknowledged.isEmpty })
    else { return .none }
    if let key = operation.path.first { return .children([key]) }
    return marks.node != nil ? .all : .children(Array(marks.children.keys))
  }
}

/// Makes the events of one view in their order.
struct EventReporter {
  let path: TreePath
  let writes: PendingWrites
  var events: [TreeEvent] = []

  init(path: TreePath, writes: PendingWrites) {
    self.path = path
    self.writes = writes
  }

  func isAcknowledged(_ key: TreeKey?) -> Bool {
    !writes.touches(key.map(path.child) ?? path)
  }

  func event(
    _ listener: ListenerID, _ kind: TreeEvent.Kind, _ key: TreeKey?, _ node: TreeNode, previous: TreeKey?,
    isAcknowledged: Bool
  ) -> TreeEvent {
    TreeEvent(
      listener: listener, kind: kind, path: path, key: key, node: node, previousKey: previous,
      isAcknowledged: isAcknowledged)
  }

  /// One child's event, before it is addressed to the listeners.
  private struct Report {
    var kind: TreeEvent.Kind
    var key: TreeKey
    var node: TreeNode
    var previous: TreeKey?
    var isAcknowledged: Bool
    var position: ChildPosition
  }

  mutating func report(
    _ changes: [TreeKey: ChildChange], isValue: Bool, confirmed: View.Confirmed, in cache: CacheNode,
    to registrations: inout [View.Registration]
  ) {
    let reports = self.reports(changes, cache)
    let isValueAcknowledged = isAcknowledged(nil)
    for index in registrations.indices {
      let id = registrations[index].id
      for report in reports {
        if report.kind != .childMoved {
          if report.isAcknowledged {
            registrations[index].unacknowledged.remove(report.key)
          } else {
            registrations[index].unacknowledged.insert(report.key)
          }
        }
        events.append(
          event(
            id, report.kind, report.key, report.node, previous: report.previous, isAcknowledged: report.isAcknowledged))
      }
      confirm(confirmed, cache, &registrations[index])
      if isValue {
        registrations[index].isValueUnacknowledged = !isValueAcknowledged
        events.append(event(id, .value, nil, cache.node, previous: nil, isAcknowledged: isValueAcknowledged))
      } else if confirmed != .none, registrations[index].isValueUnacknowledged, isValueAcknowledged {
        registrations[index].isValueUnacknowledged = false
        // A refused write may have been all that was known of the value; the server's is reported when it comes.
        guard cache.isComplete else { continue }
        events.append(event(id, .valueAcknowledged, nil, cache.node, previous: nil, isAcknowledged: true))
      }
    }
  }

  private func reports(_ changes: [TreeKey: ChildChange], _ cache: CacheNode) -> [Report] {
    let order = cache.ordered.order
    var reports: [Report] = []
    for (key, change) in changes {
      let position = order.position(of: key, change.node)
      let previous = change.kind == .removed ? nil : cache.ordered.previousKey(of: key, change.node)
      let report = Report(
        kind: change.kind == .removed ? .childRemoved : change.kind == .added ? .childAdded : .childChanged, key: key,
        node: change.node, previous: previous, isAcknowledged: isAcknowledged(key), position: position)
      reports.append(report)
      if change.kind == .changed, order.value(of: change.old) != position.value {
        var moved = report
        moved.kind = .childMoved
        reports.append(moved)
      }
    }
    return reports.sorted { ($0.kind, $0.position) < ($1.kind, $1.position) }
  }

  /// Reports the acknowledgement of what was reported unacknowledged and is still as it was.
  private mutating func confirm(
    _ confirmed: View.Confirmed, _ cache: CacheNode, _ registration: inout View.Registration
  ) {
    let candidates: [TreeKey]
    switch confirmed {
    case .none: return
    case .all: candidates = Array(registration.unacknowledged)
    case .children(let keys): candidates = keys.filter(registration.unacknowledged.contains)
    }
    let order = cache.ordered.order
    let sorted = candidates.map { key in
      let node = cache.node.child(key)
      return (position: order.position(of: key, node), node: node)
    }.sorted { $0.position < $1.position }
    for (position, node) in sorted where isAcknowledged(position.key) {
      registration.unacknowledged.remove(position.key)
      let previous = node.isEmpty ? nil : cache.ordered.previousKey(of: position.key, node)
      events.append(
        event(registration.id, .childAcknowledged, position.key, node, previous: previous, isAcknowledged: true))
    }
  }
}
