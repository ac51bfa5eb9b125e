import MartletJSON
import MartletModels
import MartletStore
import MartletVocabulary
import Testing

@Suite struct ListTests {
  private func pages(_ fixture: StoreFixture, _ query: ListQuery, between: () throws -> Void = {}) throws -> [[String]]
  {
    var query = query
    var pages: [[String]] = []
    repeat {
      let asked = query
      let page = try fixture.read { snapshot throws(StoreError) in try snapshot.list(asked) }
      pages.append(page.records.compactMap { $0.record[0].string })
      query.token = page.token
      try between()
    } while query.token != nil && pages.count < 100
    return pages
  }

  @Test func `pages cover every record once in key order`() throws {
    let fixture = try StoreFixture()
    for number in 0..<25 { try fixture.commit(.create(model: Models.flight, record: Models.flight("\(100 + number)"))) }
    let all = try pages(fixture, ListQuery(model: Models.flight, limit: 10))
    #expect(all.map(\.count) == [10, 10, 5])
    #expect(all.flatMap { $0 } == (100..<125).map { "\($0)" })
  }

  @Test func `a page of exactly the limit has no token`() throws {
    let fixture = try StoreFixture()
    for number in 0..<10 { try fixture.commit(.create(model: Models.flight, record: Models.flight("\(number)"))) }
    #expect(try pages(fixture, ListQuery(model: Models.flight, limit: 10)).count == 1)
  }

  @Test func `paging is stable while records come and go`() throws {
    let fixture = try StoreFixture()
    for number in 10..<30 { try fixture.commit(.create(model: Models.flight, record: Models.flight("\(number)"))) }
    var round = 0
    let all = try pages(fixture, ListQuery(model: Models.flight, limit: 5)) {
      round += 1
      // One in front, one behind, and the record the token names goes away.
      try fixture.commit(.create(model: Models.flight, record: Models.flight("0\(round)")))
      try fixture.commit(.create(model: Models.flight, record: Models.flight("9\(round)")))
      let last = 9 + 5 * round
      if last < 30 { try fixture.commit(.delete(model: Models.flight, key: Models.key(.string("\(last)")))) }
    }
    let seen = all.flatMap { $0 }
    #expect(Set(seen).count == seen.count)
    #expect(seen.filter { $0 >= "10" && $0 < "30" } == (10..<30).map { "\($0)" })
  }

  @Test(arguments: [true, false])
  func `every order pages like a sort in memory, nulls and ties included`(isAscending: Bool) throws {
    let fixture = try StoreFixture()
    var random = SeededRandom(seed: 5)
    var expected: [(id: String, delay: Int64?)] = []
    for number in 0..<60 {
      let delay: Int64? = Int.random(in: 0..<4, using: &random) == 0 ? nil : Int64.random(in: 0..<5, using: &random)
      expected.append(("\(100 + number)", delay))
      try fixture.commit(.create(model: Models.flight, record: Models.flight("\(100 + number)", delay: delay)))
    }
    expected.sort { a, b in
      let left = (a.delay ?? -1, a.id)
      let right = (b.delay ?? -1, b.id)
      return isAscending ? left < right : left > right
    }
    for limit in [1, 7, 60] {
      let query = ListQuery(
        model: Models.flight, order: [SortOrder(field: 2, isAscending: isAscending)], limit: limit)
      #expect(try pages(fixture, query).flatMap { $0 } == expected.map(\.id))
    }
  }

  @Test func `an index's query seeks and sorts by its index, on later pages too`() throws {
    let fixture = try StoreFixture()
    for isAscending in [true, false] {
      let query = ListQuery(
        model: Models.flight, equal: [(1, "JFK")], order: [SortOrder(field: 2, isAscending: isAscending)])
      let plans = try fixture.read { snapshot throws(StoreError) in
        [try snapshot.plan(query), try snapshot.plan(query, behind: [5, "x"])]
      }
      for plan in plans.flatMap({ $0 }) {
        #expect(plan.allSatisfy { $0.contains("SEARCH record_Flight USING INDEX index_Flight_byOrigin") }, "\(plan)")
      }
    }
    let plan = try fixture.read { snapshot throws(StoreError) in
      try snapshot.plan(ListQuery(model: Models.flight), behind: ["x"])
    }
    #expect(plan == [["SEARCH record_Flight USING PRIMARY KEY (id>?)"]])
  }

  @Test func `filters on indexed fields seek`() throws {
    let fixture = try StoreFixture()
    let filters: [(Predicate, String)] = [
      (.compare(field: 1, .eq("JFK")), "origin=?"), (.compare(field: 1, .beginsWith("J")), "origin>? AND origin<?"),
      (.compare(field: 1, .in(["JFK", "LAX"])), "origin=?"),
    ]
    for (filter, seek) in filters {
      let plan = try fixture.read { snapshot throws(StoreError) in
        try snapshot.plan(
          ListQuery(model: Models.flight, filter: filter, order: [SortOrder(field: 1), SortOrder(field: 2)]))
      }
      #expect(plan.joined().contains { $0.contains("index_Flight_byOrigin") && $0.contains(seek) }, "\(plan)")
    }
  }

  @Test func `an in of more values than are sought looks at every row, and finds the same`() throws {
    func page(soughtValues: Int) throws -> (ids: [String], rows: Int) {
      var limits = StoreLimits()
      limits.soughtValues = soughtValues
      let fixture = try StoreFixture(limits: limits)
      for number in 0..<40 {
        try fixture.commit(
          .create(model: Models.flight, record: Models.flight("\(100 + number)", "\(number % 10)")))
      }
      return try fixture.read { snapshot throws(StoreError) in
        let before = snapshot.readRows
        let page = try snapshot.list(
          ListQuery(
            model: Models.flight, filter: .compare(field: 1, .in(["1", "2", "3"])),
            order: [SortOrder(field: 1), SortOrder(field: 2)]))
        return (page.records.compactMap { $0.record[0].string }, snapshot.readRows - before)
      }
    }
    let (sought, scanned) = (try page(soughtValues: 3), try page(soughtValues: 2))
    #expect(sought.ids.count == 12 && sought.ids == scanned.ids)
    #expect(sought.rows == 12 && scanned.rows == 40)
  }

  @Test func `a list continues behind a key of any length`() throws {
    let fixture = try StoreFixture()
    let ids = ["a", "b", "c"].map { $0 + String(repeating: "x", count: 40_000) }
    for id in ids { try fixture.commit(.create(model: Models.flight, record: Models.flight(id))) }
    #expect(try pages(fixture, ListQuery(model: Models.flight, limit: 1)) == ids.map { [$0] })
  }

  @Test func `records are counted by a condition up to the limit, and not beyond`() throws {
    for (limit, expected) in [(4, 2), (3, nil)] as [(Int, Int?)] {
      var limits = StoreLimits()
      limits.countedRows = limit
      let fixture = try StoreFixture(limits: limits)
      for number in 0..<4 {
        try fixture.commit(.create(model: Models.flight, record: Models.flight("\(number)", "\(number % 2)")))
      }
      let count = try fixture.read { snapshot throws(StoreError) in
        try snapshot.count(Models.flight, where: .compare(field: 1, .eq("1")))
      }
      #expect(count == expected)
    }
  }

  @Test func `a later page reads its own rows only`() throws {
    let fixture = try StoreFixture()
    for number in 0..<200 {
      try fixture.commit(
        .create(model: Models.flight, record: Models.flight("\(1_000 + number)", delay: Int64(number))))
    }
    let rows = try fixture.read { snapshot throws(StoreError) in
      var query = ListQuery(
        model: Models.flight, equal: [(1, "JFK")], order: [SortOrder(field: 2)], limit: 100)
      query.token = try snapshot.list(query).token
      query.limit = 10
      let before = snapshot.readRows
      _ = try snapshot.list(query)
      return snapshot.readRows - before
    }
    #expect(rows == 11)
  }

  @Test func `tokens of another list and garbage are refused`() throws {
    let fixture = try StoreFixture()
    for number in 0..<3 { try fixture.commit(.create(model: Models.flight, record: Models.flight("\(number)"))) }
    let token = try #require(
      try fixture.read { snapshot throws(StoreError) in try snapshot.list(ListQuery(model: Models.flight, limit: 1)) }
        .token)
    var random = SeededRandom(seed: 3)
    var tokens = ["", "zz", "0", "00", String(repeating: "f", count: 40), String(token.dropLast(2)), "é" + token]
    for _ in 0..<200 {
      var bytes = Array(token.utf8)
      bytes[Int.random(in: 0..<8, using: &random)] = UInt8.random(in: 0...127, using: &random)
      let text = String(decoding: bytes, as: UTF8.self)
      if text != token { tokens.append(text) }
    }
    for text in tokens {
      let error = #expect(throws: StoreError.self) {
        try fixture.read { snapshot throws(StoreError) in
          try snapshot.list(ListQuery(model: Models.flight, token: text))
        }
      }
      #expect(error?.code == .invalidToken, "\(text)")
    }
    #expect(throws: StoreError.self) {
      try fixture.read { snapshot throws(StoreError) in try snapshot.list(ListQuery(model: Models.leg, token: token)) }
    }
  }

  @Test func `a token of one parent's children is refused for another's, and for the list of all`() throws {
    let fixture = try StoreFixture()
    for (flight, number) in [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2), ("b", 3)] as [(JSONValue, Int64)] {
      try fixture.commit(.create(model: Models.leg, record: Record(values: [flight, .int(number), "x"])))
    }
    func list(_ flight: JSONValue?, _ token: String?) throws -> ListPage {
      try fixture.read { snapshot throws(StoreError) in
        try snapshot.list(
          ListQuery(model: Models.leg, equal: flight.map { [(0, $0)] } ?? [], limit: 2, token: token))
      }
    }
    let token = try #require(try list("a", nil).token)
    #expect(try list("a", token).records.map(\.record.values[1]) == [3])
    for other in ["b", nil] as [JSONValue?] {
      #expect(throws: StoreError.self) { try list(other, token) }
      let error = #expect(throws: StoreError.self) { try list("a", try list(other, nil).token) }
      #expect(error?.code == .invalidToken)
    }
    let pages = try fixture.read { snapshot throws(StoreError) in
      try snapshot.children(ChildrenQuery(model: Models.leg, reference: [0], parents: [["b"], ["a"]], limit: 2))
    }
    #expect(pages.map(\.token) == [try list("b", nil).token, token])
  }

  @Test func `many keys are one statement, in the keys' order`() throws {
    let fixture = try StoreFixture()
    for number in 0..<9 {
      try fixture.commit(.create(model: Models.leg, record: Record(values: ["a", .int(Int64(number)), "x"])))
    }
    let keys = ([8, 3, 99, 3, 0] as [Int64]).map { Models.key("a", .int($0)) }
    let (found, statements) = try fixture.read { snapshot throws(StoreError) in
      let before = snapshot.startedStatements
      return (try snapshot.get(Models.leg, keys: keys), snapshot.startedStatements - before)
    }
    #expect(found.map { $0?.record[1] } == [8, 3, nil, 3, 0])
    #expect(statements == 1)
  }

  @Test func `children of many parents are one statement and continue by token`() throws {
    let fixture = try StoreFixture()
    for parent in 0..<20 {
      for number in 0..<parent {
        try fixture.commit(
          .create(model: Models.leg, record: Record(values: [.string("p\(parent)"), .int(Int64(number)), "x"])))
      }
    }
    let query = ChildrenQuery(
      model: Models.leg, reference: [0], parents: (0..<20).map { [.string("p\($0)")] },
      order: [SortOrder(field: 1, isAscending: false)], limit: 4)
    let (pages, statements, rows) = try fixture.read { snapshot throws(StoreError) in
      let statements = snapshot.startedStatements
      let rows = snapshot.readRows
      let pages = try snapshot.children(query)
      return (pages, snapshot.startedStatements - statements, snapshot.readRows - rows)
    }
    #expect(statements == 1)
    #expect(rows == (0..<20).reduce(0) { $0 + min($1, 5) })
    #expect(pages.map(\.records.count) == (0..<20).map { min($0, 4) })
    #expect(pages[19].records.map { $0.record[1] } == [18, 17, 16, 15])
    let token = try #require(pages[19].token)
    let next = try fixture.read { snapshot throws(StoreError) in
      try snapshot.list(
        ListQuery(
          model: Models.leg, equal: [(0, "p19")], order: [SortOrder(field: 1, isAscending: false)], limit: 2,
          token: token))
    }
    #expect(next.records.map { $0.record[1] } == [14, 13])
    #expect(pages[4].token == nil)
  }
}
