import MartletChangeFeed
import MartletJSON
import MartletModels
import MartletRuntime
import MartletSQLite
import MartletStore
import Testing

/// A group is in the ledger before it is committed here, or nothing of it happened.
struct LedgerTests {
  private func create(_ id: String) -> WriteOperation { .create(model: Models.flight, record: Models.flight(id)) }

  private func fold(_ groups: [LogGroup], into fixture: StoreFixture) throws {
    for group in groups {
      let box = Box<LogPosition>()
      fixture.store.fold(group.bytes) { result in box.value.withLock { $0 = result } }
      fixture.writer.run()
      #expect(try #require(box.value.withLock { $0 }).get().head == group.last)
    }
  }

  private func folded(_ groups: [LogGroup]) throws -> Follower {
    let follower = try Follower(files: MemoryFiles(), shapes: Models.all)
    for group in groups { #expect(try follower.fold(group.bytes).errorCode == nil) }
    return follower
  }

  @Test func `every group is in the ledger before its write is acknowledged, from the first term on`() throws {
    let ledger = ScriptedLedger()
    let fixture = try StoreFixture(ledger: ledger)
    #expect(ledger.last.offset == StoreFixture.opening)
    let seen = Lock<[Int64]>([])
    fixture.store.commit(WriteRequest(create("a"))) { _ in seen.withLock { $0.append(ledger.last.offset) } }
    fixture.writer.run()
    #expect(seen.withLock { $0 } == [StoreFixture.opening + 1])
    try fixture.commit([WriteRequest(create("a")), WriteRequest(create("b"))])
    let follower = try folded(ledger.groups)
    #expect(follower.store.position == fixture.store.position)
    #expect(ledger.last.checksum == fixture.store.position.checksum)
  }

  @Test func `a migration is a group of the ledger`() async throws {
    let ledger = ScriptedLedger()
    let fixture = try StoreFixture(ledger: ledger)
    var flights = Models.flights
    flights.columns.append(Models.column("note"))
    try await fixture.migrate(to: [flights, Models.legs, Models.mixedShape])
    #expect(ledger.last.offset == StoreFixture.opening + 1)
    #expect(try folded(ledger.groups).store.position == fixture.store.position)
  }

  @Test(arguments: [true, false])
  func `after an append without an answer the outcome is unknown, and the store follows the ledger`(
    isKept: Bool
  ) throws {
    let ledger = ScriptedLedger()
    let fixture = try StoreFixture(ledger: ledger)
    try fixture.commit(create("a"))
    let before = fixture.store.position
    ledger.script(.lose(keeping: isKept))
    #expect(
      try fixture.commit([WriteRequest(create("b")), WriteRequest(create("a"))]).map(\.errorCode)
        == [.outcomeUnknown, .outcomeUnknown])
    #expect(fixture.store.position == before)
    #expect(fixture.recorder.changes.count == 1)
    #expect(fixture.failures.list.withLock { $0 }.isEmpty)
    // It has resigned: another node may write in the meantime.
    #expect(try fixture.commit([WriteRequest(create("c"))]).first?.errorCode == .notAuthority)
    try fold(ledger.groups(after: before.head, bytes: .max), into: fixture)
    #expect(try (fixture.get(Models.flight, "b") != nil) == isKept)
    #expect(fixture.store.position.head == ledger.last.offset)
    #expect(fixture.recorder.changes.count == (isKept ? 2 : 1))
    // The folder is that of an authority again when it is opened as one.
    let reopened = try StoreFixture(files: fixture.files, term: 2, ledger: ledger)
    #expect(try reopened.commit([WriteRequest(create("c"))]).first?.errorCode == nil)
  }

  @Test func `an append that the ledger refuses changes nothing, and the store is no longer the authority`() throws {
    let ledger = ScriptedLedger()
    let fixture = try StoreFixture(ledger: ledger)
    let before = fixture.store.position
    ledger.script(.depose)
    #expect(try fixture.commit([WriteRequest(create("a"))]).first?.errorCode == .notAuthority)
    #expect(try fixture.commit([WriteRequest(create("b"))]).first?.errorCode == .notAuthority)
    #expect(fixture.store.position == before)
    #expect(try fixture.get(Models.flight, "a") == nil)
    #expect(ledger.groups.count == 1)
  }

  @Test func `a second authority fences the first`() throws {
    let ledger = ScriptedLedger()
    let first = try StoreFixture(ledger: ledger)
    try first.commit(create("a"))
    let second = try StoreFixture(files: MemoryFiles(first.files.contents), term: 2, ledger: ledger)
    #expect(try first.commit([WriteRequest(create("b"))]).first?.errorCode == .notAuthority)
    #expect(try second.commit([WriteRequest(create("c"))]).first?.errorCode == nil)
    // The first one follows what the second one wrote.
    try fold(ledger.groups(after: first.store.position.head, bytes: .max), into: first)
    #expect(first.store.position == second.store.position)
  }

  @Test func `a folder that is not the ledger's end is refused, and is accepted after it has followed`() throws {
    let ledger = ScriptedLedger()
    let first = try StoreFixture(ledger: ledger)
    let copy = MemoryFiles(first.files.contents)
    try first.commit(create("a"))
    let refused = MemoryFiles(copy.contents)
    let error = #expect(throws: StoreError.self) { try StoreFixture(files: refused, term: 2, ledger: ledger) }
    #expect(error?.code == .diverged)
    let follower = try Follower(files: copy, shapes: Models.all)
    for group in ledger.groups(after: follower.store.position.head, bytes: .max) {
      #expect(try follower.fold(group.bytes).errorCode == nil)
    }
    let second = try StoreFixture(files: MemoryFiles(copy.contents), term: 2, ledger: ledger)
    #expect(try second.get(Models.flight, "a") != nil)
  }

  @Test func `a commit that fails after its append ends the store, also when the disk is only full`() throws {
    let ledger = ScriptedLedger()
    let fixture = try StoreFixture(ledger: ledger)
    let files = fixture.files
    ledger.kept.withLock { $0.afterAppend = { files.setCapacity(files.totalBytes) } }
    #expect(try fixture.commit([WriteRequest(create("a"))]).first?.errorCode == .failed)
    #expect(fixture.failures.list.withLock { $0.count } == 1)
    files.setCapacity(nil)
    #expect(try fixture.commit([WriteRequest(create("b"))]).first?.errorCode == .failed)
    // The next start folds what the ledger has.
    let follower = try Follower(files: MemoryFiles(files.contents), shapes: Models.all)
    for group in ledger.groups(after: follower.store.position.head, bytes: .max) {
      #expect(try follower.fold(group.bytes).errorCode == nil)
    }
    #expect(LogPoint(offset: follower.store.position.head, checksum: follower.store.position.checksum) == ledger.last)
  }
}
