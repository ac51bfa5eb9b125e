internal import MartletDataStore

/// What each process of the clients has had from the server's feed, to find what comes twice.
struct FeedHistory {
  private struct Change: Hashable {
    var place: Checks.Seen
    var version: Int64
    var type: MutationEvent.MutationType
  }

  private var changes: Set<Change> = []

  /// Takes an event of a process.
  ///
  /// - Returns: false for a change of the feed that this process has had.
  mutating func take(_ event: MutationEvent, version: Int64, at place: Checks.Seen) -> Bool {
    if event.source == .live {
      return changes.insert(Change(place: place, version: version, type: event.mutationType)).inserted
    }
    // A record that was removed with its caller's access is there again, and may be removed at the same version. Under
    // a creation of the same record that waits, only that is seen of it.
    if event.source != .local && event.mutationType != .delete || event.mutationType == .create {
      changes.remove(Change(place: place, version: version, type: .delete))
    }
    return true
  }

  /// A gap: the client may get again what it had.
  mutating func forget(client: Int) {
    changes = changes.filter { $0.place.client != client }
  }
}
