import MartletChangeFeed
import MartletJSON
import MartletModels
import MartletRuntime
import MartletSQLite
import MartletStore
import MartletVocabulary
import Testing

/// Large writes whose records are inserted in slices between the groups of other writes.
@Suite struct StagedWriteTests {
  private static var limits: StoreLimits {
    var limits = StoreLimits()
    (limits.smallWrite, limits.wholeWrite, limits.stagedRows) = (8, 10, 16)
    return limits
  }

  private final class Outcome: Sendable {
    let result = Lock<Result<Receipt, StoreError>?>(nil)
    var code: StoreError.Code? { result.withLock { $0?.errorCode } }
    var isThere: Bool { result.withLock { $0 != nil } }
    var receipt: Receipt? { result.withLock { try? $0?.get() } }
  }

  private static func create(_ id: String, code: String? = nil) -> WriteOperation {
    .create(model: Models.flight, record: Models.flight(id, code: code))
  }

  /// Queues a write of so many creations and runs the writer that often.
  private static func begin(
    _ fixture: StoreFixture, count: Int = 100, code: String? = nil, turns: Int = 3, number: WriteNumber? = nil
  ) -> Outcome {
    let outcome = Outcome()
    let whole = WriteOperation.batch((0..<count).map { create("x\($0)", code: $0 == 0 ? code : nil) })
    let request = WriteRequest(fixture.store.drafted(whole), writeNumber: number)
    fixture.store.commit(request, to: fixture.recorder) { result in outcome.result.withLock { $0 = result } }
    for _ in 0..<turns { fixture.writer.runOnce() }
    return outcome
  }

  private static func list(_ fixture: StoreFixture) throws -> [String] {
    let query = ListQuery(model: Models.flight, limit: 1_000)
    return try fixture.read { snapshot throws(StoreError) in
      try snapshot.list(query).records.compactMap { $0.record.values[0].string }
    }
  }

  @Test func `rows of a write that is not committed are in no read, and all of them are there with its group`() throws {
    let fixture = try StoreFixture(limits: Self.limits)
    try fixture.commit(Self.create("a"))
    let outcome = Self.begin(fixture)
    #expect(try fixture.rows("record_Flight") > 1, "the rows must be in the table while they are hidden")
    let query = ListQuery(model: Models.flight, equal: [(1, "JFK")], order: [SortOrder(field: 2)], limit: 1_000)
    let seen = try fixture.read { snapshot throws(StoreError) in
      let all = ListQuery(model: Models.flight, limit: 1_000)
      return [
        try snapshot.list(all).records.count, try snapshot.list(query).records.count,
        try snapshot.get(Models.flight, Models.key("x0")) == nil ? 0 : 1,
        try snapshot.get(Models.flight, keys: [Models.key("x0"), Models.key("a")]).compactMap { $0 }.count,
        try snapshot.count(Models.flight, where: .all) ?? -1,
        try snapshot.count(Models.flight, where: .compare(field: 1, .eq("JFK"))) ?? -1,
      ]
    }
    #expect(seen == [1, 1, 0, 1, 1, 1])
    #expect(!outcome.isThere)
    let before = fixture.recorder.batches.count
    fixture.writer.run()
    let receipt = try #require(outcome.receipt)
    #expect(receipt.outcomes.count == 100)
    #expect(try Self.list(fixture).count == 101)
    #expect(fixture.recorder.batches.dropFirst(before).map(\.changes.count) == [100])
    let changes = try #require(fixture.recorder.batches.last).changes
    #expect(changes.map(\.endsTransaction) == Array(repeating: false, count: 99) + [true])
    #expect(receipt.offsets == changes[0].offset...changes[99].offset)
    #expect(try fixture.get(Models.flight, "x99")?.version == 1)
  }

  @Test func `writes between the slices are committed before it, with their own groups`() throws {
    let fixture = try StoreFixture(limits: Self.limits)
    let outcome = Self.begin(fixture)
    let small = Outcome()
    fixture.store.commit(WriteRequest(Self.create("b")), to: fixture.recorder) { result in
      small.result.withLock { $0 = result }
    }
    fixture.writer.runOnce()
    #expect(small.isThere && !outcome.isThere)
    fixture.writer.run()
    #expect(fixture.recorder.batches.map(\.changes.count) == [1, 100])
    #expect(fixture.recorder.batches.map { $0.changes[0].time } == [1_000_000, 1_000_000])
  }

  @Test func `a turn of the writer inserts no more than its rows`() throws {
    let fixture = try StoreFixture(limits: Self.limits)
    _ = Self.begin(fixture, turns: 1)
    var rows: [Int64] = []
    for _ in 0..<7 {
      rows.append(try fixture.rows("record_Flight"))
      fixture.writer.runOnce()
    }
    #expect(rows == [16, 32, 48, 64, 80, 96, 100])
  }

  @Test(arguments: ["x5", "y"])
  func `a write that comes later and needs the place of a hidden row gets it`(id: String) throws {
    let fixture = try StoreFixture(limits: Self.limits)
    let outcome = Self.begin(fixture, code: "K")
    #expect(try fixture.commit([WriteRequest(Self.create(id, code: id == "y" ? "K" : nil))])[0].errorCode == nil)
    fixture.writer.run()
    #expect(outcome.code == (id == "y" ? .notUnique : .alreadyExists))
    #expect(try Self.list(fixture) == [id])
    #expect(try fixture.rows("record_Flight") == 1)
  }

  @Test
  func `a write that needs the place of a hidden row and fails for another reason leaves the large one to be made`()
    throws
  {
    let fixture = try StoreFixture(limits: Self.limits)
    let outcome = Self.begin(fixture)
    let failing = WriteOperation.transaction { transaction in
      try transaction.create(Models.flight, Models.flight("x5"))
      throw StoreError(.aborted, "no")
    }
    #expect(try fixture.commit([WriteRequest(failing)])[0].errorCode == .aborted)
    fixture.writer.run()
    #expect(outcome.receipt?.outcomes.count == 100)
    #expect(try Self.list(fixture).count == 100)
  }

  @Test func `keys that exist, or were deleted, are decided as without slices`() throws {
    let fixture = try StoreFixture(limits: Self.limits)
    try fixture.commit(Self.create("x70"))
    #expect(Self.begin(fixture, turns: 20).code == .alreadyExists)
    try fixture.commit(.delete(model: Models.flight, key: Models.key("x70")))
    let outcome = Self.begin(fixture, turns: 20)
    #expect(outcome.receipt?.records[70].version == 3)
    #expect(outcome.receipt?.records[71].version == 1)
  }

  @Test func `a process that ends between slices leaves nothing of the write`() throws {
    let fixture = try StoreFixture(limits: Self.limits)
    try fixture.commit(Self.create("a"))
    _ = Self.begin(fixture)
    let files = MemoryFiles(fixture.files.contents)
    #expect(try Store.check(files).isSound, "a folder that was left between slices is not damaged")
    let next = try StoreFixture(files: files, term: 2, limits: Self.limits)
    #expect(try Self.list(next) == ["a"])
    #expect(try next.rows("record_Flight") == 1)
    #expect(Self.begin(next, turns: 20).receipt?.outcomes.count == 100)
    #expect(try Store.check(MemoryFiles(next.files.contents)).isSound)
  }

  @Test func `rows of an earlier write stay while a later one is hidden, and have version 1`() throws {
    let fixture = try StoreFixture(limits: Self.limits)
    #expect(Self.begin(fixture, turns: 20).isThere)
    let whole = WriteOperation.batch((0..<50).map { Self.create("z\($0)") })
    fixture.store.commit(WriteRequest(fixture.store.drafted(whole)), to: fixture.recorder) { _ in }
    for _ in 0..<3 { fixture.writer.runOnce() }
    #expect(try Self.list(fixture).count == 100)
    try fixture.commit(
      .update(RecordUpdate(model: Models.flight, key: Models.key("x1"), values: [(2, 5)], expectedVersion: 1)))
    #expect(try fixture.get(Models.flight, "x1")?.version == 2)
    #expect(try Self.list(fixture).count == 150)
  }

  @Test func `a migration between slices is made at once, and the write by the new models`() async throws {
    let fixture = try StoreFixture(limits: Self.limits)
    let outcome = Self.begin(fixture)
    var flights = Models.flights
    flights.columns.append(Models.column("note", default: "n"))
    try await fixture.migrate(to: [flights, Models.legs, Models.mixedShape])
    fixture.writer.run()
    #expect(outcome.receipt?.outcomes.count == 100)
    #expect(try fixture.get(Models.flight, "x3")?.record.values.last == "n")
    #expect(try Store.check(MemoryFiles(fixture.files.contents)).isSound)
  }

  @Test func `a write whose model's number a migration takes away between slices is refused, without a trouble`()
    async throws
  {
    let fixture = try StoreFixture(limits: Self.limits)
    let outcome = Self.begin(fixture)
    var flights = Models.flights
    flights.model = 5
    try await fixture.migrate(to: [flights, Models.legs, Models.mixedShape])
    fixture.writer.run()
    #expect(outcome.code == .invalid)
    #expect(fixture.store.trouble == nil)
  }

  @Test func `a disk that is full between slices refuses the write, and keeps none of its rows`() throws {
    let fixture = try StoreFixture(limits: Self.limits)
    let outcome = Self.begin(fixture)
    fixture.files.setCapacity(fixture.files.totalBytes)
    fixture.writer.run()
    #expect(outcome.code == .diskFull)
    #expect(try Self.list(fixture) == [])
    fixture.files.setCapacity(nil)
    #expect(Self.begin(fixture, turns: 20).receipt?.outcomes.count == 100)
    #expect(try fixture.rows("record_Flight") == 100)
  }

  @Test func `a copy that is made between slices has nothing of the write`() throws {
    let fixture = try StoreFixture(limits: Self.limits)
    try fixture.commit(Self.create("a"))
    _ = Self.begin(fixture, count: 1_000)
    let copy = MemoryFiles()
    let isDone = Lock(false)
    fixture.store.backup(to: .memory(copy)) { _ in isDone.withLock { $0 = true } }
    while !isDone.withLock({ $0 }) { fixture.writer.runOnce() }
    #expect(try Store.check(copy).isSound)
    let second = try StoreFixture(files: copy, term: 2, limits: Self.limits)
    #expect(try [1, 1_001].contains(Self.list(second).count))
  }

  @Test func `entries that have no rows yet are read as those that have, by all reads of the log`() throws {
    let fixture = try StoreFixture(limits: Self.limits)
    try fixture.commit(Self.create("a"))
    let outcome = Self.begin(fixture, turns: 0)
    while !outcome.isThere { fixture.writer.runOnce() }
    fixture.store.commit(WriteRequest(Self.create("b")), to: fixture.recorder) { _ in }
    fixture.writer.runOnce()
    #expect(try fixture.isWaitingForRows)
    func answers() throws -> [String] {
      try fixture.read { snapshot throws(StoreError) in
        var answers: [String] = []
        for offset in [Int64(0), 2, 3, 4, 50, 102, 103, 104] {
          answers.append("\(try snapshot.log(after: offset, changes: 40, bytes: 1_000))")
          answers.append("\(try snapshot.groups(after: offset))")
        }
        answers.append("\(try snapshot.offset(before: 1_000_000) ?? -1)")
        return answers
      }
    }
    let waiting = try answers()
    #expect(try fixture.log().count == 102)
    let files = MemoryFiles(fixture.files.contents)
    #expect(try Store.check(files).findings.map(\.message) == [])
    let next = try StoreFixture(files: files, term: 2, limits: Self.limits)
    #expect(try !next.isWaitingForRows)
    #expect(try next.log().prefix(102).map(\.offset) == fixture.log().map(\.offset))
    #expect(try Store.check(MemoryFiles(next.files.contents)).findings.map(\.message) == [])
    fixture.writer.run()
    #expect(try !fixture.isWaitingForRows)
    for (before, after) in zip(waiting, try answers()) where before != after {
      Issue.record("\(before.prefix(300)) and \(after.prefix(300))")
    }
    #expect(try Store.check(MemoryFiles(fixture.files.contents)).findings.map(\.message) == [])
  }

  @Test func `the group of a write in slices adds one row to the log, whatever its size`() throws {
    let fixture = try StoreFixture(limits: Self.limits)
    let outcome = Self.begin(fixture, turns: 0)
    var rows = try fixture.rows("martlet_log")
    while !outcome.isThere {
      rows = try fixture.rows("martlet_log")
      fixture.writer.runOnce()
    }
    #expect(try fixture.rows("martlet_log") == rows + 1)
    fixture.writer.run()
    #expect(try fixture.rows("martlet_log") == rows + 100)
  }

  @Test func `a disk that is full when the entries get their rows refuses writes and loses nothing`() throws {
    let fixture = try StoreFixture(limits: Self.limits)
    let outcome = Self.begin(fixture, turns: 0)
    while !outcome.isThere { fixture.writer.runOnce() }
    fixture.files.setCapacity(fixture.files.totalBytes)
    fixture.writer.run()
    #expect(try fixture.isWaitingForRows)
    #expect(try fixture.commit([WriteRequest(Self.create("b"))])[0].errorCode == .diskFull)
    #expect(try fixture.log().count == 100)
    let large = WriteRequest(fixture.store.drafted(.batch((0..<50).map { Self.create("z\($0)") })))
    #expect(try fixture.commit([large])[0].errorCode == .diskFull)
    fixture.files.setCapacity(nil)
    fixture.store.maintain()
    fixture.writer.run()
    #expect(try fixture.commit([WriteRequest(Self.create("b"))])[0].errorCode == nil)
    #expect(try !fixture.isWaitingForRows)
    #expect(try Store.check(MemoryFiles(fixture.files.contents)).findings.map(\.message) == [])
  }

  @Test func `numbered writes, and those with other operations, are made in one piece`() throws {
    let fixture = try StoreFixture(limits: Self.limits)
    #expect(Self.begin(fixture, turns: 1, number: WriteNumber(client: "c", number: 1, identity: "i")).isThere)
    #expect(try fixture.rows("sqlite_schema WHERE name = 'martlet_staging'") == 0)
  }
}
