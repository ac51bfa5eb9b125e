import MartletChangeFeed
import MartletJSON
import MartletModels
import MartletRuntime
import MartletSQLite
import MartletStore
import MartletVocabulary
import Testing

/// Which writes the writer takes first, and what it does for them itself.
@Suite struct WriteOrderTests {
  private static func create(_ id: String) -> WriteOperation {
    .create(model: Models.flight, record: Models.flight(id))
  }

  private static func batch(_ count: Int, _ prefix: String) -> WriteOperation {
    .batch((0..<count).map { create("\(prefix)\($0)") })
  }

  private static var limits: StoreLimits {
    var limits = StoreLimits()
    limits.smallWrite = 64
    return limits
  }

  /// Queues writes and returns in which groups they were committed.
  private final class Log: Sendable {
    let names = Lock<[String]>([])
    func submit(_ name: String, _ request: WriteRequest, to fixture: StoreFixture) {
      fixture.store.commit(request, to: fixture.recorder) { [names] result in
        if case .success = result { names.withLock { $0.append(name) } }
      }
    }
    var order: [String] { names.withLock { $0 } }
  }

  @Test func `small writes pass a large one that has not begun, and share no group with it`() throws {
    let fixture = try StoreFixture(limits: Self.limits)
    let log = Log()
    log.submit("a", WriteRequest(Self.create("a")), to: fixture)
    log.submit("large", WriteRequest(Self.batch(100, "x")), to: fixture)
    log.submit("b", WriteRequest(Self.create("b")), to: fixture)
    log.submit("closure", WriteRequest(.transaction { _ in }, size: 65), to: fixture)
    log.submit("c", WriteRequest(Self.batch(64, "y")), to: fixture)
    fixture.writer.run()
    #expect(log.order == ["a", "b", "c", "large", "closure"])
    #expect(fixture.recorder.batches.map(\.changes.count) == [66, 100])
  }

  @Test func `a large write waits for a bounded number of groups`() throws {
    var limits = Self.limits
    limits.groupsBeforeLarge = 3
    let fixture = try StoreFixture(limits: limits)
    let log = Log()
    log.submit("large", WriteRequest(Self.batch(100, "x")), to: fixture)
    log.submit("large 2", WriteRequest(Self.batch(100, "z")), to: fixture)
    for number in 0..<10 {
      log.submit("\(number)", WriteRequest(Self.create("\(number)")), to: fixture)
      fixture.writer.runOnce()
    }
    // The group after a large write has the two small ones that came meanwhile.
    #expect(log.order.prefix(9) == ["0", "1", "2", "large", "3", "4", "5", "6", "large 2"])
    fixture.writer.run()
    #expect(log.order.suffix(3) == ["7", "8", "9"])
  }

  @Test func `the writes that one client numbers keep their order beside a large one`() throws {
    var limits = Self.limits
    limits.groupsBeforeLarge = 1
    let fixture = try StoreFixture(limits: limits)
    let log = Log()
    func number(_ client: String, _ number: Int64) -> WriteNumber { WriteNumber(client: client, number: number) }
    log.submit("a1", WriteRequest(Self.create("a1"), writeNumber: number("a", 1)), to: fixture)
    log.submit("a2", WriteRequest(Self.batch(100, "x"), writeNumber: number("a", 2)), to: fixture)
    log.submit("b1", WriteRequest(Self.create("b1"), writeNumber: number("b", 1)), to: fixture)
    log.submit("a3", WriteRequest(Self.create("a3"), writeNumber: number("a", 3)), to: fixture)
    log.submit("b2", WriteRequest(Self.create("b2"), writeNumber: number("b", 2)), to: fixture)
    fixture.writer.run()
    #expect(log.order == ["a1", "b1", "b2", "a2", "a3"])
  }

  @Test func `a large write that is due does not pass an earlier write of its client`() throws {
    var limits = Self.limits
    limits.groupsBeforeLarge = 1
    limits.groupOperations = 1
    let fixture = try StoreFixture(limits: limits)
    let log = Log()
    func number(_ number: Int64) -> WriteNumber { WriteNumber(client: "a", number: number) }
    for index in 1...4 {
      log.submit("\(index)", WriteRequest(Self.create("\(index)"), writeNumber: number(Int64(index))), to: fixture)
    }
    log.submit("large", WriteRequest(Self.batch(100, "x"), writeNumber: number(5)), to: fixture)
    log.submit("other", WriteRequest(Self.create("other")), to: fixture)
    fixture.writer.run()
    #expect(log.order == ["1", "2", "3", "4", "large", "other"])
  }

  @Test func `random queues lose nothing, keep each client's order and bound every wait`() throws {
    var random = SeededRandom(seed: 11)
    for _ in 0..<40 {
      var limits = StoreLimits()
      limits.smallWrite = 3
      limits.groupOperations = Int.random(in: 1...6, using: &random)
      limits.groupsBeforeLarge = Int.random(in: 0...3, using: &random)
      let fixture = try StoreFixture(limits: limits)
      let log = Log()
      var expected: [String: [String]] = [:]
      for index in 0..<30 {
        let client = ["a", "b", ""][Int.random(in: 0..<3, using: &random)]
        let size = Int.random(in: 1...6, using: &random)
        let name = "\(client)\(index)"
        let write = client.isEmpty ? nil : WriteNumber(client: client, number: Int64(index + 1))
        log.submit(name, WriteRequest(Self.batch(size, "\(name)."), writeNumber: write), to: fixture)
        expected[client, default: []].append(name)
        if Bool.random(using: &random) { fixture.writer.runOnce() }
      }
      fixture.writer.run()
      #expect(log.order.count == 30)
      for client in ["a", "b"] {
        #expect(log.order.filter { $0.hasPrefix(client) } == expected[client] ?? [])
      }
    }
  }

  @Test func `operations that wait are bounded, whatever the number of writes`() throws {
    var limits = StoreLimits()
    limits.queuedOperations = 250
    let fixture = try StoreFixture(limits: limits)
    let requests = try (0..<4).map { (number: Int) throws -> WriteRequest in
      WriteRequest(Self.batch(100, "\(number)."))
    }
    let results = try fixture.commit(requests)
    #expect(results.map(\.errorCode).filter { $0 == .overloaded }.count == 2)
    // One that is larger than the bound is taken when nothing waits.
    #expect(try fixture.commit([WriteRequest(Self.batch(300, "all"))]).map(\.errorCode) == [nil])
  }

  @Test func `the writer codes and checks no record that was drafted, and runs two statements for it`() throws {
    let fixture = try StoreFixture()
    try fixture.commit(Self.batch(2, "first"))
    let before = fixture.store.writerCounts
    try fixture.commit(fixture.store.drafted(Self.batch(1_000, "x")))
    let after = fixture.store.writerCounts
    #expect(after.coded == before.coded)
    // A row of the record and one of the log each; the rest is the group's.
    #expect(after.statements - before.statements < 2_000 + 20)
    try fixture.commit(Self.batch(1_000, "y"))
    #expect(fixture.store.writerCounts.coded == after.coded + 1_000)
  }

  @Test func `operations of a closure cost no savepoint each, and one that is refused changes nothing`() throws {
    let fixture = try StoreFixture()
    try fixture.commit(Self.batch(2, "first"))
    let before = fixture.store.writerCounts.statements
    try fixture.commit(
      .transaction { transaction in
        for index in 0..<500 { try transaction.create(Models.flight, Models.flight("c\(index)")) }
        #expect(throws: StoreError.self) { try transaction.create(Models.flight, Models.flight("c7")) }
        _ = try transaction.update(
          RecordUpdate(model: Models.flight, key: Models.key("c7"), values: [(2, .int(5))]))
        #expect(throws: StoreError.self) {
          try transaction.update(RecordUpdate(model: Models.flight, key: Models.key("none"), values: [(2, .int(5))]))
        }
      })
    #expect(fixture.store.writerCounts.statements - before < 1_000 + 40)
    #expect(try fixture.log().count == 2 + 501)
    #expect(try fixture.get(Models.flight, "c7")?.record[2] == .int(5))
  }

  @Test func `a closure that makes too many changes leaves no row without its entry`() throws {
    var limits = StoreLimits()
    limits.transactionChanges = 3
    let fixture = try StoreFixture(limits: limits)
    try fixture.commit(
      .transaction { transaction in
        for index in 0..<5 { _ = try? transaction.create(Models.flight, Models.flight("c\(index)")) }
      })
    #expect(try fixture.log().count == 3)
    #expect(try fixture.get(Models.flight, "c2") != nil)
    #expect(try fixture.get(Models.flight, "c3") == nil)
  }

  @Test func `a draft makes what the writer makes, for all values, tombstones and versions`() throws {
    let (drafted, plain) = (try StoreFixture(), try StoreFixture())
    let mixed = Record(values: ["m", "e\u{301}😀", .int(.min), .int(3), true, [1, 2.5, "x", nil, ["k": []]]])
    let groups: [[WriteOperation]] = [
      [.create(model: Models.mixed, record: mixed), Self.batch(70, "a"), Self.create("b")],
      [.delete(model: Models.flight, key: Models.key("b")), .delete(model: Models.flight, key: Models.key("a3"))],
      // Keys that were deleted count on; one exists; one lacks what is required.
      [
        Self.create("b"), .batch([Self.create("a3"), Self.create("n")]), .batch([Self.create("o"), Self.create("a5")]),
        .create(model: Models.flight, record: Record(values: [.null, "x", .null, .null, .null])),
      ],
    ]
    for group in groups {
      let left = try drafted.commit(group.map { WriteRequest(drafted.store.drafted($0)) })
      let right = try plain.commit(group.map { WriteRequest($0) })
      #expect(left == right)
    }
    #expect(drafted.store.position == plain.store.position)
    #expect(try drafted.get(Models.flight, "b") == plain.get(Models.flight, "b"))
    #expect(try drafted.get(Models.flight, "b")?.version == 3)
    #expect(try drafted.get(Models.mixed, "m")?.record == plain.get(Models.mixed, "m")?.record)
  }

  @Test func `records created together take a statement for sixteen of them, and as many for their log`() throws {
    var limits = StoreLimits()
    limits.wholeWrite = 1_600
    let fixture = try StoreFixture(limits: limits)
    let before = fixture.store.writerCounts.statements
    try fixture.commit(fixture.store.drafted(Self.batch(1_600, "x")))
    // Begin, commit, the savepoint and housekeeping besides.
    #expect(fixture.store.writerCounts.statements - before < 200 + 20)
    #expect(try fixture.log().count == 1_600)
    #expect(try fixture.get(Models.flight, "x1599") != nil)
  }

  /// A refused record is found and named among those of its statement, wherever it stands; nothing of the write stays.
  @Test(arguments: [1, 2, 3] as [UInt64])
  func `drafts are refused and accepted as plain creations are, in batches and in closures`(seed: UInt64) throws {
    let (plain, batch, closure) = (try StoreFixture(), try StoreFixture(), try StoreFixture())
    let stores = [plain, batch, closure]
    for fixture in stores {
      try fixture.commit([
        WriteRequest(Self.batch(40, "a")),
        WriteRequest(.create(model: Models.flight, record: Models.flight("code", code: "taken"))),
      ])
      try fixture.commit(
        (0..<5).map { WriteRequest(.delete(model: Models.flight, key: Models.key(.string("a\($0)")))) })
    }
    var random = SeededRandom(seed: seed)
    for round in 0..<60 {
      var records = (0..<Int.random(in: 15...50, using: &random)).map { Models.flight("r\(round).\($0)") }
      let place = Int.random(in: 0..<records.count, using: &random)
      switch Int.random(in: 0..<5, using: &random) {
      case 0: records[place] = Models.flight("a9")
      case 1: records[place] = records[Int.random(in: 0..<records.count, using: &random)]
      case 2: records[place].values[4] = "taken"
      case 3: records[place] = Models.flight("a\(round % 5)")
      default: break
      }
      let operations = records.map { WriteOperation.create(model: Models.flight, record: $0) }
      let expected = try plain.commit([WriteRequest(.batch(operations))])
      let drafted = batch.store.drafted(.batch(operations))
      #expect(try batch.commit([WriteRequest(drafted)]) == expected)
      let drafts = operations.compactMap { closure.store.drafted($0).draft }
      let result = try closure.commit([
        WriteRequest(.transaction { if try !$0.create(drafts) { throw StoreError(.aborted, "no draft holds") } })
      ])
      #expect(result == expected)
    }
    let log = try plain.log().map(\.record?.image)
    #expect(try batch.log().map(\.record?.image) == log)
    #expect(try closure.log().map(\.record?.image) == log)
    #expect(batch.store.position == plain.store.position)
    #expect(try Store.check(MemoryFiles(batch.files.contents)).findings == [])
  }

  @Test func `a draft of an older catalogue is not used`() async throws {
    let fixture = try StoreFixture()
    let old = fixture.store.drafted(Self.batch(3, "x"))
    var shapes = Models.all
    let place = try #require(shapes.firstIndex { $0.model == Models.flight })
    var added = shapes[place].columns[1]
    (added.name, added.field, added.isRequired, added.defaultValue) = ("added", "added", false, "d")
    shapes[place].columns.append(added)
    try await fixture.migrate(to: shapes)
    let coded = fixture.store.writerCounts.coded
    try fixture.commit(old)
    #expect(fixture.store.writerCounts.coded == coded + 3)
    #expect(try fixture.get(Models.flight, "x1")?.record.values.last == "d")
    try fixture.commit(fixture.store.drafted(Self.batch(3, "y")))
    #expect(fixture.store.writerCounts.coded == coded + 3)
  }
}
