import Foundation
import MartletChangeFeed
import MartletJSON
import MartletModels
import MartletPowerCut
import MartletRuntime
import MartletSQLite
import MartletStore
import MartletVocabulary
import Synchronization
import Testing

@Suite struct DiskFaultTests {
  private func create(_ id: String) -> WriteRequest {
    WriteRequest(.create(model: Models.flight, record: Models.flight(id)))
  }

  @Test func `P17: after a power cut anywhere all acknowledged writes are there and log and records agree`() throws {
    let files = MemoryFiles()
    files.record(true)
    var limits = StoreLimits()
    limits.checkpointPages = 12
    var acknowledged: [(events: Int, head: Int64)] = []
    do {
      let fixture = try StoreFixture(files: files, limits: limits)
      acknowledged.append((files.eventCount, fixture.store.position.head))
      for group in 0..<7 {
        var requests = (0..<3).map { create("\(group).\($0)") }
        requests.append(create("0.0"))
        if group > 1 {
          requests.append(WriteRequest(.delete(model: Models.flight, key: Models.key(.string("\(group - 1).1")))))
          requests.append(
            WriteRequest(
              .update(RecordUpdate(model: Models.flight, key: Models.key(.string("\(group).0")), values: [(2, 3)]))))
        }
        try fixture.commit(requests)
        acknowledged.append((files.eventCount, fixture.store.position.head))
      }
    }
    let events = files.events
    #expect(events.contains { if case .sync(let path) = $0 { path == StoreFormat.databaseName } else { false } })
    let cut = PowerCut(events: events)
    var random = SeededRandom(seed: 7)
    let first = try #require(acknowledged.first).events
    for prefix in first...events.count {
      let head = try #require(acknowledged.last { $0.events <= prefix }).head
      let share = Int.random(in: 0...4, using: &random)
      let disk = MemoryFiles(cut.files(after: prefix) { _ in Int.random(in: 0..<4, using: &random) < share })
      let fixture = try StoreFixture(files: disk, term: 2)
      #expect(fixture.store.position.head >= head)
      try checkAgreement(fixture)
    }
  }

  /// The records are what the log, applied from its beginning, makes.
  private func checkAgreement(_ fixture: StoreFixture) throws {
    var expected: [RecordKey: (Record, Int64)] = [:]
    let changes = try fixture.log()
    #expect(changes.map(\.offset) == changes.indices.map { Int64($0) + StoreFixture.opening + 1 })
    #expect(changes.last?.endsTransaction ?? true)
    for change in changes {
      guard let record = change.record else { continue }
      expected[record.key] = record.after.map { ($0, record.version) }
    }
    let page = try fixture.read { snapshot throws(StoreError) in
      try snapshot.list(ListQuery(model: Models.flight, limit: 1_000))
    }
    #expect(page.records.count == expected.count)
    for stored in page.records {
      let known = try #require(expected[Models.key(stored.record[0])])
      #expect(known == (stored.record, stored.version))
    }
  }

  @Test func `after a failed sync nothing more is acknowledged and reads continue`() throws {
    let fixture = try StoreFixture()
    try fixture.commit([create("a")])
    fixture.files.failSync(afterSuccesses: 0)
    #expect(try fixture.commit([create("b"), create("c")]).map(\.errorCode) == [.failed, .failed])
    fixture.files.failSync(afterSuccesses: nil)
    #expect(try fixture.commit([create("d")]).map(\.errorCode) == [.failed])
    #expect(fixture.recorder.batches.count == 1)
    #expect(fixture.failures.list.withLock { $0.map(\.code) } == [.failed])
    #expect(try fixture.get(Models.flight, "a") != nil)
  }

  @Test func `a failed sync during a checkpoint is as final as one during a commit`() throws {
    var limits = StoreLimits()
    limits.checkpointPages = 1
    let fixture = try StoreFixture(limits: limits)
    fixture.files.failSync(afterSuccesses: 1)
    #expect(try fixture.commit([create("a")]).map(\.errorCode) == [nil])
    #expect(fixture.failures.list.withLock { $0.count } == 1)
    #expect(try fixture.commit([create("b")]).map(\.errorCode) == [.failed])
  }

  @Test func `on a full disk writes fail by type, reads continue, and writes resume when there is room`() throws {
    let fixture = try StoreFixture()
    try fixture.commit([create("a")])
    fixture.files.setCapacity(fixture.files.totalBytes)
    #expect(try fixture.commit([create("b"), create("c")]).map(\.errorCode) == [.diskFull, .diskFull])
    #expect(fixture.store.trouble?.code == .diskFull)
    #expect(fixture.store.fullDisks == 1)
    #expect(try fixture.get(Models.flight, "a") != nil)
    #expect(try fixture.get(Models.flight, "b") == nil)
    #expect(fixture.failures.list.withLock { $0.isEmpty })
    fixture.files.setCapacity(nil)
    #expect(try fixture.commit([create("b")]).map(\.errorCode) == [nil])
    #expect(fixture.recorder.changes.map(\.offset) == [3, 4])
  }

  @Test func `a store with a full disk finds out by itself that there is room again`() throws {
    let fixture = try StoreFixture()
    try fixture.commit([create("a")])
    fixture.files.setCapacity(fixture.files.totalBytes)
    #expect(try fixture.commit([create("b")]).map(\.errorCode) == [.diskFull])
    #expect(fixture.store.trouble?.code == .diskFull)
    fixture.files.setCapacity(nil)
    fixture.files.record(true)
    fixture.store.maintain()
    fixture.writer.run()
    #expect(fixture.store.trouble == nil)
    // It has been tried, not assumed.
    #expect(fixture.files.events.contains { if case .sync = $0 { true } else { false } })
    let events = fixture.files.events.count
    fixture.store.maintain()
    fixture.writer.run()
    #expect(fixture.files.events.count == events)
  }

  @Test(arguments: [EFBIG, EDQUOT, ENOSPC])
  func `a file that cannot grow is a full disk`(error: Int32) {
    // SQLITE_IOERR_WRITE, SQLITE_IOERR_SHMSIZE
    for code in [Int32(778), 4_874] {
      let failure = SQLiteError(extendedCode: code, message: "disk I/O error", systemError: error)
      #expect(failure.code == .diskFull && !failure.message.contains("I/O"), "\(failure)")
    }
    // A failed sync says nothing about what the disk holds.
    #expect(SQLiteError(extendedCode: 1_034, message: "disk I/O error", systemError: error).code == .inputOutput)
    #expect(SQLiteError(extendedCode: 778, message: "disk I/O error", systemError: EIO).code == .inputOutput)
  }

  @Test func `the write-ahead log starts over and stays bounded`() throws {
    var limits = StoreLimits()
    limits.checkpointPages = 20
    let fixture = try StoreFixture(limits: limits)
    for number in 0..<300 { try fixture.commit([create("\(number)")]) }
    let log = try #require(fixture.files.contents(of: StoreFormat.databaseName + "-wal"))
    #expect(log.count < 60 * 4_200)
    let reopened = try StoreFixture(files: MemoryFiles(fixture.files.contents), term: 2)
    #expect(reopened.store.position.head == StoreFixture.opening + 300 + 1)
  }
}
