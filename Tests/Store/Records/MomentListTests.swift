import MartletJSON
import MartletModels
import MartletSimulation
import MartletStore
import MartletVocabulary
import Testing

/// A server's lists with conditions on dates, whose indexes have the order of texts.
@Suite struct MomentListTests {
  private static var shape: RecordShape {
    var at = Models.column("at")
    at.signature = "AWSDateTime"
    return RecordShape(
      model: 0, name: "Departure", tableName: "Departure",
      columns: [Models.column("id", required: true), Models.column("place"), at], key: [0],
      indexes: [RecordIndex(name: "byPlace", fields: [1, 2], isUnique: false)], cascades: [])
  }

  private static func isDate(_ text: String) -> Bool { MomentText(text).map { !$0.isTime } ?? false }

  @Test func `a list finds dates by their moments, with and without an index, on every page`() throws {
    let fixture = try StoreFixture(shapes: [Self.shape])
    var random = RandomPredicates(kinds: [.text, .text, .moment], seed: 7)
    let texts = RandomPredicates.moments.filter(Self.isDate) + ["2026-11-20T23:59Z", "2026-11-24T00:00+01:00"]
    var records: [Record] = []
    for number in 100..<160 {
      let at: JSONValue = random.chance(6) ? .null : .string(texts[random.count(below: texts.count)])
      records.append(Record(values: [.string("\(number)"), random.chance(2) ? "a" : "b", at]))
    }
    try fixture.commit(records.map { WriteRequest(.create(model: 0, record: $0)) })
    var found = 0
    for _ in 0..<600 {
      var parts = [random.leaf(), random.leaf()].filter { $0.fields == [2] }
      if random.chance(2) { parts.append(.compare(field: 1, .eq("a"))) }
      let predicate: Predicate = random.chance(4) ? .or(parts) : .and(parts)
      let order = random.chance(2) ? [] : [SortOrder(field: 2, isAscending: random.chance(2))]
      var query = ListQuery(model: 0, filter: predicate, order: order, limit: 7)
      var ids: [String] = []
      repeat {
        let asked = query
        let page = try fixture.read { snapshot throws(StoreError) in try snapshot.list(asked) }
        ids += page.records.compactMap { $0.record[0].string }
        query.token = page.token
      } while query.token != nil && ids.count <= records.count
      let expected = records.filter { NaiveEvaluator.matches(predicate, $0) }.compactMap { $0[0].string }
      #expect(ids.sorted() == expected, "\(predicate)")
      found += ids.count
    }
    #expect(found > 3_000)
  }

  @Test func `a condition on a moment seeks in an index over its texts`() throws {
    let fixture = try StoreFixture(shapes: [Self.shape])
    let later = Predicate.compare(field: 2, .moment(.gt("2026-11-22T10:00Z")))
    let query = ListQuery(model: 0, filter: .and([.compare(field: 1, .eq("a")), later]))
    let plans = try fixture.read { snapshot throws(StoreError) in try snapshot.plan(query) }
    #expect(plans.joined().joined().contains("index_Departure_byPlace (place=? AND at>?)"), "\(plans)")
  }
}
