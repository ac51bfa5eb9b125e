package import MartletChangeFeed
internal import MartletJSON
internal import MartletModels

/// The name of a live query in its set.
package struct LiveQueryID: Sendable, Hashable {
  package let number: Int
}

/// All live queries of a store. A change is looked up once, by its model and the values it has in the fields that
/// queries compare by equality, and patches the queries that it concerns.
package struct LiveQuerySet: Sendable {
  /// A live query of either kind.
  package enum Query: Sendable {
    case window(QueryWindow)
    case aggregate(LiveAggregate)
  }

  /// The queries of one condition, which the index knows as one.
  private struct Sharing: Sendable {
    var condition: Condition
    var place: MemberID
    var queries: [Int]
  }

  private struct Condition: Sendable, Hashable {
    var model: Int
    var predicate: Predicate
  }

  /// By their places, and the places by number. A dictionary of queries would have room for twice as many.
  private var queries: [Query?] = []
  private var places: [Int: Int] = [:]
  private var freePlaces: [Int] = []
  /// By the group in the index; and the group of each condition and of each query.
  private var sharing: [Int: Sharing] = [:]
  private var groups: [Condition: Int] = [:]
  private var groupOfQuery: [Int: Int] = [:]
  private var index: SubscriptionIndex<Int>
  /// Queries over relations, which are evaluated one by one for commits that touch their models.
  private var related: [Int: RelatedQuery] = [:]
  private var nextNumber = 1
  /// Queries that the present commit has changed, in the order they were met.
  private var met: [Int] = []
  /// Queries that ask for rows since the last changes were applied, or everything was to be read again.
  package private(set) var asking: [LiveQueryID] = []
  private var isMet: Set<Int> = []
  private var found: [SubscriptionIndex<Int>.Match] = []

  /// A set without queries.
  package init() {
    var limits = SubscriptionIndexLimits()
    // One application's own queries: what bounds them is the application.
    limits.scannedPredicates = .max
    index = SubscriptionIndex(limits: limits)
  }

  package var count: Int { places.count }
  /// Rows that queries over relations have looked up for changes.
  package private(set) var relatedRowsRead = 0
  /// What the look-up cost.
  package var counters: SubscriptionIndexCounters { index.counters }

  // MARK: Queries

  /// Adds a query; it asks for its rows first.
  package mutating func add(_ query: WindowQuery, limits: WindowLimits = WindowLimits()) -> LiveQueryID {
    insert(.window(QueryWindow(query, limits: limits)), query.model, query.predicate, query.related)
  }

  /// Adds an aggregate; it asks for its totals first.
  package mutating func add(_ query: AggregateQuery) -> LiveQueryID {
    insert(.aggregate(LiveAggregate(query)), query.model, query.predicate, query.related)
  }

  private mutating func insert(
    _ query: Query, _ model: Int, _ predicate: Predicate, _ terms: RelatedTerms
  ) -> LiveQueryID {
    let number = nextNumber
    nextNumber += 1
    place(query, number)
    guard terms.isEmpty else {
      related[number] = RelatedQuery(model: model, predicate: predicate, terms: terms)
      return LiveQueryID(number: number)
    }
    share(number, Condition(model: model, predicate: predicate))
    return LiveQueryID(number: number)
  }

  private mutating func place(_ query: Query, _ number: Int) {
    if let free = freePlaces.popLast() {
      queries[free] = query
      places[number] = free
    } else {
      places[number] = queries.count
      queries.append(query)
    }
  }

  private mutating func share(_ number: Int, _ condition: Condition) {
    if let group = groups[condition] {
      groupOfQuery[number] = group
      sharing[group]?.queries.append(number)
      return
    }
    let key = GroupKey(schemaVersion: 0, document: [], operation: "", variables: Array(String(number).utf8))
    let interests = ChangeKind.allCases.map {
      Interest(.model(condition.model, $0), condition.predicate, .beforeAndAfter)
    }
    // The limit that the index could refuse by is switched off.
    guard let place = try? index.add(number, key: key, interests: interests) else { return }
    groups[condition] = place.group.number
    groupOfQuery[number] = place.group.number
    sharing[place.group.number] = Sharing(condition: condition, place: place, queries: [number])
  }

  /// Removes a query; changes no longer concern it.
  package mutating func remove(_ id: LiveQueryID) {
    if let place = places.removeValue(forKey: id.number) {
      queries[place] = nil
      freePlaces.append(place)
    }
    related[id.number] = nil
    guard let group = groupOfQuery.removeValue(forKey: id.number) else { return }
    sharing[group]?.queries.removeAll { $0 == id.number }
    guard let shared = sharing[group], shared.queries.isEmpty else { return }
    sharing[group] = nil
    groups[shared.condition] = nil
    index.remove(shared.place)
  }

  /// The query called `id`; nil when it is gone.
  package func window(_ id: LiveQueryID) -> QueryWindow? {
    if case .window(let window)? = places[id.number].flatMap({ queries[$0] }) { window } else { nil }
  }

  /// The aggregate called `id`; nil when it is gone.
  package func aggregate(_ id: LiveQueryID) -> LiveAggregate? {
    guard case .aggregate(let aggregate)? = places[id.number].flatMap({ queries[$0] }) else { return nil }
    return aggregate
  }

  /// Whether the query's consumer has something to take, and how many changes have concerned a window. In place: a copy
  /// of a window costs more than the answer.
  package mutating func standing(of id: LiveQueryID) -> (isDue: Bool, changes: Int) {
    var (isDue, changes) = (false, 0)
    update(id.number, window: { (isDue, changes) = ($0.isDue, $0.counters.changes) }, aggregate: { isDue = $0.isDue })
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
    for number in met {
      var asks = false
      update(
        number,
        window: { window in
          window.settle()
          asks = window.request != nil
        },
        aggregate: { aggregate in
          aggregate.settle()
          asks = !aggregate.requests.isEmpty
        })
      if asks { asking.append(LiveQueryID(number: number)) }
    }
    return met.map(LiveQueryID.init)
  }

  private mutating func applyRelated(_ rows: CommitRows) {
    for (number, query) in related.sorted(by: { $0.key < $1.key }) {
      do {
        let effects = try rows.effects(model: query.model, query.predicate, query.terms)
        if effects.isEmpty { continue }
        for effect in effects { update(number, window: { $0.apply(effect) }, aggregate: { $0.apply(effect) }) }
      } catch {
        update(number, window: { $0.reload() }, aggregate: { $0.reload() })
      }
      if isMet.insert(number).inserted { met.append(number) }
    }
    relatedRowsRead += rows.rowsRead
  }

  private mutating func apply(_ change: RowChange) {
    guard let recordChange = change.recordChange else { return }
    found.removeAll(keepingCapacity: true)
    index.match(Change(offset: 0, endsTransaction: true, body: .record(recordChange)), into: &found)
    for match in found {
      guard let numbers = sharing[match.group.number]?.queries else { continue }
      let effect: ChangeEffect? =
        switch match.effect {
        case .entered: ChangeEffect(nil, change.after)
        case .stayed: ChangeEffect(change.before, change.after)
        case .left: ChangeEffect(change.before, nil)
        }
      guard let effect else { continue }
      for number in numbers {
        update(number, window: { $0.apply(effect) }, aggregate: { $0.apply(effect) })
        if isMet.insert(number).inserted { met.append(number) }
      }
    }
  }

  /// Makes the queries of some models ask for all their rows again, after changes that were not applied one by one.
  package mutating func reload(where concerns: (Int) -> Bool = { _ in true }) -> [LiveQueryID] {
    var reloaded: [LiveQueryID] = []
    for (number, place) in places.sorted(by: { $0.key < $1.key })
    where queries[place].map({ concerns($0.model) }) == true {
      update(number, window: { $0.reload() }, aggregate: { $0.reload() })
      reloaded.append(LiveQueryID(number: number))
    }
    asking = reloaded
    return reloaded
  }

  /// Changes a query in place: a copy of a window would cost a piece of its rows.
  package mutating func update(
    _ id: LiveQueryID, window: (inout QueryWindow) -> Void = { _ in },
    aggregate: (inout LiveAggregate) -> Void = { _ in }
  ) {
    update(id.number, window: window, aggregate: aggregate)
  }

  private mutating func update(
    _ number: Int, window: (inout QueryWindow) -> Void, aggregate: (inout LiveAggregate) -> Void
  ) {
    guard let place = places[number] else { return }
    queries[place]?.update(window: window, aggregate: aggregate)
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
  fileprivate var recordChange: RecordChange? {
    switch (before, after) {
    case (nil, nil): return nil
    case (nil, let after?):
      return RecordChange(
        kind: .create, model: model, key: after.key, version: after.version, image: after.record)
    case (let before?, nil):
      return RecordChange(
        kind: .delete, model: model, key: before.key, version: before.version, image: before.record)
    case (let before?, let after?):
      var old: [(field: Int, value: JSONValue)] = []
      for field in after.record.values.indices where before.record[field] != after.record[field] {
        old.append((field, before.record[field]))
      }
      return RecordChange(
        kind: .update, model: model, key: after.key, version: after.version, image: after.record, old: old)
    }
  }
}
