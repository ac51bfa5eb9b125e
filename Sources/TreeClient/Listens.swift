import MartletJSON
package import MartletJSONTree
import MartletTreeWire

/// What a client listens to: its listeners, the listens it has asked the server for, which of them the server has
/// confirmed, and up to which revision each value is known.
struct Listens: Sendable {
  typealias Query = TreeClient.Query

  /// Up to which revision the value of each query is known.
  private(set) var revisions: [Query: String] = [:]
  /// When something came from the server last, in milliseconds since 1970.
  var heard: Int64 = 0
  /// When the value of each query that is not live was last known to be the server's, in milliseconds since 1970.
  private var seen: [Query: Int64] = [:]
  private var listeners: [ListenerID: Query] = [:]
  /// Listeners whose value the server has not confirmed yet.
  private var unready: Set<ListenerID> = []
  /// The listens by the ids of their requests.
  private var requests: [Int64: Query] = [:]
  /// Values that come in parts.
  var loads = Loads()
  /// What the server has confirmed on the connection that is open.
  private var confirmed: Set<Query> = []

  // MARK: Listeners

  mutating func add(_ id: ListenerID, to query: Query) {
    listeners[id] = query
    unready.insert(id)
  }

  /// Removes a listener and returns what it listened to; nil when it is not there.
  @discardableResult
  mutating func remove(_ id: ListenerID) -> Query? {
    unready.remove(id)
    return listeners.removeValue(forKey: id)
  }

  /// Removes and returns, in order, the listeners that wait for the server and whose value it has confirmed.
  mutating func takeReady() -> [ListenerID] {
    let ready = unready.filter { id in listeners[id].map(isConfirmed) ?? false }
    unready.subtract(ready)
    return ready.sorted()
  }

  /// The listeners, in order, whose values are part of a query's.
  func listeners(within query: Query) -> [ListenerID] {
    listeners.filter { _, own in
      if own.isWatch || query.isWatch { return own == query }
      return own == query || query.window.isUnbounded && query.path.contains(own.path)
    }.keys.sorted()
  }

  /// Whether a listener gets changes without their values.
  func isWatch(_ id: ListenerID) -> Bool { listeners[id]?.isWatch ?? false }

  // MARK: The server

  /// What a request listens to; nil when the request is another one.
  func query(ofRequest id: Int64) -> Query? { requests[id] }

  /// Takes a part of the value of a whole node; returns the value when it is whole.
  ///
  /// - Throws: `invalidTree` when the part cannot be read.
  mutating func take(_ json: JSONValue, of path: TreePath, _ part: TreePush.Part) throws(TreeWireError) -> TreeNode? {
    // A part of what is no longer listened to may have been on its way.
    guard requests.values.contains(Query(path, .all)) else { return nil }
    guard let node = try? TreeReader(limits: .largest).read(json, at: path) else {
      throw TreeWireError(.invalidTree, "part: the value of \(path) cannot be read")
    }
    return loads.take(node, of: path, part)
  }

  /// Notes the request of a listen.
  mutating func ask(_ query: Query, by request: Int64) { requests[request] = query }

  /// Notes that a request was refused.
  mutating func refuse(_ request: Int64) { requests[request] = nil }

  /// The queries of whole nodes that were asked for and that a change at a path concerns.
  func queries(concernedBy path: TreePath) -> Set<Query> {
    Set(requests.values).filter {
      !$0.isWatch && $0.window.isUnbounded && ($0.path.contains(path) || path.contains($0.path))
    }
  }

  mutating func confirm(_ query: Query, revision: String?) {
    confirmed.insert(query)
    revisions[query] = revision
  }

  /// Notes up to which revision a cache knows a value, and since when.
  mutating func note(_ cached: TreeClient.CachedValue, of query: Query) {
    revisions[query] = cached.revision
    seen[query] = cached.seen
  }

  /// Everything up to this revision has been received for all that is confirmed.
  mutating func reach(_ revision: String) {
    for query in confirmed { revisions[query] = revision }
  }

  /// Forgets what is known of a query whose listening has ended.
  mutating func end(_ query: Query) {
    requests = requests.filter { $0.value != query }
    confirmed.remove(query)
    revisions[query] = nil
    seen[query] = nil
    if query.window.isUnbounded, !query.isWatch { loads.drop(query.path) }
  }

  /// The connection has ended, and with it what the server confirmed.
  mutating func disconnect() {
    for query in confirmed { seen[query] = heard }
    confirmed = []
    loads.dropAll()
  }

  /// Whether the server has confirmed a listen that covers the node, on the connection that is open.
  func isLive(_ path: TreePath, _ window: Window) -> Bool {
    Query.covering(path, window).contains { confirmed.contains($0) }
  }

  private func isConfirmed(_ query: Query) -> Bool {
    query.isWatch ? confirmed.contains(query) : isLive(query.path, query.window)
  }

  /// Whether the changes of a node are asked for on the connection that is open, or will be on the next.
  func isWatched(_ path: TreePath) -> Bool { requests.values.contains(.watch(path)) }

  /// When the value of a query was last known to be the server's; nil where that is not known.
  func seen(_ query: Query) -> Int64? {
    if isLive(query.path, query.window) { return heard }
    return Query.covering(query.path, query.window).compactMap { seen[$0] }.max()
  }

  /// The server's value of a query, as a cache keeps it.
  func cached(_ node: TreeNode, of query: Query) -> TreeClient.CachedValue {
    TreeClient.CachedValue(node: node, revision: revisions[query], seen: seen(query))
  }
}

extension TreeClient.Query {
  /// The queries whose values contain that of a node's window: itself, the node, and the nodes above.
  package static func covering(_ path: TreePath, _ window: Window) -> [TreeClient.Query] {
    let whole = stride(from: path.keys.count, through: 0, by: -1).map {
      TreeClient.Query(TreePath(path.keys.prefix($0)), .all)
    }
    return window.isUnbounded ? whole : [TreeClient.Query(path, window)] + whole
  }
}
