internal import MartletJSONTree
internal import MartletRuntime
internal import MartletTreeClient
internal import MartletVocabulary

/// The values that a service knows besides its running subscriptions: in its file, of subscriptions that have ended,
/// and of nodes that are kept up to date in silence. Confined to the service's loop.
final class CachedValues {
  /// Values are written at most this often: a node that changes all the time is not written all the time.
  private static let savingPause = Duration.seconds(1)

  let storage: DatasyncStorage?
  private let mode: DatasyncCacheMode
  private unowned let driver: DatasyncDriver
  private var dirty: Set<TreeClient.Query> = []
  private var savingTimer: LoopTimer?
  /// Silent listeners: nodes that are kept up to date without a subscription.
  private var keepers = Keepers()
  /// Last values of subscriptions that have ended, where there is no file.
  private var kept: KeptValues

  /// - Parameter known: the values of a text that the application begins with.
  init(
    _ storage: DatasyncStorage?, _ configuration: DatasyncConfiguration, _ driver: DatasyncDriver, _ known: CacheText?
  ) {
    (self.storage, self.driver) = (storage, driver)
    mode = configuration.cacheMode
    kept = KeptValues(most: max(configuration.keptNodes, known?.values.count ?? 0))
    for (query, value) in known?.values ?? [] { kept.keep(value, of: query) }
  }

  /// Everything that is known, as a text.
  var text: String {
    var values: [TreeClient.Query: TreeClient.CachedValue] = [:]
    for (query, value) in storage?.values() ?? kept.all { values[query] = value }
    for query in queriesInUse {
      if let value = driver.machine.serverValue(of: query) { values[query] = value }
    }
    let sorted = values.sorted { DatasyncStorage.key($0.key) < DatasyncStorage.key($1.key) }
    return CacheText(sorted.map { (query: $0.key, value: $0.value) }).text
  }

  /// A value has changed: it is written soon.
  func changed(_ query: TreeClient.Query) {
    guard storage != nil else { return }
    dirty.insert(query)
    guard savingTimer == nil, case .automatic = mode else { return }
    savingTimer = driver.loop.schedule(at: driver.now + Self.savingPause) { [weak self] in self?.save() }
  }

  /// Writes the values that have changed.
  func save() {
    savingTimer?.cancel()
    savingTimer = nil
    for query in dirty {
      if let value = driver.machine.serverValue(of: query) { storage?.keep(value, of: query) }
    }
    dirty = []
    storage?.evict(keeping: queriesInUse)
  }

  /// Queries of subscriptions and silent listeners: their values are not evicted.
  private var queriesInUse: Set<TreeClient.Query> {
    Set(holders.map(\.query)).union(keepers.queries)
  }

  /// The subscriptions for which the client has a value.
  private var holders: [TreeSubscriptionCore] { driver.cores.values.filter { !driver.machine.isWatch($0.id) } }

  /// The value of a query that was known last, of which no listener may be left: as it was kept, or as a part of the
  /// value of a node that was kept.
  func cached(_ query: TreeClient.Query) -> TreeClient.CachedValue? {
    for known in TreeClient.Query.covering(query.path, query.window) {
      guard var value = storage.map({ $0.value(of: known) }) ?? kept.value(of: known) else { continue }
      if known == query { return value }
      value.node = value.node.node(at: query.path.relative(to: known.path) ?? .root)
      if !query.window.isUnbounded {
        value.node = OrderedChildren(value.node, order: query.window.order).node(in: query.window)
      }
      return value
    }
    return nil
  }

  /// The connection has ended, or is about to: values of listeners that are live were the server's until now.
  func disconnected() {
    guard let storage, case .automatic = mode else { return }
    for query in queriesInUse where driver.machine.isLive(query.path, query.window) && !dirty.contains(query) {
      if let seen = driver.machine.serverValue(of: query)?.seen { storage.note(seen: seen, of: query) }
    }
  }

  private func forget(_ query: TreeClient.Query) {
    dirty.remove(query)
    storage?.forget(query)
    kept.forget(query)
  }

  // MARK: What stays of a subscription that has ended

  /// The server has ended the listeners of a query.
  func ended(_ query: TreeClient.Query, _ last: TreeClient.CachedValue?) {
    let forgets = driver.cores.values.contains { $0.query == query && $0.policy == .forgetData }
    switch last {
    case nil: revoke(query)
    case _? where forgets: forget(query)
    case let last?: keep(last, of: query)
    }
  }

  /// Reading was revoked: neither the value nor parts of it that were kept by themselves are shown any longer, nor
  /// values of nodes above, of which it is a part: a caller that may read one of those may read what is below.
  func revoke(_ query: TreeClient.Query) {
    forget(query)
    storage?.forget(below: query.path)
    kept.forget(below: query.path)
    let used = queriesInUse
    for (other, _) in storage?.values() ?? kept.all where other.path.contains(query.path) && !used.contains(other) {
      forget(other)
    }
    // What may still be read is written again.
    for used in queriesInUse where used != query && query.path.contains(used.path) { changed(used) }
  }

  private func keep(_ value: TreeClient.CachedValue, of query: TreeClient.Query) {
    guard let storage else { return kept.keep(value, of: query) }
    // With `manualSaving` the file has what was saved.
    guard case .automatic = mode else { return }
    storage.keep(value, of: query)
    dirty.remove(query)
    storage.evict(keeping: queriesInUse)
  }

  /// A subscription has been cancelled: its policy says what stays of its value.
  func retire(_ core: TreeSubscriptionCore) {
    let query = core.query
    let isShared = keepers.has(query) || holders.contains { $0.id != core.id && $0.query == query }
    switch core.policy {
    case .forgetData: if !isShared { forget(query) }
    case .keepUpdatingData: follow(query, isPinned: false)
    case .keepUpdatingDataWhenImplicit where core.endedImplicitly: follow(query, isPinned: false)
    case .keepData, .keepUpdatingDataWhenImplicit:
      if !isShared, let value = driver.machine.serverValue(of: query) { keep(value, of: query) }
    }
  }

  /// Keeps a query up to date without a subscription.
  func follow(_ query: TreeClient.Query, isPinned: Bool) {
    guard keepers.add(query, isPinned: isPinned) else { return }
    let id = driver.shared.nextListener()
    keepers.follows(query, as: id)
    driver.perform(driver.machine.listen(at: query.path, query.window, as: id, cached: cached(query), now: driver.now))
    driver.need()
  }

  /// No longer keeps a query up to date for `keepSynced`.
  func release(_ query: TreeClient.Query) {
    guard let id = keepers.unpin(query) else { return }
    if let value = driver.machine.serverValue(of: query) { keep(value, of: query) }
    driver.perform(driver.machine.unlisten(id, now: driver.now))
  }

  /// Forgets values, and what completed subscriptions keep up to date.
  func clean() {
    storage?.forgetAll()
    kept.forgetAll()
    for id in keepers.removeUnpinned() { driver.perform(driver.machine.unlisten(id, now: driver.now)) }
  }

  /// The server refuses the credential, and no other is shown: what its caller could read is not shown any longer.
  func refused(_ reason: String) {
    for query in queriesInUse { driver.perform(driver.machine.cancelled(query, reason, driver.now)) }
    clean()
  }

  /// The server has ended a listener.
  func cancelled(_ id: ListenerID) { keepers.remove(id) }
}
