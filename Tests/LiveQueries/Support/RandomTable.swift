import MartletJSON
import MartletLiveQueries
import MartletModels
import MartletSimulation
import Testing

/// A naive store: rows in a dictionary, filtered and sorted anew for every query.
struct RandomTable {
  /// Position of the primary key, after the random fields.
  static let key = 6
  private(set) var rows: [Int64: LiveRow] = [:]
  var random: RandomPredicates
  /// How many keys there are, so that records come, change and go.
  let keys: Int

  init(keys: Int, seed: UInt64) {
    self.keys = keys
    random = RandomPredicates(seed: seed)
  }

  /// A random order of up to three fields, with the primary key last.
  mutating func order() -> RowOrder {
    let count = random.count(below: 4)
    let terms = (0..<count).map { _ in
      SortOrder(field: random.count(below: 6), isAscending: random.chance(2))
    }
    return RowOrder(terms, primaryKey: [Self.key], momentFields: [5])
  }

  mutating func query() -> WindowQuery {
    let offset = random.chance(2) ? 0 : random.count(below: 30)
    let limit = random.chance(3) ? nil : random.count(below: 12)
    return WindowQuery(
      model: 0, predicate: random.predicate(depth: 2), order: order(), offset: offset, limit: limit)
  }

  /// Creates, replaces or deletes a record.
  mutating func write() -> RowChange {
    let number = Int64(random.count(below: keys))
    let before = rows[number]
    var after: LiveRow?
    if before == nil || !random.chance(4) {
      var values = random.record().values + [.int(number)]
      // Some updates change one field, some none.
      if let before, random.chance(2) {
        let field = random.count(below: 6)
        let value = values[field]
        values = before.record.values
        if !random.chance(4) { values[field] = value }
      }
      after = LiveRow(
        key: RecordKey(values: [.int(number)]), record: Record(values: values), version: (before?.version ?? 0) + 1,
        isPending: random.chance(2))
    }
    rows[number] = after
    return RowChange(model: 0, before: before, after: after)
  }

  /// Every selected row, in order.
  func selected(_ query: WindowQuery) -> [LiveRow] {
    rows.values.filter { NaiveEvaluator.matches(query.predicate, $0.record) }
      .sorted { query.order.compare($0.record, $1.record) < 0 }
  }

  /// The page that the query shows.
  func page(_ query: WindowQuery) -> [LiveRow] {
    let rest = selected(query).dropFirst(query.offset)
    return Array(query.limit.map { rest.prefix($0) } ?? rest)
  }

  func answer(_ query: WindowQuery, _ request: WindowRequest) -> WindowRows {
    let all = selected(query)
    switch request {
    case .page(let offset, let count):
      let rest = all.dropFirst(offset)
      return WindowRows(Array(count.map { rest.prefix($0) } ?? rest), skipped: min(offset, all.count))
    case .after(let row, let count):
      return WindowRows(Array(all.filter { query.order.compare($0.record, row.record) > 0 }.prefix(count)))
    case .before(let row, let count):
      return WindowRows(Array(all.filter { query.order.compare($0.record, row.record) < 0 }.suffix(count)))
    }
  }

  /// Answers what a window asks for until it is exact.
  func serve(_ window: inout QueryWindow) {
    for _ in 0..<4 {
      guard let request = window.request else { return }
      window.fill(answer(window.query, request), for: request)
    }
    Issue.record("a window asks again and again: \(window.query)")
  }
}

/// A window over records with one number as value and key, for tests that name their rows.
struct Numbers {
  static let order = RowOrder([SortOrder(field: 0)], primaryKey: [1])

  static func row(_ value: Int64, key: Int64? = nil, pending: Bool = false) -> LiveRow {
    let key = key ?? value
    return LiveRow(
      key: RecordKey(values: [.int(key)]), record: Record(values: [.int(value), .int(key)]), isPending: pending)
  }

  static func window(offset: Int = 0, limit: Int? = nil, margin: Int = 2) -> QueryWindow {
    var limits = WindowLimits()
    limits.margin = margin
    return QueryWindow(WindowQuery(model: 0, order: order, offset: offset, limit: limit), limits: limits)
  }

  static func values(_ window: QueryWindow) -> [Int64] { window.rows.compactMap { $0.record[0].int } }
}
