import MartletJSON
import MartletLiveQueries
import MartletModels
import MartletSimulation
import Testing

@Suite struct LiveAggregateTests {
  /// Values computed from the rows, each function by itself.
  private static func fresh(_ query: AggregateQuery, _ table: RandomTable) -> [JSONValue] {
    let order = RowOrder([], primaryKey: [RandomTable.key])
    let rows = table.selected(WindowQuery(model: 0, predicate: query.predicate, order: order))
    return query.functions.map { function in
      func values(_ field: Int) -> [JSONValue] { rows.map { $0.record[field] }.filter { !$0.isNull } }
      var totals = AggregateTotals([function])
      for row in rows { totals.add(row.record) }
      switch function {
      case .count: return .int(Int64(rows.count))
      case .sum(let field): return totals.sum(field)
      case .average(let field): return totals.average(field)
      case .minimum(let field): return values(field).min { RowOrder.compare($0, $1) < 0 } ?? .null
      case .maximum(let field): return values(field).max { RowOrder.compare($0, $1) < 0 } ?? .null
      }
    }
  }

  private static func serve(_ aggregate: inout LiveAggregate, _ table: RandomTable) {
    while !aggregate.requests.isEmpty {
      for request in aggregate.requests {
        switch request {
        case .totals:
          var totals = AggregateTotals(aggregate.query.functions)
          let order = RowOrder([], primaryKey: [RandomTable.key])
          for row in table.selected(WindowQuery(model: 0, predicate: aggregate.predicate, order: order)) {
            totals.add(row.record)
          }
          aggregate.fill(totals)
        case .rows(let function, let query, let request):
          aggregate.fill(table.answer(query, request), for: function, request)
        }
      }
    }
  }

  @Test(arguments: UInt64(1)...2)
  func `P6: after every commit an aggregate has the values of a fresh computation`(seed: UInt64) {
    var table = RandomTable(keys: 30, seed: seed)
    var set = LiveQuerySet()
    var live: [(id: LiveQueryID, query: AggregateQuery, values: [JSONValue])] = []
    for number in 0..<8 {
      let query = AggregateQuery(
        model: 0, predicate: number == 0 ? .all : table.random.predicate(depth: 2),
        functions: [
          .count, .sum(field: 1), .sum(field: 2), .average(field: 2), .minimum(field: 0), .maximum(field: 1),
        ], primaryKey: [RandomTable.key])
      let id = set.add(query)
      set.update(id, aggregate: { Self.serve(&$0, table) })
      live.append((id, query, []))
    }
    for _ in 0..<60 {
      let changes = (0...table.random.count(below: 3)).map { _ in table.write() }
      for id in set.apply(changes) { set.update(id, aggregate: { Self.serve(&$0, table) }) }
      for place in live.indices {
        set.update(live[place].id, aggregate: { live[place].values = $0.take() ?? live[place].values })
        let expected = Self.fresh(live[place].query, table)
        // Extremes of equal value may be written as 0 or -0.0: both records have the same rank.
        for (found, wanted) in zip(live[place].values, expected) {
          #expect(RowOrder.compare(found, wanted) == 0, "\(found) for \(wanted)")
        }
      }
    }
  }
}
