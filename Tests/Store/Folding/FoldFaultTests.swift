import MartletChangeFeed
import MartletJSON
import MartletModels
import MartletPowerCut
import MartletRuntime
import MartletSQLite
import MartletStore
import MartletVocabulary
import Testing

/// A follower under faults: groups cut at every byte, power cut at every event of its disk, a migration while it is
/// open, a clock set back; and that a fold that is wrong is noticed.
struct FoldFaultTests {
  /// An authority with some groups of every kind.
  private func history(_ seed: UInt64, groups: Int) throws -> FoldTests.History {
    var history = try FoldTests.History(seed: seed)
    for _ in 0..<groups {
      let shapes = RandomWrites.shapes(history.version)
      history.clock.advance(1_000)
      try history.authority.commit((0..<4).map { _ in history.writes.request(shapes) })
    }
    return history
  }

  private func groups(of authority: StoreFixture, after offset: Int64 = 0) throws -> [LogGroup] {
    let range = try authority.read { snapshot throws(StoreError) in
      try snapshot.groups(after: offset, bytes: .max)
    }
    guard case .groups(let groups) = range else { return [] }
    return groups
  }

  @Test func `a group that is cut at any byte changes nothing, over restarts too, and the whole one is folded then`()
    throws
  {
    var history = try history(21, groups: 5)
    for group in try groups(of: history.authority) {
      let bytes = group.bytes
      let before = history.follower.store.position
      for count in bytes.indices {
        #expect(try history.follower.fold(Array(bytes.prefix(count))).errorCode == .damaged)
        if count % 24 == 0 { try history.reopenFollower(history.follower.files) }
      }
      #expect(history.follower.store.position == before)
      #expect(try history.follower.fold(bytes).get().head == group.last)
    }
    try history.compare()
    try history.comparePromoted()
  }

  @Test
  func `after a power cut all over the events of a follower's disk it continues and answers as the authority does`()
    throws
  {
    var history = try history(22, groups: 4)
    let groups = try groups(of: history.authority)
    let files = MemoryFiles()
    files.record(true)
    do {
      let follower = try Follower(files: files, shapes: RandomWrites.shapes(0), limits: history.limits)
      for group in groups { #expect(try follower.fold(group.bytes).errorCode == nil) }
    }
    let cut = PowerCut(events: files.events)
    var random = SeededRandom(seed: 22)
    for (index, count) in stride(from: 0, through: files.eventCount, by: max(1, files.eventCount / 40)).enumerated() {
      let share = Int.random(in: 0...4, using: &random)
      let disk = MemoryFiles(cut.files(after: count) { _ in Int.random(in: 0..<4, using: &random) < share })
      try history.reopenFollower(disk)
      let head = history.follower.store.position.head
      // Whole groups or nothing.
      #expect(head == 0 || groups.contains { $0.last == head })
      for group in groups where group.last > head {
        #expect(try history.follower.fold(group.bytes).errorCode == nil)
      }
      #expect(history.follower.store.position == history.authority.store.position)
      if index % 8 == 0 { try history.compare() }
    }
  }

  @Test func `a follower that is open folds migrations, and answers for its own models while they fit`() async throws {
    let authority = try StoreFixture(shapes: RandomWrites.shapes(0))
    let follower = try Follower(files: MemoryFiles(), shapes: RandomWrites.shapes(0))
    func feed() throws {
      for group in try groups(of: authority, after: follower.store.position.head) {
        #expect(try follower.fold(group.bytes).errorCode == nil)
      }
      #expect(follower.store.position == authority.store.position)
    }
    func gate(_ id: JSONValue) throws -> JSONValue? {
      try follower.read { snapshot throws(StoreError) in
        try snapshot.get(Models.flight, RecordKey(values: [id]))?.record[3]
      }
    }
    try authority.commit(.create(model: Models.flight, record: Models.flight("a")))
    try feed()
    #expect(try gate("a") == .null)
    // A field more, and one that became required: what the follower serves has no more than its own schema says.
    try await authority.migrate(to: RandomWrites.shapes(1))
    try await authority.migrate(
      to: {
        var shapes = RandomWrites.shapes(1)
        shapes[0].columns[3].isRequired = true
        shapes[0].columns[3].defaultValue = "A1"
        return shapes
      }())
    try authority.commit(
      .update(RecordUpdate(model: Models.flight, key: Models.key("a"), values: [(2, 7)])))
    try feed()
    #expect(try gate("a") == "A1")
    #expect(follower.recorder.changes.compactMap { $0.record?.image.values.count } == [5, 5])
    // A field of its schema that goes: it continues to fold, and refuses reads until it has another schema.
    let dropped = {
      var shapes = RandomWrites.shapes(0)
      shapes[0].columns.remove(at: 3)
      shapes[0].indexes = [RecordIndex(name: "byOrigin", fields: [1, 2], isUnique: false)]
      return shapes
    }()
    let second = try StoreFixture(files: authority.files, shapes: dropped, term: 2, dropping: true)
    try second.commit(.event(topic: "t", payload: 1))
    for group in try groups(of: second, after: follower.store.position.head) {
      #expect(try follower.fold(group.bytes).errorCode == nil)
    }
    #expect(follower.store.position == second.store.position)
    let misfit = #expect(throws: StoreError.self) { try gate("a") }
    #expect(misfit?.code == .migration)
    let reopened = try Follower(files: follower.files, shapes: dropped)
    let stored = try reopened.read { snapshot throws(StoreError) in try snapshot.get(Models.flight, Models.key("a")) }
    #expect(stored == (try second.get(Models.flight, "a")))
  }

  @Test func `with the clock set back the times of groups and records never decrease, in both stores`() throws {
    let clock = ManualClock(1_000_000)
    let authority = try StoreFixture(clock: clock)
    for step in [5_000, -3_000, 1_000, -900_000, 10] as [Int64] {
      clock.advance(step)
      try authority.commit(.create(model: Models.flight, record: Models.flight("\(step)")))
    }
    let reopened = try StoreFixture(files: authority.files, clock: clock, term: 2)
    let groups = try groups(of: reopened)
    #expect(zip(groups, groups.dropFirst()).allSatisfy { $0.time <= $1.time })
    #expect(groups.last?.time == 1_005_000)
    let follower = try Follower(files: MemoryFiles(), shapes: Models.all)
    for group in groups { #expect(try follower.fold(group.bytes).errorCode == nil) }
    for step in ["5000", "-3000", "10"] as [JSONValue] {
      let stored = try follower.read { snapshot throws(StoreError) in
        try snapshot.get(Models.flight, RecordKey(values: [step]))
      }
      #expect(stored?.changed == 1_005_000)
      #expect(stored == (try reopened.get(Models.flight, step)))
    }
  }

  /// What a wrong fold could have made of the follower's tables.
  static let faults = [
    "UPDATE record_Flight SET \"#version\" = \"#version\" + 1",
    "UPDATE record_Flight SET \"#changed\" = \"#changed\" + 1",
    "UPDATE record_Flight SET \"#created\" = \"#created\" + 1",
    "DELETE FROM record_Mixed",
    "UPDATE record_Leg SET place = 'elsewhere'",
    "DELETE FROM martlet_outcomes",
    "UPDATE martlet_outcomes SET offset = offset + 1",
    "DELETE FROM martlet_clients",
    "UPDATE martlet_clients SET acknowledged = acknowledged + 1",
    "DELETE FROM martlet_tombstones",
    "UPDATE martlet_tombstones SET at = at - 1",
    "UPDATE martlet_tombstones SET version = version + 1",
    "UPDATE martlet_horizon SET first = first + 3",
    "UPDATE martlet_horizon SET tombstones = 9000000000000",
    "UPDATE martlet_horizon SET clients = 9000000000000",
    "UPDATE martlet_lineage SET first = first + 1",
    "UPDATE martlet_log SET at = at + 1 WHERE offset = (SELECT max(offset) FROM martlet_log)",
  ]

  @Test(arguments: faults) func `a follower that folds wrongly is found by the comparison`(fault: String) throws {
    var history = try history(23, groups: 12)
    try history.feed()
    let database = try Database(path: StoreFormat.databaseName, on: history.follower.files)
    try database.execute(fault)
    #expect(database.changes > 0, "the fault found nothing to spoil")
    let found = try history.differences() + history.promotedDifferences()
    #expect(!found.isEmpty)
  }
}
