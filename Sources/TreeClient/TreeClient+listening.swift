import MartletJSON
package import MartletJSONTree
import MartletTreeWire
package import MartletVocabulary

extension TreeClient {
  /// A value that a cache kept for a listener.
  package struct CachedValue: Sendable {
    package var node: TreeNode
    /// The revision up to which it is known; nil when the server did not say.
    package var revision: String?
    /// When it was last known to be the server's, in milliseconds since 1970; nil where that is not known.
    package var seen: Int64?

    package init(node: TreeNode, revision: String?, seen: Int64? = nil) {
      self.node = node
      self.revision = revision
      self.seen = seen
    }
  }

  /// Adds a listener. Events follow at once as far as the value is known.
  ///
  /// - Parameter cached: the value that an earlier process knew; shown until the server says otherwise.
  package mutating func listen(
    at path: TreePath, _ window: Window, as id: ListenerID, cached: CachedValue? = nil, now: Instant
  ) -> [Action] {
    follow(listening.listen(at: path, window, as: id, cached: cached), now)
  }

  /// Adds a listener that gets a node's changes without its values. From a server that does not offer it the values are
  /// asked for, as `listen` does.
  ///
  /// - Parameter cached: the value that an earlier process knew: the listener gets an event at once, as there is one.
  package mutating func watch(
    _ path: TreePath, as id: ListenerID, cached: CachedValue? = nil, now: Instant
  ) -> [Action] {
    follow(listening.watch(path, as: id, cached: cached, offersWatches: wire.offersWatches), now)
  }

  /// Removes a listener; it gets no further event.
  package mutating func unlisten(_ id: ListenerID, now: Instant) -> [Action] { follow(listening.unlisten(id), now) }

  /// Whether a listener gets changes without their values: this client has none for it.
  package func isWatch(_ id: ListenerID) -> Bool { listening.listens.isWatch(id) }

  /// Whether the server has confirmed a listen that covers the node, on the connection that is open.
  package func isLive(_ path: TreePath, _ window: Window = .all) -> Bool {
    listening.listens.isLive(path, window)
  }

  /// The server's value of a query and its revision, for a cache; nil while it is not wholly known.
  package func serverValue(of query: Query) -> CachedValue? { listening.serverValue(of: query) }

  /// The server has ended a listener, or refuses the credential under which it was begun.
  package mutating func cancelled(_ query: Query, _ reason: String, _ now: Instant) -> [Action] {
    follow(listening.cancelled(query, reason), now)
  }

  mutating func follow(_ outcome: Listening.Outcome, _ now: Instant) -> [Action] {
    var actions = outcome.actions
    for request in outcome.requests { actions += ask(request, now) }
    return actions
  }

  /// Follows an outcome of the engine: its events, and its requests to the server.
  mutating func follow(_ outcome: TreeEngine.Outcome, _ now: Instant) -> [Action] {
    var followed = Listening.Outcome()
    followed.add(outcome)
    return follow(followed, now)
  }

  private mutating func ask(_ request: TreeEngine.Request, _ now: Instant) -> [Action] {
    let id = nextID()
    switch request {
    case .listen, .watch: listening.listens.ask(request.query, by: id)
    case .unlisten, .unwatch: listening.listens.end(request.query)
    }
    return follow(sent: wire.request(id, request.onWire, now: now, knowing: listening.knowledge))
  }
}

extension TreeEngine.Request {
  /// What is listened to, or no longer.
  fileprivate var query: TreeClient.Query {
    switch self {
    case .listen(let path, let window, _), .unlisten(let path, let window, _): TreeClient.Query(path, window)
    case .watch(let path), .unwatch(let path): .watch(path)
    }
  }

  fileprivate var onWire: TreeRequest {
    switch self {
    case .listen(let path, let window, let tag): .listen(path, window, tag: tag.map(Int64.init), hash: nil)
    case .unlisten(let path, let window, let tag): .unlisten(path, window, tag: tag.map(Int64.init))
    case .watch(let path): .watch(path)
    case .unwatch(let path): .unwatch(path)
    }
  }
}
