internal import MartletGraphQLDocuments
internal import MartletJSON

/// Everything of a store that changes.
///
/// `@unchecked Sendable` holds because only the store that made it has it, and hands it out inside its lock only.
final class StoreCore: @unchecked Sendable {
  let configuration: GraphQLStoreConfiguration
  let cache: any NormalizedCache
  let binder: Binder
  var shelf: DocumentShelf
  var watchers = WatcherIndex()
  var layers: [OptimisticLayer] = []
  var counters = StoreCounters()
  /// Whether the cache can be used.
  private(set) var health = CacheHealth()
  /// What is read while it cannot.
  private let empty = InMemoryNormalizedCache()
  private var nextExpiry: Duration = .zero
  /// More than this has to be kept before eviction is tried again.
  private var patience = CacheUsage(records: 0, bytes: 0)
  /// The waiters to wake once the lock is released.
  private var waking: [CheckedContinuation<Void, Never>] = []

  init(cache: sending any NormalizedCache, configuration: GraphQLStoreConfiguration) {
    self.cache = cache
    var configuration = configuration
    var known: PartialSchema?
    do {
      if let text = configuration.schema { known = try PartialSchema(text) }
    } catch {
      schemaError = error
    }
    let schema = known?.schema
    configuration.keyFields = PartialSchema.expand(configuration.keyFields, schema, configuration.possibleTypes)
    self.configuration = configuration
    binder = Binder(
      configuration: configuration,
      knowledge: TypeKnowledge(known, possibleTypes: configuration.possibleTypes))
    shelf = DocumentShelf(configuration: configuration, schema: schema)
    if cache.outlivesProcess, let known = try? cache.record(for: .types) { binder.knowledge.remember(known.record) }
    savedKnowledge = binder.knowledge.version
  }

  /// Why the configured schema cannot be used.
  private(set) var schemaError: GraphQLStoreError?
  /// How often everything was removed. What was asked for before must not come back after it.
  private(set) var generation = 0
  private var lastLayer = 0
  /// The version of what is known about types that the cache has.
  private var savedKnowledge = 0

  func nextLayer() -> Int {
    lastLayer += 1
    return lastLayer
  }

  /// The watchers to wake, outside the lock.
  func takeWaking() -> [CheckedContinuation<Void, Never>] {
    defer { waking = [] }
    return waking
  }

  // MARK: Reading

  /// The store as it is seen, with the first `layers` optimistic updates on it.
  func view(layers count: Int? = nil, respectsAge: Bool) -> StoreView {
    let now = configuration.clock()
    return StoreView(
      cache: health.isOff ? empty : cache, overlays: layers.prefix(count ?? layers.count).map(\.overlay), now: now,
      expiry: respectsAge ? configuration.limits.age.map { now - $0 } : nil)
  }

  func read(_ operation: BoundOperation, allowsPartial: Bool, watcher: Int? = nil) throws -> StoreResult? {
    var reader = ResultReader(
      operation, binder, view: view(respectsAge: watcher == nil), allowsPartial: allowsPartial,
      notesDependencies: watcher != nil)
    let data: JSONValue?
    do {
      data = try reader.operation()
    } catch let error as GraphQLStoreError {
      throw error
    } catch {
      // The cache cannot be read: nothing is in it, and the server is asked.
      health.failed(error, at: configuration.clock(), pause: configuration.limits.cacheRetryPause)
      return nil
    }
    counters.recordsRead += reader.records
    if let watcher {
      counters.watcherReads += 1
      watchers.update(watcher, reader.dependencies)
    }
    guard let data else { return nil }
    return StoreResult(data: data, source: .cache, missing: reader.missing)
  }

  // MARK: Writing

  /// Writes what a server sent, and lets go of an optimistic update in the same step. A result of the server is never
  /// lost because it cannot be kept, so this does not throw.
  /// - Parameter asked: the generation in which the data were asked for; of another they are not written.
  /// - Returns: why it was not written: once for a cache that fails until it works again, and each time for data that
  ///   do not fit the document.
  func keep(
    _ payload: StorePayload, of operation: BoundOperation, ending layer: Int? = nil, since asked: Int? = nil
  ) -> GraphQLStoreError? {
    do {
      var changes: [CacheChange] = []
      if let data = payload.data, asked == nil || asked == generation {
        var normalizer = Normalizer(operation, binder, errors: payload.errors)
        try normalizer.write(data)
        changes = normalizer.changes
      }
      if health.mayWrite(at: configuration.clock()) {
        try commit(changes, ending: layer)
        return nil
      }
      health.missed(changes)
    } catch {
      if !health.isOff {
        end(layer)
        return error as? GraphQLStoreError ?? GraphQLStoreError(.backend, "the cache failed", underlying: error)
      }
    }
    end(layer)
    return health.report()
  }

  /// Lets go of an optimistic update, if it is in force.
  private func end(_ layer: Int?) {
    if let layer { tell(remove(layer: layer)) }
  }

  /// The cache works again when these changes can be applied: without the records whose changes it missed.
  private func apply(_ changes: [CacheChange], at now: Duration) throws -> CacheDifference {
    do {
      var changes = changes
      if let missed = health.missed {
        changes = missed.map { .remove($0) } + changes
      } else {
        try cache.removeAll()
      }
      let difference = changes.isEmpty ? CacheDifference() : try cache.apply(changes, at: now)
      if health.isOff { health.recovered() }
      return difference
    } catch {
      health.missed(changes)
      health.failed(error, at: now, pause: configuration.limits.cacheRetryPause)
      throw error
    }
  }

  /// Applies changes to the cache and notifies the watchers they concern.
  func commit(_ changes: [CacheChange], ending layer: Int? = nil) throws {
    let now = configuration.clock()
    var changes = changes
    let version = binder.knowledge.version
    if cache.outlivesProcess, version != savedKnowledge { changes.append(.merge(.types, binder.knowledge.record)) }
    var difference = try apply(changes, at: now)
    savedKnowledge = version
    counters.recordsWritten += changes.count
    counters.recordsChanged += difference.changes.count
    if let layer { difference.changes += remove(layer: layer) }
    do {
      difference.changes += try evict(now)
    } catch {
      // What was written is in the cache, and watchers see it.
      health.failed(error, at: now, pause: configuration.limits.cacheRetryPause)
      tell(difference.changes)
      throw error
    }
    tell(difference.changes)
  }

  /// Runs optimistic updates again that read what changed, and raises the watchers.
  func tell(_ changes: [CacheDifference.Change]) {
    guard !changes.isEmpty else { return }
    let all = layers.isEmpty ? changes : changes + rerun(after: changes)
    waking += watchers.raise(all)
  }

  // MARK: Bounds

  private func evict(_ now: Duration) throws -> [CacheDifference.Change] {
    let limits = configuration.limits
    var expiry: Duration?
    if let age = limits.age, now >= nextExpiry {
      expiry = now - age
      // An eighth of the age late at most: looking at every record costs as much as there are.
      nextExpiry = now + age / 8
    }
    let usage = cache.usage
    let isOver = usage.records > limits.records || usage.bytes > limits.bytes
    guard expiry != nil || isOver && (usage.records > patience.records || usage.bytes > patience.bytes) else {
      return []
    }
    let removed = try cache.evict(
      toRecords: limits.records, bytes: limits.bytes, expiry: expiry,
      isSpared: { watchers.isRead($0) || $0 == .types })
    counters.evicted += removed.count
    let rest = cache.usage
    // When watchers hold on to more than the bounds, trying again pays off once there is an eighth more.
    let isStillOver = rest.records > limits.records || rest.bytes > limits.bytes
    patience =
      isStillOver
      ? CacheUsage(records: rest.records + rest.records / 8, bytes: rest.bytes + rest.bytes / 8)
      : CacheUsage(records: 0, bytes: 0)
    return removed.map { CacheDifference.Change($0, fields: nil) }
  }

  /// Removes what no root field, watcher or optimistic update leads to.
  func collectGarbage(keeping kept: [CacheKey]) throws -> Int {
    let keys = try cache.keys()
    var reached = Set(kept)
    reached.formUnion(keys.filter { $0.isRoot || $0 == .types })
    reached.formUnion(watchers.records)
    for layer in layers { reached.formUnion(layer.overlay.patches.keys) }
    var open = Array(reached)
    for layer in layers {
      for case .merge(_, let record) in layer.overlay.changes {
        record.forEach { Self.references($0.value, &open, &reached) }
      }
    }
    while let key = open.popLast() {
      guard let record = try cache.record(for: key)?.record else { continue }
      for (_, value) in record { Self.references(value, &open, &reached) }
    }
    let garbage = keys.filter { !reached.contains($0) }
    let difference = try cache.apply(garbage.map { .remove($0) }, at: configuration.clock())
    tell(difference.changes)
    return garbage.count
  }

  private static func references(_ value: CacheValue, _ open: inout [CacheKey], _ reached: inout Set<CacheKey>) {
    switch value {
    case .leaf: break
    case .reference(let key): if reached.insert(key).inserted { open.append(key) }
    case .object(let record): for (_, inner) in record { references(inner, &open, &reached) }
    case .list(let values): for inner in values { references(inner, &open, &reached) }
    }
  }

  /// Empties cache and optimistic updates. Watchers are notified.
  func clear() throws {
    let keys = try cache.keys()
    try cache.removeAll()
    if health.isOff { health.recovered() }
    generation += 1
    savedKnowledge = 0
    var changes = keys.map { CacheDifference.Change($0, fields: nil) }
    for layer in layers {
      layer.handle.end(nil)
      changes += layer.changes
    }
    layers = []
    waking += watchers.raise(changes)
  }
}

/// What a store has done so far; tests count with it.
package struct StoreCounters: Sendable, Hashable {
  package var recordsRead = 0
  package var recordsWritten = 0
  /// Records of which something changed.
  package var recordsChanged = 0
  /// Times a watcher's result was read anew.
  package var watcherReads = 0
  /// Times a watcher was asked whether a change concerns it.
  package var watchersAsked = 0
  package var documentsParsed = 0
  /// Times the body of an optimistic update ran.
  package var optimisticRuns = 0
  package var evicted = 0
  package var watchers = 0
}

extension CacheKey {
  /// The record of what was learned about types.
  static let types = CacheKey("MARTLET_TYPES")

  /// Whether this is a field of a root type.
  var isRoot: Bool { text.utf8.starts(with: "QUERY_ROOT.".utf8) || text.utf8.starts(with: "SUBSCRIPTION_ROOT.".utf8) }
}
