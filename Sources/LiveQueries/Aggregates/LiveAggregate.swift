package import MartletJSON
package import MartletModels

/// A live aggregate: counts and sums are kept change by change, a least or greatest value is a page of one record.
package struct LiveAggregate: Sendable {
  package let query: AggregateQuery
  /// The condition that finds the changes that matter.
  package var predicate: Predicate { query.predicate }
  private var totals: AggregateTotals?
  /// By function: the records with the least and the greatest values.
  private var extremes: [AggregateFunction: QueryWindow] = [:]
  private var published: [JSONValue]?
  /// The work for the totals.
  private var totalsWork = WindowCounters()

  /// Records kept beside an extreme, so that it is read again only after this many have gone.
  private static let margin = 16

  package init(_ query: AggregateQuery) {
    self.query = query
    var limits = WindowLimits()
    limits.margin = Self.margin
    for function in query.functions {
      guard let (field, isAscending) = function.extreme else { continue }
      let order = RowOrder(
        [SortOrder(field: field, isAscending: isAscending)], primaryKey: query.primaryKey,
        jsonFields: query.jsonFields, momentFields: query.momentFields)
      let hasValue = Predicate.compare(field: field, .attributeExists(true))
      extremes[function] = QueryWindow(
        WindowQuery(
          model: query.model, predicate: .and([query.predicate, hasValue]), order: order, limit: 1,
          related: query.related),
        limits: limits)
    }
  }

  /// What an aggregate needs from the store, as of the last change applied.
  package enum Request: Sendable, Hashable {
    /// All selected records, added to totals of the query's functions.
    case totals
    /// Rows for the window of a function, which has this query.
    case rows(AggregateFunction, WindowQuery, WindowRequest)
  }

  /// What the store is asked for; empty while the aggregate is exact.
  package var requests: [Request] {
    var requests: [Request] = totals == nil ? [.totals] : []
    for function in query.functions {
      if let window = extremes[function], let request = window.request {
        requests.append(.rows(function, window.query, request))
      }
    }
    return requests
  }

  /// Takes in the totals of all selected records.
  package mutating func fill(_ totals: AggregateTotals) {
    guard self.totals == nil else { return }
    self.totals = totals
    totalsWork.requests += 1
    totalsWork.rowsRead += totals.count
  }

  /// What it has cost, with the records that it keeps for least and greatest values.
  package var counters: WindowCounters {
    extremes.values.reduce(into: totalsWork) { sum, window in
      sum.comparisons += window.counters.comparisons
      sum.rowsTouched += window.counters.rowsTouched
      sum.requests += window.counters.requests
      sum.rowsRead += window.counters.rowsRead
    }
  }

  /// Takes in rows for a function's window.
  package mutating func fill(_ rows: WindowRows, for function: AggregateFunction, _ request: WindowRequest) {
    extremes[function]?.fill(rows, for: request)
  }

  /// Applies a change of a record that the condition selects before it, after it, or both.
  package mutating func apply(_ effect: ChangeEffect) {
    totalsWork.changes += 1
    let (old, new) = effect.images
    if let old { totals?.remove(old.record) }
    if let new { totals?.add(new.record) }
    for function in query.functions {
      guard let (field, _) = function.extreme else { continue }
      let before = old.flatMap { $0.record[field].isNull ? nil : $0 }
      let after = new.flatMap { $0.record[field].isNull ? nil : $0 }
      guard let effect = ChangeEffect(before, after) else { continue }
      extremes[function]?.apply(effect)
    }
  }

  /// Decides what to ask for after the changes of a commit.
  package mutating func settle() {
    for function in extremes.keys { extremes[function]?.settle() }
  }

  /// Forgets what it has, after changes that were not applied one by one.
  package mutating func reload() {
    totals = nil
    for function in extremes.keys { extremes[function]?.reload() }
  }

  /// The functions' values, in the query's order; nil while the store is asked.
  package var values: [JSONValue]? {
    guard let totals, requests.isEmpty else { return nil }
    return query.functions.map { function -> JSONValue in
      switch function {
      case .count: .int(Int64(totals.count))
      case .sum(let field): totals.sum(field)
      case .average(let field): totals.average(field)
      case .minimum(let field), .maximum(let field): extremes[function]?.rows.first?.record[field] ?? .null
      }
    }
  }

  /// Whether the consumer has something to take.
  package var isDue: Bool { values.map { $0 != published } ?? false }

  /// The values, once for each change of one; nil while the store is asked, or when they are those taken before.
  package mutating func take() -> [JSONValue]? {
    guard let values, values != published else { return nil }
    published = values
    return values
  }
}

extension AggregateFunction {
  /// The field whose least or greatest value is wanted, and whether it is the least.
  var extreme: (field: Int, isAscending: Bool)? {
    switch self {
    case .minimum(let field): (field, true)
    case .maximum(let field): (field, false)
    case .count, .sum, .average: nil
    }
  }
}

extension ChangeEffect {
  /// The effect on a result that has `before` before the change and `after` after it; nil for no effect.
  package init?(_ before: LiveRow?, _ after: LiveRow?) {
    switch (before, after) {
    case (nil, nil): return nil
    case (nil, let after?): self = .entered(after)
    case (let before?, nil): self = .left(before)
    case (let before?, let after?): self = .stayed(from: before, to: after)
    }
  }
}
