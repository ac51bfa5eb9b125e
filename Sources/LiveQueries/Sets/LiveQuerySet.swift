package import MartletChangeFeed
internal import MartletJSON
internal import MartletModels

/// The name of a live query in its set.
package struct LiveQueryID: Sendable, Hashable {
  /// The query's place. A later query can have the same, and another number.
  package var place: Int { Int(slot) }
  fileprivate let slot: UInt32
  /// Restarts after four thousand million queries.
  fileprivate let number: UInt32

  fileprivate init(place: Int, number: UInt32) {
    slot = UInt32(truncatingIfNeeded: place)
    self.number = number
  }
}

/// All live queries of a store. A change is looked up once, by its model and the values it has in the fields that
/// queries compare by equality, and patches the queries that it concerns.
package struct LiveQuerySet: Sendable {
  /// A live query of either kind.
  package enum Query: Sendable {
    case window(QueryWindow)
    case aggregate(LiveAggregate)
  }

  /// A query where it is kept.
  private struct Kept: Sendable, ChangedInPlace {
    let number: UInt32
    /// Its place in the index; nil for a query over relations.
    var condition: ConditionPlace?
    var query: Query
  }

  private var queries = FreeList<Kept>()
  private var index: ConditionIndex
  /// Queries over relations by their places, which are evaluated one by one for commits that touch their models.
  private var related: [Int: RelatedQuery] = [:]
  private var nextNumber: UInt32 = 1
  /// Orders of queries, so that equal ones are one list. At most `mostOrders`: a list that was forgotten is its
  /// queries' own.
  private var orders: [RowOrder] = []
  private static let mostOrders = 32
  /// Places of queries that the present commit has changed, in the order they were met.
  private var met: [Int] = []
  /// Queries that ask for rows since the last changes were applied, or everything was to be read again.
  package private(set) var asking: [LiveQueryID] = []
  private var isMet: Set<Int> = []
  private var found: [ConditionIndex.Match] = []

  /// A set without queries.
  package init() {
    var limits = SubscriptionIndexLimits()
    // One application's own queries: what bounds them is the application.
    limits.scannedPredicates = .max
    index = ConditionIndex(limits: limits)
  }

  package var count: Int { queries.count }
  /// Rows that queries over relations have looked up for changes.
  package private(set) var relatedRowsRead = 0
  /// What the look-up cost.
  package var counters: SubscriptionIndexCounters { index.counters }

  // MARK: Queries

  /// Adds a query; it asks for its rows first.
  package mutating func add(_ query: WindowQuery, limits: WindowLimits = WindowLimits()) -> LiveQueryID {
    var query = query
    query.order = shared(query.order)
    return insert(.window(QueryWindow(query, limits: limits)), query.model, query.predicate, query.related)
  }

  /// Adds an aggregate; it asks for its totals first.
  package mutating func add(_ query: AggregateQuery) -> LiveQueryID {
    insert(.aggregate(LiveAggregate(query)), query.model, query.predicate, query.related)
  }

  private mutating func shared(_ order: RowOrder) -> RowOrder {
    if let known = orders.first(where: { $0 == order }) { return known }
    if orders.count == Self.mostOrders { orders.removeFirst() }
    orders.append(order)
    return order
  }

  private mutating func insert(
    _ query: Query, _ model: Int, _ predicate: Predicate, _ terms: RelatedTerms
  ) -> LiveQueryID {
    let number = nextNumber
    nextNumber &+= 1
    let place = queries.insert(Kept(number: number, query: query))
    if terms.isEmpty {
      // The limit that the index could refuse by is switched off.
      let condition = try? index.add(place, to: Interest(.records(model), predicate, .beforeAndAfter))
      queries.update(place) { $0.condition = condition }
    } else {
      related[place] = RelatedQuery(model: model, predicate: predicate, terms: terms)
    }
    return LiveQueryID(place: place, number: number)
  }

  /// Removes a query; changes no longer concern it.
  package mutating func remove(_ id: LiveQueryID) {
    guard isThere(id) else { return }
    let condition = queries.read(id.place) { $0.condition } ?? nil
    queries.remove(id.place)
    related[id.place] = nil
    guard let condition, let moved = index.remove(condition) else { return }
    queries.update(moved) { $0.condition = condition }
  }

  private func isThere(_ id: LiveQueryID) -> Bool { queries.read(id.place) { $0.number } == id.number }

  private func id(_ place: Int) -> LiveQueryID? {
    queries.read(place) { LiveQueryID(place: place, number: $0.number) }
  }

  /// The query called `id`; nil when it is gone.
  package func window(_ id: LiveQueryID) -> QueryWindow? {
    guard isThere(id), case .window(let window)? = queries.read(id.place, { $0.query }) else { return nil }
    return window
  }

  /// The aggregate called `id`; nil when it is gone.
  package func aggregate(_ id: LiveQueryID) -> LiveAggregate? {
    guard isThere(id), case .aggregate(let aggregate)? = queries.read(id.place, { $0.query }) else { return nil }
    return aggregate
  }

  /// Whether the query's consumer has something to take, and how many changes have concerned a window. In place: a copy
  /// of a window costs more than the answer.
  package mutating func standing(of id: LiveQueryID) -> (isDue: Bool, changes: Int) {
    var (isDue, changes) = (false, 0)
    update(id, window: { (isDue, changes) = ($0.isDue, $0.counters.changes) }, aggregate: { isDue = $0.isDue })
    return (isDue, changes)
  }

  // MARK: Changes

  /// Applies the changes of one commit. Returns the queries that they concern, each once.
  ///
  /// - Parameter lookup: finds related rows as of the commit, for queries over relations. A query whose rows it cannot
  ///   find asks for all its rows again.
  package mutating func apply(
    _ changes: [RowChange], lookup: CommitRows.Lookup? = nil
  ) -> [LiveQueryID] {
    met.removeAll(keepingCapacity: true)
    isMet.removeAll(keepingCapacity: true)
    for change in changes { apply(change) }
    if let lookup, !related.isEmpty { applyRelated(CommitRows(changes, lookup: lookup)) }
    asking.removeAll(keepingCapacity: true)
    for place in met {
      var asks = false
      update(
        place,
        window: { window in
          window.settle()
          asks = window.request != nil
        },
        aggregate: { aggregate in
          aggregate.settle()
          asks = !aggregate.requests.isEmpty
        })
      if asks, let id = id(place) { asking.append(id) }
    }
    return met.compactMap(id)
  }

  private mutating func applyRelated(_ rows: CommitRows) {
    for (place, query) in related.sorted(by: { $0.key < $1.key }) {
      do {
        let effects = try rows.effects(model: query.model, query.predicate, query.terms)
        if effects.isEmpty { continue }
        for effect in effects { update(place, window: { $0.apply(effect) }, aggregate: { $0.apply(effect) }) }
      } catch {
        update(place, window: { $0.reload() }, aggregate: { $0.reload() })
      }
      if isMet.insert(place).inserted { met.append(place) }
    }
    relatedRowsRead += rows.rowsRead
  }

  private mutating func apply(_ change: RowChange) {
    guard let images = change.images else { return }
    found.removeAll(keepingCapacity: true)
    index.match(images, in: .records(change.model), into: &found)
    for match in found {
      let effect: ChangeEffect? =
        switch match.effect {
        case .entered: ChangeEffect(nil, change.after)
        case .stayed: ChangeEffect(change.before, change.after)
        case .left: ChangeEffect(change.before, nil)
        }
      guard let effect else { continue }
      switch index.owners(of: match) {
      case .none: break
      case .one(let place): apply(effect, to: place)
      case .many(let places): for place in places { apply(effect, to: place) }
      }
    }
  }

  private mutating func apply(_ effect: ChangeEffect, to place: Int) {
    update(place, window: { $0.apply(effect) }, aggregate: { $0.apply(effect) })
    if isMet.insert(place).inserted { met.append(place) }
  }

  /// Makes the queries of some models ask for all their rows again, after changes that were not applied one by one.
  package mutating func reload(where concerns: (Int) -> Bool = { _ in true }) -> [LiveQueryID] {
    var reloaded: [LiveQueryID] = []
    for place in queries.numbers where queries.read(place, { concerns($0.query.model) }) == true {
      update(place, window: { $0.reload() }, aggregate: { $0.reload() })
      if let id = id(place) { reloaded.append(id) }
    }
    asking = reloaded
    return reloaded
  }

  /// Changes a query in place: a copy of a window would cost a piece of its rows.
  package mutating func update(
    _ id: LiveQueryID, window: (inout QueryWindow) -> Void = { _ in },
    aggregate: (inout LiveAggregate) -> Void = { _ in }
  ) {
    if isThere(id) { update(id.place, window: window, aggregate: aggregate) }
  }

  private mutating func update(
    _ place: Int, window: (inout QueryWindow) -> Void, aggregate: (inout LiveAggregate) -> Void
  ) {
    queries.update(place) { $0.query.update(window: window, aggregate: aggregate) }
  }
}

/// A query over relations, as changes are tried on it.
private struct RelatedQuery: Sendable {
  var model: Int
  var predicate: Predicate
  var terms: RelatedTerms
}

extension LiveQuerySet.Query {
  fileprivate var model: Int {
    switch self {
    case .window(let window): window.query.model
    case .aggregate(let aggregate): aggregate.query.model
    }
  }

  /// The value is taken out of the enumeration while it is changed, so that it is its storage's only owner.
  fileprivate mutating func update(
    window change: (inout QueryWindow) -> Void, aggregate changeAggregate: (inout LiveAggregate) -> Void
  ) {
    switch consume self {
    case .window(var window):
      change(&window)
      self = .window(window)
    case .aggregate(var aggregate):
      changeAggregate(&aggregate)
      self = .aggregate(aggregate)
    }
  }
}

extension RowChange {
  /// The change as the index looks it up; nil for a record that was absent before and is absent after.
  fileprivate var images: ConditionIndex.Images? {
    switch (before, after) {
    case (nil, nil): return nil
    case (nil, let after?): return .created(after.record)
    case (let before?, nil): return .removed(before.record)
    case (let before?, let after?):
      var changed = FieldSet()
      for field in after.record.values.indices where before.record[field] != after.record[field] {
        changed.insert(field)
      }
      return .replaced(after: after.record, before: before.record, changed: changed)
    }
  }
}
