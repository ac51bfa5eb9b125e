import MartletJSON
import MartletLiveQueries
import MartletModels
import MartletSQLite
import MartletSimulation
import MartletStore
import Testing

@Suite struct RelationOracleTests {
  private static func fill(_ set: inout LiveQuerySet, _ ids: [LiveQueryID], _ writer: ClientWriter) throws {
    for id in ids {
      var failure: (any Error)?
      set.update(
        id,
        window: { window in
          do {
            while let request = window.request { window.fill(try writer.rows(window.query, request), for: request) }
          } catch { failure = error }
        },
        aggregate: { aggregate in
          do {
            while !aggregate.requests.isEmpty {
              for request in aggregate.requests {
                switch request {
                case .totals: aggregate.fill(try writer.totals(aggregate.query))
                case .rows(let function, let query, let rows):
                  aggregate.fill(try writer.rows(query, rows), for: function, rows)
                }
              }
            }
          } catch { failure = error }
        })
      if let failure { throw failure }
    }
  }

  @Test(arguments: UInt64(1)...3)
  func `P6: live queries over relations, SQL and a naive evaluator agree after every commit`(seed: UInt64) throws {
    var tables = try RelatedTables(seed: seed)
    for _ in 0..<20 { _ = try tables.commit() }
    var set = LiveQuerySet()
    var live: [(id: LiveQueryID, query: WindowQuery, shown: SharedChunks<LiveRow>)] = []
    for _ in 0..<16 {
      let query = tables.query()
      var limits = WindowLimits()
      limits.margin = tables.random.count(below: 3)
      live.append((set.add(query, limits: limits), query, SharedChunks()))
    }
    var aggregates: [(id: LiveQueryID, query: WindowQuery)] = []
    for _ in 0..<6 {
      var query = tables.query()
      query.limit = nil
      query.offset = 0
      let aggregate = AggregateQuery(
        model: query.model, predicate: query.predicate,
        functions: [.count, .sum(field: 1), .minimum(field: 1), .maximum(field: 2)], primaryKey: [RelatedTables.key],
        related: query.related)
      aggregates.append((set.add(aggregate), query))
    }
    try Self.fill(&set, live.map(\.id) + aggregates.map(\.id), tables.writer)
    let writer = tables.writer
    for commit in 0..<25 {
      let changes = try tables.commit()
      try Self.fill(&set, set.apply(changes, lookup: { try writer.related($0, $1, $2) }), tables.writer)
      for place in live.indices {
        let (id, query, _) = live[place]
        let expected = tables.page(query)
        let read = try tables.writer.rows(query, .page(offset: query.offset, count: query.limit)).rows
        #expect(Array(read) == expected, "SQL, seed \(seed), commit \(commit), \(query)")
        guard (commit + place) % 3 != 0 else { continue }
        var snapshot: WindowSnapshot?
        set.update(id, window: { snapshot = $0.take() })
        if let snapshot { snapshot.changes.apply(to: &live[place].shown) { snapshot.rows[$0] } }
        #expect(Array(live[place].shown) == expected, "live, seed \(seed), commit \(commit), \(query)")
      }
      for (id, query) in aggregates {
        let rows = tables.selected(query)
        var totals = AggregateTotals([.count, .sum(field: 1)])
        for row in rows { totals.add(row.record) }
        let values = set.aggregate(id)?.values
        #expect(values?[0] == .int(Int64(rows.count)) && values?[1] == totals.sum(1))
        let least = rows.map { $0.record[1] }.filter { !$0.isNull }.min { RowOrder.compare($0, $1) < 0 }
        let most = rows.map { $0.record[2] }.filter { !$0.isNull }.max { RowOrder.compare($0, $1) < 0 }
        #expect(values?[2] == least ?? .null)
        #expect(values.map { RowOrder.compare($0[3], most ?? .null) } == 0)
      }
    }
  }

  /// 100 parents with 50 children each.
  @Test func `a change touches the rows that its relation finds, and none when the condition does not see it`() throws {
    let columns = ["id", "number", "parent"].map {
      RecordColumn(
        name: $0, field: $0, storage: .integer, signature: "integer", isRequired: false, defaultValue: .null)
    }
    let shapes = (0..<2).map { model in
      RecordShape(
        model: model, name: "M\(model)", tableName: "M\(model)", columns: columns, key: [0],
        indexes: [RecordIndex(name: "parent", fields: [2], isUnique: false)], cascades: [])
    }
    let writer = try ClientWriter(path: "/store", on: MemoryFiles(), shapes: shapes, syncs: false)
    func record(_ id: Int64, _ number: Int64, _ parent: JSONValue = .null) -> Record {
      Record(values: [.int(id), .int(number), parent])
    }
    _ = try writer.transaction { transaction in
      for parent in Int64(0)..<100 {
        try transaction.save(model: 0, record(parent, 0))
        for child in 0..<50 { try transaction.save(model: 1, record(parent * 50 + Int64(child), 0, .int(parent))) }
      }
    }
    var terms = RelatedTerms(fields: 3)
    let field = terms.add(
      RelatedTerm(
        model: 0, ownFields: [2], otherFields: [0], content: .exists(.compare(field: 1, .gt(.int(5)))),
        related: RelatedTerms(fields: 3)))
    let query = WindowQuery(
      model: 1, predicate: .compare(field: field, .eq(.bool(true))), order: RowOrder([], primaryKey: [0]), limit: 10,
      related: terms)
    var set = LiveQuerySet()
    let id = set.add(query)
    try Self.fill(&set, [id], writer)
    func rowsRead(_ number: Int64) throws -> Int {
      let before = set.relatedRowsRead
      let changes = try writer.transaction { try $0.save(model: 0, record(7, number)) }.changes
      try Self.fill(&set, set.apply(changes, lookup: { try writer.related($0, $1, $2) }), writer)
      return set.relatedRowsRead - before
    }
    // Nothing that the condition sees: no row is looked up.
    #expect(try rowsRead(1) == 0)
    // Its 50 children, and for each of them its parent in both states.
    let entering = try rowsRead(6)
    #expect(entering > 50 && entering <= 50 * 4, "\(entering)")
    #expect(set.window(id)?.rows.count == 10)
    #expect(try rowsRead(8) == 0)
    #expect(try rowsRead(2) <= 50 * 4)
    #expect(set.window(id)?.rows.isEmpty == true)
    let counters = try #require(set.window(id)?.counters)
    #expect(counters.changes == 100 && counters.requests == 1)
  }
}
