extension TreeEngine {
  /// Adds a listener that gets a node's changes without its values. It needs a watch at the server, whatever else is
  /// listened to there.
  ///
  /// - Parameter isKnown: whether it is known without the server that there is a value.
  package mutating func watch(_ path: TreePath, as id: ListenerID, isKnown: Bool = false) -> Outcome {
    var outcome = Outcome()
    if watches.add(id, at: path, isKnown: isKnown, writes, &outcome.events) { outcome.requests = [.watch(path)] }
    return outcome
  }

  /// Removes such a listener.
  package mutating func unwatch(_ id: ListenerID, at path: TreePath) -> Outcome {
    var outcome = Outcome()
    if watches.remove(id, at: path) { outcome.requests = [.unwatch(path)] }
    return outcome
  }

  /// The server says that a watched node has a value, or another one.
  ///
  /// - Parameters:
  ///   - places: where below the node; none when all of it may have changed.
  ///   - revision: of the change; a write of this client that is confirmed with the same one is this change.
  package mutating func watchedChanged(_ path: TreePath, places: [TreePath], revision: String? = nil) -> Outcome {
    var outcome = Outcome()
    watches.changed(path, places, revision, writes, &outcome.events)
    return outcome
  }

  /// The server has ended a watch: its listeners get a last event.
  package mutating func cancelWatch(of path: TreePath, reason: String) -> Outcome {
    var outcome = Outcome()
    outcome.events = watches.end(path).map {
      TreeEvent(listener: $0.id, kind: .cancelled, ofNode: path, isAcknowledged: true, reason: reason)
    }
    return outcome
  }

  /// Ends all watches without a request to the server, which does not know them.
  ///
  /// - Returns: the nodes, their listeners, and whether a value was reported to these.
  package mutating func takeWatches() -> [(path: TreePath, id: ListenerID, isReported: Bool)] {
    let taken = watches.all.flatMap { path, watch in watch.registrations.map { (path, $0.id, $0.isReported) } }
    watches = Watches()
    return taken.sorted { $0.1 < $1.1 }
  }
}
