internal import MartletJSONTree
internal import MartletTreeClient

/// Last values of subscriptions that have ended, in memory: at most so many, those that ended last.
struct KeptValues {
  private let most: Int
  private var values: [TreeClient.Query: TreeClient.CachedValue] = [:]
  /// Oldest first.
  private var order: [TreeClient.Query] = []

  init(most: Int) { self.most = max(0, most) }

  func value(of query: TreeClient.Query) -> TreeClient.CachedValue? { values[query] }

  var all: [(TreeClient.Query, TreeClient.CachedValue)] {
    order.compactMap { query in values[query].map { (query, $0) } }
  }

  mutating func keep(_ value: TreeClient.CachedValue, of query: TreeClient.Query) {
    forget(query)
    values[query] = value
    order.append(query)
    while order.count > most { values[order.removeFirst()] = nil }
  }

  mutating func forget(_ query: TreeClient.Query) {
    if values.removeValue(forKey: query) != nil { order.removeAll { $0 == query } }
  }

  mutating func forget(below path: TreePath) {
    for query in order where path.contains(query.path) { forget(query) }
  }

  mutating func forgetAll() { (values, order) = ([:], []) }
}

/// Queries that are kept up to date without a subscription.
struct Keepers {
  private struct Keeper {
    var id: ListenerID?
    /// By `keepSynced`; otherwise by the policy of a subscription that has ended.
    var isPinned: Bool
  }

  private var keepers: [TreeClient.Query: Keeper] = [:]

  var queries: Set<TreeClient.Query> { Set(keepers.keys) }
  func has(_ query: TreeClient.Query) -> Bool { keepers[query] != nil }

  /// - Returns: whether it has to be listened to from now on.
  mutating func add(_ query: TreeClient.Query, isPinned: Bool) -> Bool {
    guard let known = keepers[query] else {
      keepers[query] = Keeper(id: nil, isPinned: isPinned)
      return true
    }
    keepers[query]?.isPinned = known.isPinned || isPinned
    return false
  }

  mutating func follows(_ query: TreeClient.Query, as id: ListenerID) { keepers[query]?.id = id }

  /// - Returns: the listener that has no more reason; nil when there is none.
  mutating func unpin(_ query: TreeClient.Query) -> ListenerID? {
    guard keepers[query]?.isPinned == true else { return nil }
    return keepers.removeValue(forKey: query)?.id
  }

  /// The server has ended a listener.
  mutating func remove(_ id: ListenerID) { keepers = keepers.filter { $0.value.id != id } }

  /// Removes those that policies have made; returns their listeners.
  mutating func removeUnpinned() -> [ListenerID] {
    let removed = keepers.filter { !$0.value.isPinned }
    keepers = keepers.filter(\.value.isPinned)
    return removed.values.compactMap(\.id)
  }
}
