import MartletChangeFeed
import MartletJSON
import MartletModels
import MartletSQLite
import MartletStore
import Testing

@Suite struct WriteTests {
  @Test func `a created record can be read and its change is published`() throws {
    let fixture = try StoreFixture()
    let receipt = try fixture.commit(.create(model: Models.flight, record: Models.flight("a", delay: 5)))
    #expect(receipt.offsets == 3...3)
    #expect(receipt.records.map(\.version) == [1])
    let stored = try #require(try fixture.get(Models.flight, "a"))
    #expect(stored.record == Models.flight("a", delay: 5))
    #expect(stored.version == 1)
    let change = try #require(fixture.recorder.changes.first)
    #expect(change.record?.kind == .create)
    #expect(change.record?.image == stored.record)
    #expect(change.endsTransaction)
  }

  @Test func `an update keeps the old values of what changed and nothing else`() throws {
    let fixture = try StoreFixture()
    try fixture.commit(.create(model: Models.flight, record: Models.flight("a", delay: 5)))
    let receipt = try fixture.commit(
      .update(
        RecordUpdate(model: Models.flight, key: Models.key("a"), values: [(1, "JFK"), (2, 9), (3, "B7")])))
    #expect(receipt.records.first?.version == 2)
    let change = try #require(fixture.recorder.changes.last?.record)
    #expect(change.old.map(\.field) == [2, 3])
    #expect(change.old.map(\.value) == [5, nil])
    #expect(change.image.values == ["a", "JFK", 9, "B7", nil])
    #expect(try fixture.get(Models.flight, "a")?.record == change.image)
  }

  @Test func `what a record was counts in no bound: it can be replaced by one as large, and be deleted`() throws {
    var limits = StoreLimits()
    limits.recordBytes = 2_000
    let files = MemoryFiles()
    let fixture = try StoreFixture(files: files, limits: limits)
    func code(_ count: Int, _ letter: String) -> JSONValue { .string(String(repeating: letter, count: count)) }
    func update(_ fixture: StoreFixture, _ code: JSONValue) throws -> StoreError.Code? {
      let update = RecordUpdate(model: Models.flight, key: Models.key("a"), values: [(4, code)])
      return try #require(try fixture.commit([WriteRequest(.update(update))]).first).errorCode
    }
    try fixture.commit(.create(model: Models.flight, record: Models.flight("a", code: code(1_900, "x").string)))
    #expect(try update(fixture, code(1_900, "y")) == nil)
    #expect(try update(fixture, code(2_000, "z")) == .invalid)
    let change = try #require(fixture.recorder.changes.last?.record)
    #expect(change.old.map(\.value) == [code(1_900, "x")] && change.image[4] == code(1_900, "y"))
    // Under a smaller bound the record is larger than one may be.
    limits.recordBytes = 1_000
    let smaller = try StoreFixture(files: files, term: 2, limits: limits)
    #expect(try update(smaller, code(1_500, "z")) == .invalid)
    #expect(try update(smaller, code(900, "z")) == nil)
    try smaller.commit(.create(model: Models.flight, record: Models.flight("b", code: code(900, "b").string)))
    limits.recordBytes = 100
    let smallest = try StoreFixture(files: files, term: 3, limits: limits)
    try smallest.commit(.delete(model: Models.flight, key: Models.key("b")))
    #expect(try smallest.get(Models.flight, "b") == nil)
  }

  @Test func `failures are typed and leave nothing behind`() throws {
    let fixture = try StoreFixture()
    try fixture.commit(.create(model: Models.flight, record: Models.flight("a", code: "X1")))
    let key = Models.key("a")
    let results = try fixture.commit([
      WriteRequest(.create(model: Models.flight, record: Models.flight("a"))),
      WriteRequest(.create(model: Models.flight, record: Models.flight("b", code: "X1"))),
      WriteRequest(.update(RecordUpdate(model: Models.flight, key: Models.key("z"), values: []))),
      WriteRequest(
        .update(
          RecordUpdate(
            model: Models.flight, key: key, values: [(2, 1)], condition: .compare(field: 1, .eq("LAX"))))),
      WriteRequest(.delete(model: Models.flight, key: key, expectedVersion: 7)),
      WriteRequest(.create(model: Models.flight, record: Record(values: ["c", nil, nil, nil, nil]))),
      WriteRequest(.update(RecordUpdate(model: Models.flight, key: key, values: [(0, "b")]))),
      WriteRequest(.create(model: 99, record: Record(values: []))),
    ])
    #expect(
      results.map(\.errorCode) == [
        .alreadyExists, .notUnique, .notFound, .conditionFailed, .versionMismatch, .invalid, .invalid, .invalid,
      ])
    #expect(fixture.recorder.changes.count == 1)
    #expect(try fixture.log().count == 1)
  }

  @Test func `one failure does not fail its group`() throws {
    let fixture = try StoreFixture()
    let results = try fixture.commit([
      WriteRequest(.create(model: Models.flight, record: Models.flight("a"))),
      WriteRequest(.create(model: Models.flight, record: Models.flight("a"))),
      WriteRequest(.create(model: Models.flight, record: Models.flight("b"))),
    ])
    #expect(results.map(\.errorCode) == [nil, .alreadyExists, nil])
    #expect(fixture.recorder.batches.count == 1)
    #expect(fixture.recorder.changes.map(\.offset) == [3, 4])
    #expect(fixture.recorder.changes.allSatisfy { $0.endsTransaction })
  }

  @Test func `a group is one sync and one delivery to each destination`() throws {
    let fixture = try StoreFixture()
    let other = Recorder()
    fixture.store.register(other)
    let syncs = fixture.files.syncCount
    for number in 0..<50 {
      fixture.store.commit(
        WriteRequest(.create(model: Models.flight, record: Models.flight("\(number)"))),
        to: number.isMultiple(of: 2) ? fixture.recorder : other
      ) { _ in }
    }
    fixture.writer.run()
    #expect(fixture.files.syncCount == syncs + 1)
    #expect(fixture.recorder.deliveries == 1)
    #expect(other.deliveries == 1)
    #expect(other.changes.count == 50)
  }

  @Test func `a deletion takes the children first and each has its change`() throws {
    let fixture = try StoreFixture()
    try fixture.commit(.create(model: Models.flight, record: Models.flight("a")))
    for number in 1...2 {
      try fixture.commit(.create(model: Models.leg, record: Record(values: ["a", .int(Int64(number)), "x"])))
    }
    try fixture.commit(.create(model: Models.leg, record: Record(values: ["b", 1, "x"])))
    let receipt = try fixture.commit(.delete(model: Models.flight, key: Models.key("a")))
    #expect(receipt.records.map(\.model) == [Models.leg, Models.leg, Models.flight])
    let changes = fixture.recorder.changes.suffix(3)
    #expect(changes.map(\.endsTransaction) == [false, false, true])
    #expect(changes.map(\.record?.kind) == [.delete, .delete, .delete])
    #expect(try fixture.get(Models.leg, "a", 1) == nil)
    #expect(try fixture.get(Models.leg, "b", 1) != nil)
  }

  @Test func `a transaction sees its own writes and is all or nothing`() throws {
    struct Stop: Error {}
    let fixture = try StoreFixture()
    let receipt = try fixture.commit(
      .transaction { transaction in
        try transaction.create(Models.flight, Models.flight("a", delay: 1))
        // A step that fails changes nothing, and the code may continue.
        #expect(throws: StoreError.self) { try transaction.create(Models.flight, Models.flight("a")) }
        let stored = try #require(try transaction.get(Models.flight, Models.key("a")))
        #expect(stored.version == 1)
        #expect(try transaction.list(ListQuery(model: Models.flight)).records.count == 1)
        try transaction.publish(topic: "boarding", payload: ["gate": "B7"])
      })
    #expect(receipt.offsets == 3...4)
    #expect(fixture.recorder.changes.map(\.endsTransaction) == [false, true])
    #expect(fixture.recorder.changes.last?.event?.topic == "boarding")
    let failed = try fixture.commit([
      WriteRequest(
        .transaction { transaction in
          try transaction.create(Models.flight, Models.flight("b"))
          throw Stop()
        })
    ])
    #expect(failed.first?.errorCode == .aborted)
    #expect(try fixture.get(Models.flight, "b") == nil)
    #expect(try fixture.log().count == 2)
  }

  @Test func `a transaction that holds the writer too long is taken back`() throws {
    let fixture = try StoreFixture()
    let clock = fixture.clock
    let results = try fixture.commit([
      WriteRequest(
        .transaction { transaction in
          try transaction.create(Models.flight, Models.flight("a"))
          clock.advance(10_000)
        }),
      WriteRequest(.create(model: Models.flight, record: Models.flight("b"))),
    ])
    #expect(results.map(\.errorCode) == [.deadline, nil])
    #expect(try fixture.get(Models.flight, "a") == nil)
  }

  @Test func `too many waiting writes are refused by type and the rest is done`() throws {
    var limits = StoreLimits()
    limits.queuedWrites = 3
    limits.groupOperations = 2
    let fixture = try StoreFixture(limits: limits)
    let results = try fixture.commit(
      (0..<5).map { WriteRequest(.create(model: Models.flight, record: Models.flight("\($0)"))) })
    #expect(results.map(\.errorCode) == [.overloaded, .overloaded, nil, nil, nil])
    #expect(fixture.recorder.batches.map(\.changes.count) == [2, 1])
  }

  @Test func `the log says the same as what was published`() throws {
    let fixture = try StoreFixture()
    try fixture.commit(
      .batch([
        .create(model: Models.flight, record: Models.flight("a", delay: -3)),
        .update(RecordUpdate(model: Models.flight, key: Models.key("a"), values: [(2, nil)])),
        .create(
          model: Models.mixed,
          record: Record(values: ["m", "e\u{301}😀", .int(.min), .double(0.1), true, [1, 2.5, "x", nil, ["k": []]]])),
        .event(topic: "t", payload: ["n": .uint(.max)]),
      ]))
    let published = fixture.recorder.changes
    let logged = try fixture.log()
    #expect(logged.map(\.offset) == [3, 4, 5, 6])
    #expect(logged.map(\.endsTransaction) == [false, false, false, true])
    for (a, b) in zip(published, logged) {
      #expect(a.record?.kind == b.record?.kind && a.record?.model == b.record?.model)
      #expect(a.record?.key == b.record?.key && a.record?.version == b.record?.version)
      #expect(a.record?.image == b.record?.image && a.event == b.event)
      #expect(a.record?.old.map(\.field) == b.record?.old.map(\.field))
      #expect(a.record?.old.map(\.value) == b.record?.old.map(\.value))
    }
    #expect(try fixture.get(Models.mixed, "m")?.record == logged[2].record?.image)
  }
}
