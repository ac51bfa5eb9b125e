import MartletModels
import MartletRuntime
import MartletSQLite
import MartletStore
import Testing

/// Checkpoints that run beside the writer.
@Suite struct CheckpointerTests {
  private static func create(_ id: String) -> WriteRequest {
    WriteRequest(.create(model: Models.flight, record: Models.flight(id)))
  }

  private static func fixture(_ checkpointer: ManualExecutor, _ files: MemoryFiles) throws -> StoreFixture {
    var limits = StoreLimits()
    limits.checkpointPages = 20
    return try StoreFixture(files: files, limits: limits) { $0.checkpointer = checkpointer }
  }

  @Test func `the writer copies and syncs no page that another thread can copy`() throws {
    let (files, checkpointer) = (MemoryFiles(), ManualExecutor())
    let fixture = try Self.fixture(checkpointer, files)
    files.record(true)
    for number in 0..<40 { #expect(try fixture.commit([Self.create("\(number)")]).map(\.errorCode) == [nil]) }
    // All that happened to the database's own file so far.
    func syncs() -> Int {
      files.events.count { if case .sync(let path) = $0 { path == StoreFormat.databaseName } else { false } }
    }
    #expect(syncs() == 0)
    checkpointer.run()
    #expect(syncs() == 1)
  }

  @Test func `the write-ahead log starts over although writes come during every checkpoint`() throws {
    let (files, checkpointer) = (MemoryFiles(), ManualExecutor())
    let fixture = try Self.fixture(checkpointer, files)
    for number in 0..<300 {
      try fixture.commit([Self.create("\(number)")])
      // A checkpoint ends some groups after it has begun.
      if number % 5 == 4 {
        checkpointer.run()
        try fixture.commit([Self.create("after \(number)")])
      }
    }
    let log = try #require(files.contents(of: StoreFormat.databaseName + "-wal"))
    #expect(log.count < 100 * 4_200, "\(log.count)")
    let reopened = try StoreFixture(files: MemoryFiles(files.contents), term: 2)
    #expect(reopened.store.position.head == fixture.store.position.head + 1)
  }

  @Test func `a failed sync of a checkpoint beside the writer is as final as one of a commit`() throws {
    let (files, checkpointer) = (MemoryFiles(), ManualExecutor())
    let fixture = try Self.fixture(checkpointer, files)
    for number in 0..<10 { try fixture.commit([Self.create("\(number)")]) }
    files.failSync(afterSuccesses: 0)
    checkpointer.run()
    files.failSync(afterSuccesses: nil)
    fixture.writer.run()
    #expect(fixture.failures.list.withLock { $0.map(\.code) } == [.failed])
    #expect(try fixture.commit([Self.create("b")]).map(\.errorCode) == [.failed])
  }
}
