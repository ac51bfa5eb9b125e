import MartletJSON
import MartletModels
import MartletRuntime
import MartletSQLite
import MartletStore
import MartletVocabulary
import Testing

/// Short reads are served before lists, and lists in slices.
struct FairReadTests {
  private let filter = Predicate.compare(field: 1, .contains("nowhere"))

  private func fixture(
    records: Int, lists: [any StoreExecutor] = [], _ change: (inout StoreLimits) -> Void = { _ in }
  ) throws -> StoreFixture {
    var limits = StoreLimits()
    limits.sliceRows = 100
    change(&limits)
    let fixture = try StoreFixture(limits: limits) { $0.listReaders = lists }
    for start in stride(from: 0, to: records, by: 1_000) {
      let batch = (start..<min(start + 1_000, records)).map {
        WriteOperation.create(model: Models.flight, record: Models.flight("\(100_000 + $0)", "O\($0 % 7)"))
      }
      try fixture.commit(.batch(batch))
    }
    return fixture
  }

  /// Submits reads and notes in which order they are finished.
  private final class Finished: Sendable {
    let names = Lock<[String]>([])

    func list(_ query: ListQuery, _ name: String) -> ReadRequest {
      ReadRequest(list: query) { [self] result in
        names.withLock { $0.append(result.errorCode == nil ? name : "\(name) failed") }
      }
    }

    func point(_ name: String) -> ReadRequest {
      ReadRequest { snapshot throws(StoreError) in
        try snapshot.get(Models.flight, Models.key("100000"))
      } completion: { [self] _ in
        names.withLock { $0.append(name) }
      }
    }

    var list: [String] { names.withLock { $0 } }
  }

  @Test func `a point read behind ten scans waits for no more than one slice`() throws {
    let fixture = try fixture(records: 1_000)
    let finished = Finished()
    for number in 0..<10 {
      fixture.store.read(
        [finished.list(ListQuery(model: Models.flight, filter: filter), "scan \(number)")], to: DirectDestination())
    }
    fixture.reader.runOnce()
    #expect(fixture.store.readCounts.slices == 1)
    for number in 0..<3 { fixture.store.read([finished.point("point \(number)")], to: DirectDestination()) }
    fixture.reader.runOnce()
    #expect(finished.list == ["point 0", "point 1", "point 2"])
    #expect(fixture.store.readCounts.slices == 2)
    fixture.reader.run()
    #expect(finished.list.count == 13)
  }

  @Test func `lists take no turn of the readers of short reads where they have readers of their own`() throws {
    let lists = ManualExecutor()
    let fixture = try fixture(records: 1_000, lists: [lists])
    let finished = Finished()
    let destination = DirectDestination()
    fixture.store.read(
      [finished.list(ListQuery(model: Models.flight, filter: filter), "scan"), finished.point("with it")],
      to: destination)
    fixture.store.read([finished.point("after it")], to: destination)
    fixture.reader.run()
    #expect(finished.list == ["with it", "after it"])
    #expect(fixture.store.readCounts.slices == 0)
    lists.run()
    #expect(finished.list == ["with it", "after it", "scan"])
    // Ten of a hundred rows, and one that finds the end.
    #expect(fixture.store.readCounts.slices == 11)
    #expect(fixture.store.readCounts.reads == 2)
  }

  @Test func `more short reads than may wait refuse no list that has a reader of its own`() throws {
    let lists = ManualExecutor()
    let fixture = try fixture(records: 10, lists: [lists]) { $0.queuedReads = 4 }
    let finished = Finished()
    for number in 0..<5 { fixture.store.read([finished.point("point \(number)")], to: DirectDestination()) }
    fixture.store.read([finished.list(ListQuery(model: Models.flight), "list")], to: DirectDestination())
    lists.run()
    #expect(finished.list == ["point 4", "list"])
    fixture.reader.run()
    #expect(finished.list == ["point 4", "list", "point 0", "point 1", "point 2", "point 3"])
  }

  @Test func `a short list is finished in its first turn beside ten long scans`() throws {
    let fixture = try fixture(records: 1_000)
    let finished = Finished()
    for number in 0..<10 {
      fixture.store.read(
        [finished.list(ListQuery(model: Models.flight, filter: filter), "scan \(number)")], to: DirectDestination())
    }
    fixture.store.read([finished.list(ListQuery(model: Models.flight, limit: 10), "short")], to: DirectDestination())
    for _ in 0..<11 { fixture.reader.runOnce() }
    #expect(finished.list == ["short"])
  }

  @Test func `lists make progress while short reads never end`() throws {
    let fixture = try fixture(records: 1_000) { $0.readsBetweenSlices = 2 }
    let finished = Finished()
    fixture.store.read(
      [finished.list(ListQuery(model: Models.flight, filter: filter), "scan")], to: DirectDestination())
    for _ in 0..<11 {
      for _ in 0..<5 { fixture.store.read([finished.point("point")], to: DirectDestination()) }
      fixture.reader.runOnce()
    }
    #expect(finished.list.contains("scan"))
    #expect(fixture.store.readCounts.reads == 22)
  }

  @Test func `a slice looks at no more rows than it may, and the page is the same as in one go`() throws {
    let fixture = try fixture(records: 1_000)
    let queries = [
      ListQuery(model: Models.flight, filter: .compare(field: 1, .contains("3")), limit: 1_000),
      ListQuery(model: Models.flight, filter: .compare(field: 1, .in(["O1", "O5"])), limit: 40),
      ListQuery(model: Models.flight, order: [SortOrder(field: 4), SortOrder(field: 1)], limit: 20),
      ListQuery(model: Models.flight, equal: [(1, "O2")], order: [SortOrder(field: 2, isAscending: false)], limit: 90),
    ]
    for query in queries {
      let box = Box<ListPage>()
      let before = fixture.store.readCounts.slices
      fixture.store.read(
        [ReadRequest(list: query) { result in box.value.withLock { $0 = result } }], to: DirectDestination())
      var rows: [Int] = []
      while box.value.withLock({ $0 }) == nil {
        let start = fixture.store.readCounts.rows
        fixture.reader.runOnce()
        rows.append(fixture.store.readCounts.rows - start)
      }
      // Besides the slice a snapshot reads one row of its own.
      #expect(rows.allSatisfy { $0 <= 101 }, "\(rows)")
      #expect(fixture.store.readCounts.slices - before == rows.count)
      let whole = try fixture.read { snapshot throws(StoreError) in try snapshot.list(query) }
      #expect(try box.value.withLock { $0 }?.get() == whole)
    }
  }

  @Test func `a list that looks at too many rows is refused with the index it lacks`() throws {
    let fixture = try fixture(records: 1_000) { $0.scannedRows = 500 }
    func error(_ query: ListQuery) throws -> StoreError? {
      #expect(throws: StoreError.self) { try fixture.read { snapshot throws(StoreError) in try snapshot.list(query) } }
    }
    let byGate = try error(
      ListQuery(model: Models.flight, filter: .compare(field: 3, .eq("A1")), order: [SortOrder(field: 2)]))
    #expect(byGate?.code == .tooManyRows)
    #expect(byGate?.message.contains("Flight(gate, delay)") == true)
    let contains = try error(ListQuery(model: Models.flight, filter: filter))
    #expect(contains?.code == .tooManyRows)
    #expect(contains?.message.contains("a condition on an indexed field") == true)
    // As many rows as allowed are not refused.
    let page = try fixture.read { snapshot throws(StoreError) in
      try snapshot.list(ListQuery(model: Models.flight, equal: [(1, "O3")], filter: .compare(field: 3, .ne("x"))))
    }
    #expect(page.records.count == 100)
  }

  @Test func `waiting lists refuse no short read`() throws {
    let fixture = try fixture(records: 10) { $0.queuedReads = 4 }
    let finished = Finished()
    for number in 0..<6 {
      fixture.store.read([finished.list(ListQuery(model: Models.flight), "\(number)")], to: DirectDestination())
    }
    #expect(finished.list == ["4 failed", "5 failed"])
    fixture.store.read([finished.point("point")], to: DirectDestination())
    fixture.reader.run()
    #expect(finished.list == ["4 failed", "5 failed", "point", "0", "1", "2", "3"])
  }

  @Test func `a snapshot ends at its limit, long before the read's own deadline`() throws {
    let fixture = try fixture(records: 1_000)
    let clock = fixture.clock
    let error = #expect(throws: StoreError.self) {
      try fixture.read { snapshot throws(StoreError) in
        clock.advance(1_500)
        for _ in 0..<20 { _ = try snapshot.list(ListQuery(model: Models.flight, filter: filter)) }
      }
    }
    #expect(error?.code == .deadline)
  }

  @Test func `a reader in the way of a full write-ahead log is waited for once, and then again after some pages`()
    throws
  {
    let fixture = try fixture(records: 0) {
      $0.largestLogPages = 20
      $0.checkpointPages = 10
      $0.checkpointWait = .zero
    }
    try fixture.commit(.create(model: Models.flight, record: Models.flight("a")))
    let other = try Database(path: "store.sqlite", on: fixture.files)
    try other.execute("BEGIN; SELECT count(*) FROM martlet_log")
    for number in 0..<40 { try fixture.commit(.create(model: Models.flight, record: Models.flight("b\(number)"))) }
    let waits = fixture.store.checkpointWaits
    #expect(waits > 0)
    #expect(waits < 40)
    try other.execute("COMMIT")
    for number in 0..<40 { try fixture.commit(.create(model: Models.flight, record: Models.flight("c\(number)"))) }
    #expect(fixture.store.checkpointWaits <= waits + 1)
    #expect(fixture.failures.list.withLock { $0 }.isEmpty)
  }

  @Test func `children with a filter are read in slices, each parent's rows counted`() throws {
    let fixture = try fixture(records: 0)
    for parent in 0..<6 {
      try fixture.commit(
        .batch(
          (0..<150).map { number in
            .create(
              model: Models.leg,
              record: Record(values: [
                .string("p\(parent)"), .int(Int64(number)), .string(number % 50 == 0 ? "x" : "y"),
              ]))
          }))
    }
    let query = ChildrenQuery(
      model: Models.leg, reference: [0], parents: (0..<6).map { [.string("p\($0)")] } + [[.null]],
      filter: .compare(field: 2, .eq("x")), order: [SortOrder(field: 1, isAscending: false)], limit: 2)
    let box = Box<[ListPage]>()
    fixture.store.read(
      [ReadRequest(children: query) { result in box.value.withLock { $0 = result } }], to: DirectDestination())
    fixture.reader.run()
    let pages = try #require(box.value.withLock { $0 }).get()
    #expect(pages.map { $0.records.map { $0.record[1] } } == Array(repeating: [100, 50], count: 6) + [[]])
    #expect(fixture.store.readCounts.slices <= 12)
    #expect(pages.map { $0.token != nil } == Array(repeating: true, count: 6) + [false])
  }

  @Test func `every filter and order pages like a sort in memory, read in slices of any size`() throws {
    var random = SeededRandom(seed: 11)
    var limits = StoreLimits()
    limits.sliceRows = 7
    let fixture = try StoreFixture(limits: limits)
    var all: [Record] = []
    for number in 0..<300 {
      let record = Record(values: [
        .string("\(1_000 + number)"), .string("O\(Int.random(in: 0..<4, using: &random))"),
        Int.random(in: 0..<4, using: &random) == 0 ? .null : .int(Int64.random(in: 0..<5, using: &random)),
        .string("G\(Int.random(in: 0..<3, using: &random))"), .null,
      ])
      all.append(record)
      try fixture.commit(.create(model: Models.flight, record: record))
    }
    for _ in 0..<60 {
      let filters: [Predicate] = [
        .all, .compare(field: 1, .eq("O1")), .compare(field: 1, .in(["O3", "O0", "none"])),
        .compare(field: 2, .gt(2)), .compare(field: 3, .eq("G1")),
        .and([.compare(field: 1, .eq("O2")), .compare(field: 2, .between(1, 3))]),
        .and([.compare(field: 2, .eq(3)), .compare(field: 3, .ne("G0"))]),
      ]
      let filter = filters[Int.random(in: 0..<filters.count, using: &random)]
      let orders: [[Int]] = [[], [0], [1], [2], [1, 2], [2, 1], [3], [3, 2]]
      let order = orders[Int.random(in: 0..<orders.count, using: &random)].map {
        SortOrder(field: $0, isAscending: Bool.random(using: &random))
      }
      let equal: [(field: Int, value: JSONValue)] = Bool.random(using: &random) ? [] : [(1, "O1")]
      var query = ListQuery(
        model: Models.flight, equal: equal, filter: filter, order: order,
        limit: Int.random(in: 1...50, using: &random))
      var found: [Record] = []
      repeat {
        let asked = query
        let box = Box<ListPage>()
        fixture.store.read(
          [ReadRequest(list: asked) { result in box.value.withLock { $0 = result } }], to: DirectDestination())
        fixture.reader.run()
        let page = try #require(box.value.withLock { $0 }).get()
        found += page.records.map(\.record)
        query.token = page.token
      } while query.token != nil && found.count <= 300
      let free = order.filter { term in !equal.contains { $0.field == term.field } }
      let isAscending = (free.last ?? order.last)?.isAscending ?? true
      let terms = free + [SortOrder(field: 0, isAscending: isAscending)]
      let expected = all.filter { record in
        filter.matches(record) && equal.allSatisfy { record[$0.field] == $0.value }
      }.sorted { Self.precedes($0, $1, terms) }
      #expect(found.map { $0[0] } == expected.map { $0[0] }, "\(filter) \(order) \(equal)")
    }
  }

  private static func precedes(_ left: Record, _ right: Record, _ order: [SortOrder]) -> Bool {
    for term in order {
      let (a, b) = (left[term.field], right[term.field])
      let result = a.isNull || b.isNull ? (a.isNull ? 0 : 1) - (b.isNull ? 0 : 1) : ValueOrder.compare(a, b) ?? 0
      if result != 0 { return term.isAscending ? result < 0 : result > 0 }
    }
    return false
  }
}
