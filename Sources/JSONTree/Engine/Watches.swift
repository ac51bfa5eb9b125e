/// The listeners that get a node's changes without its values: what was reported to each, and the events that follow
/// from what the server says and from the writes of this client.
///
/// Nothing of the value is known here, so that a write counts as a change also where it leaves the value as it was.
struct Watches: Sendable {
  struct Registration: Sendable {
    let id: ListenerID
    /// Whether a value was reported.
    var isReported = false
    /// Whether the server had not confirmed what was reported last.
    var isUnacknowledged = false
  }

  /// A change at the server that pending writes cover, wholly or in part: what they cover shows when they have been
  /// answered, unless they were made after it.
  struct CoveredChange: Sendable {
    let places: [TreePath]
    let revision: String?
  }

  struct Watch: Sendable {
    var registrations: [Registration] = []
    /// Whether the server has said that there is a value, or that the node does not exist.
    var isKnown = false
    /// In the order in which the server made them.
    var covered: [CoveredChange] = []
  }

  private(set) var all: [TreePath: Watch] = [:]
  private var index = ListenerIndex<TreePath>()

  /// Adds a listener, which gets an event at once when there is a value.
  ///
  /// - Parameter isKnown: whether it is known without the server that there is one.
  /// - Returns: whether it is the first one of the node.
  mutating func add(
    _ id: ListenerID, at path: TreePath, isKnown: Bool, _ writes: PendingWrites, _ events: inout [TreeEvent]
  ) -> Bool {
    let isFirst = index.insert(path, at: path)
    var watch = all[path] ?? Watch()
    watch.isKnown = watch.isKnown || isKnown
    watch.registrations.append(Registration(id: id))
    let last = watch.registrations.indices.last.map { $0...$0 }
    if let last, watch.isKnown || writes.complete(at: path) != nil { watch.report(last, path, writes, &events) }
    all[path] = watch
    return isFirst
  }

  /// - Returns: whether it was the last one of the node.
  mutating func remove(_ id: ListenerID, at path: TreePath) -> Bool {
    guard var watch = all[path] else { return false }
    watch.registrations.removeAll { $0.id == id }
    all[path] = watch
    if watch.registrations.isEmpty { end(path) }
    return watch.registrations.isEmpty
  }

  /// Ends the watch of a node and returns its listeners.
  @discardableResult
  mutating func end(_ path: TreePath) -> [Registration] {
    index.remove(path, at: path)
    return all.removeValue(forKey: path)?.registrations ?? []
  }

  /// The server says that the node has changed.
  ///
  /// - Parameters:
  ///   - places: where below the node; none when all of it may have changed.
  ///   - revision: of the change.
  mutating func changed(
    _ path: TreePath, _ places: [TreePath], _ revision: String?, _ writes: PendingWrites, _ events: inout [TreeEvent]
  ) {
    guard var watch = all[path] else { return }
    watch.isKnown = true
    let change = CoveredChange(
      places: places.isEmpty ? [path] : places.map { path.appending($0) }, revision: revision)
    if !change.isCovered(by: writes) { watch.report(watch.registrations.indices, path, writes, &events) }
    if change.isTouched(by: writes) { watch.keep(change, at: path) }
    all[path] = watch
  }

  /// A write of this client is pending.
  mutating func written(_ paths: [TreePath], _ writes: PendingWrites, _ events: inout [TreeEvent]) {
    for path in concerned(by: paths) {
      guard var watch = all[path] else { continue }
      if watch.isKnown || writes.complete(at: path) != nil {
        watch.report(watch.registrations.indices, path, writes, &events)
      }
      all[path] = watch
    }
  }

  /// A write of this client was taken back, and showed until then.
  mutating func reverted(_ paths: [TreePath], _ writes: PendingWrites, _ events: inout [TreeEvent]) {
    written(paths, writes, &events)
    for path in concerned(by: paths) {
      guard var watch = all[path] else { continue }
      // The event says it of what the write covered, too.
      _ = watch.uncover(paths, nil, writes)
      if !writes.touches(path) {
        for index in watch.registrations.indices { watch.registrations[index].isUnacknowledged = false }
      }
      all[path] = watch
    }
  }

  /// A write of this client was confirmed.
  ///
  /// - Parameter revision: of the write; what the server says of the node at that revision is the write itself.
  mutating func acknowledged(
    _ paths: [TreePath], _ revision: String?, _ writes: PendingWrites, _ events: inout [TreeEvent]
  ) {
    for path in concerned(by: paths) {
      guard var watch = all[path] else { continue }
      if watch.uncover(paths, revision, writes) {
        watch.report(watch.registrations.indices, path, writes, &events)
      }
      if !writes.touches(path) {
        for index in watch.registrations.indices where watch.registrations[index].isUnacknowledged {
          watch.registrations[index].isUnacknowledged = false
          let id = watch.registrations[index].id
          events.append(TreeEvent(listener: id, kind: .valueAcknowledged, ofNode: path, isAcknowledged: true))
        }
      }
      all[path] = watch
    }
  }

  /// The nodes that writes concern, those of deeper nodes first.
  func concerned(by paths: [TreePath]) -> [TreePath] {
    guard !all.isEmpty else { return [] }
    var found: Set<TreePath> = []
    for path in paths { index.forEach(concernedBy: path) { watched, _ in found.insert(watched) } }
    return found.sorted { ($1.keys.count, $0) < ($0.keys.count, $1) }
  }
}

extension Watches.CoveredChange {
  fileprivate func isCovered(by writes: PendingWrites) -> Bool {
    places.allSatisfy { writes.complete(at: $0) != nil }
  }

  fileprivate func isTouched(by writes: PendingWrites) -> Bool { places.contains { writes.touches($0) } }

  /// Whether a write of these paths covers some of it.
  fileprivate func isTouched(by paths: [TreePath]) -> Bool {
    places.contains { place in paths.contains { $0.contains(place) || place.contains($0) } }
  }
}

extension Watches.Watch {
  /// Of more covered changes than these, one of the whole node is kept: a write may wait for its answer for hours.
  private static var mostCovered: Int { 64 }

  /// Reports to listeners that the node has a value, or another one.
  fileprivate mutating func report(
    _ indices: some Sequence<Int>, _ path: TreePath, _ writes: PendingWrites, _ events: inout [TreeEvent]
  ) {
    let isAcknowledged = !writes.touches(path)
    for index in indices {
      registrations[index].isReported = true
      registrations[index].isUnacknowledged = !isAcknowledged
      events.append(
        TreeEvent(listener: registrations[index].id, kind: .value, ofNode: path, isAcknowledged: isAcknowledged))
    }
  }

  fileprivate mutating func keep(_ change: Watches.CoveredChange, at path: TreePath) {
    if covered.count == Self.mostCovered {
      covered = [Watches.CoveredChange(places: [path], revision: change.revision)]
    } else {
      covered.append(change)
    }
  }

  /// Drops the changes that nothing covers any longer, and a confirmed write's own one.
  ///
  /// - Parameters:
  ///   - paths: what the write replaced that was answered.
  ///   - revision: of the write. What it covered of its own change and of earlier ones is what it has written.
  /// - Returns: whether it covered some of a later change that shows now.
  fileprivate mutating func uncover(_ paths: [TreePath], _ revision: String?, _ writes: PendingWrites) -> Bool {
    let own = revision.flatMap { revision in covered.lastIndex { $0.revision == revision } }
    var isShown = false
    var kept: [Watches.CoveredChange] = []
    for (index, change) in covered.enumerated() where index != own {
      let isLater = index > own ?? -1
      if isLater, change.isTouched(by: paths), !change.isCovered(by: writes) { isShown = true }
      if change.isTouched(by: writes) { kept.append(change) }
    }
    covered = kept
    return isShown
  }
}

extension TreeEvent {
  /// An event without a value.
  init(
    listener: ListenerID, kind: Kind, ofNode path: TreePath, isAcknowledged: Bool, reason: String? = nil,
    writeID: Int64? = nil
  ) {
    self.init(
      listener: listener, kind: kind, path: path, key: nil, node: .empty, previousKey: nil,
      isAcknowledged: isAcknowledged, reason: reason, writeID: writeID)
  }
}
