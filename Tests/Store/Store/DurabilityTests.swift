import MartletChangeFeed
import MartletJSON
import MartletModels
import MartletRuntime
import MartletSQLite
import MartletStore
import MartletVocabulary
import Testing

@Suite struct DurabilityTests {
  private func create(_ id: String) -> WriteOperation {
    .create(model: Models.flight, record: Models.flight(id))
  }

  @Test func `a resent write is applied once, also after a restart`() throws {
    let files = MemoryFiles()
    let id = WriteNumber(client: "c", number: 1)
    let first = try StoreFixture(files: files).commit(create("a"), id)
    #expect(!first.isRepeat)
    let fixture = try StoreFixture(files: files, term: 2)
    let again = try fixture.commit(create("a"), id)
    #expect(again.isRepeat)
    #expect(again.offsets == first.offsets)
    #expect(again.records == first.records)
    #expect(fixture.recorder.batches.isEmpty)
    #expect(try fixture.log().count == 1)
  }

  @Test func `a resend in the same group is applied once`() throws {
    let fixture = try StoreFixture()
    let request = WriteRequest(create("a"), writeNumber: WriteNumber(client: "c", number: 1))
    let results = try fixture.commit([request, request])
    #expect(try results.map { try $0.get().isRepeat } == [false, true])
    #expect(fixture.recorder.changes.count == 1)
  }

  @Test func `a refusal is the write's fate for ever`() throws {
    let fixture = try StoreFixture()
    let update = WriteOperation.update(RecordUpdate(model: Models.flight, key: Models.key("a"), values: [(2, 1)]))
    let id = WriteNumber(client: "c", number: 1)
    #expect(try fixture.commit([WriteRequest(update, writeNumber: id)]).first?.errorCode == .notFound)
    try fixture.commit(create("a"))
    let again = try fixture.commit([WriteRequest(update, writeNumber: id)])
    #expect(again.first?.errorCode == .notFound)
    #expect(try fixture.get(Models.flight, "a")?.version == 1)
  }

  @Test func `offsets stay dense over restarts and every opening is a term`() throws {
    let files = MemoryFiles()
    for term in 1...3 {
      let fixture = try StoreFixture(files: files, term: UInt64(term))
      try fixture.commit(create("\(term)a"))
      try fixture.commit([WriteRequest(create("\(term)a")), WriteRequest(create("\(term)b"))])
      #expect(fixture.recorder.batches.allSatisfy { $0.term == UInt64(term) })
    }
    let fixture = try StoreFixture(files: files, term: 4)
    #expect(try fixture.log().map(\.offset) == [3, 4, 6, 7, 9, 10])
    #expect(fixture.store.lineage.entries.map(\.firstOffset) == [1, 5, 8, 11])
    #expect(fixture.store.position.cursor == Cursor(term: 4, offset: 11))
  }

  @Test func `a cursor of a group that is durable and is not handed out yet makes no gap`() throws {
    let moments = Lock<[(head: Int64, reached: Int64)]>([])
    let observed = Lock<Store?>(nil)
    let fixture = try StoreFixture { options in
      let clock = options.clock
      // The writer looks at the clock before and after a group.
      options.clock = StoreClock(
        now: {
          if let store = observed.withLock({ $0 }) {
            moments.withLock { $0.append((store.position.head, store.reachedOffset)) }
          }
          return clock.now()
        }, milliseconds: clock.milliseconds)
    }
    #expect(fixture.store.reachedOffset == StoreFixture.opening)
    observed.withLock { $0 = fixture.store }
    try fixture.commit(create("a"))
    observed.withLock { $0 = nil }
    let opening = StoreFixture.opening
    let between = try #require(moments.withLock { $0 }.last { $0.head == opening && $0.reached > opening })
    #expect(
      fixture.store.lineage.judge(Cursor(term: 1, offset: opening + 1), firstKept: 1, head: between.reached) == .valid)
    #expect(fixture.store.reachedOffset == fixture.store.position.head)
  }

  @Test func `a restored older copy makes a gap of what it has not seen and of nothing else`() throws {
    let files = MemoryFiles()
    let copy = MemoryFiles()
    do {
      let fixture = try StoreFixture(files: files, term: 1)
      for id in ["a", "b"] { try fixture.commit(create(id)) }
      try fixture.backup(to: copy)
      for id in ["c", "d"] { try fixture.commit(create(id)) }
    }
    let restored = try StoreFixture(files: copy, term: 2)
    for id in ["e", "f", "g"] { try restored.commit(create(id)) }
    let lineage = restored.store.lineage
    let head = restored.store.position.head
    #expect(head == 8)
    #expect(lineage.judge(Cursor(term: 1, offset: 4), firstKept: 1, head: head) == .valid)
    #expect(lineage.judge(Cursor(term: 1, offset: 5), firstKept: 1, head: head) == .gap(.beyondTerm))
    #expect(lineage.judge(Cursor(term: 9, offset: 1), firstKept: 1, head: head) == .gap(.unknownTerm))
    #expect(lineage.judge(Cursor(term: 2, offset: 6), firstKept: 1, head: head) == .valid)
  }

  @Test func `a backup is not written over a store`() throws {
    let fixture = try StoreFixture()
    let copy = MemoryFiles()
    try fixture.backup(to: copy)
    let error = try #require(throws: StoreError.self) { try fixture.backup(to: copy) }
    #expect(error.code == .alreadyExists)
  }

  // MARK: Retention

  @Test func `the log is bounded by bytes, in whole transactions, and says gap beyond`() throws {
    var limits = StoreLimits()
    limits.logBytes = 2_000
    let fixture = try StoreFixture(limits: limits)
    for number in 0..<100 {
      try fixture.commit(.batch([create("\(number)a"), create("\(number)b"), create("\(number)c")]))
    }
    let position = fixture.store.position
    #expect(position.bytes <= 2_000)
    #expect(position.bytes > 1_500)
    let kept = try fixture.log(after: position.firstRetained - 1)
    #expect(kept.count % 3 == 0 && kept.last?.record?.key == Models.key("99c"))
    #expect(kept.map(\.offset) == fixture.recorder.changes.suffix(kept.count).map(\.offset))
    let first = position.firstRetained
    let range = try fixture.read { snapshot throws(StoreError) in try snapshot.log(after: first - 2) }
    guard case .gap(.retention) = range else {
      Issue.record("a forgotten offset was served")
      return
    }
  }

  @Test func `the log is bounded by age, and what is left is the entry that says so`() throws {
    let fixture = try StoreFixture()
    for number in 0..<10 { try fixture.commit(create("\(number)")) }
    let head = fixture.store.position.head
    fixture.clock.advance(30 * 86_400_000)
    fixture.store.maintain()
    fixture.writer.run()
    #expect(fixture.store.position.firstRetained == head + 1)
    #expect(fixture.store.position.head == head + 1)
    #expect(try fixture.log(after: head).isEmpty)
    // Nothing more expires while nothing is written.
    fixture.clock.advance(30 * 86_400_000)
    fixture.store.maintain()
    fixture.writer.run()
    #expect(fixture.store.position.head == head + 1)
    let reopened = try StoreFixture(files: fixture.files, clock: fixture.clock, term: 2)
    #expect(reopened.store.position.firstRetained == head + 1)
    #expect(reopened.store.position.head == head + 2)
  }

  @Test func `a log range ends with a transaction even when that is over its size`() throws {
    let fixture = try StoreFixture()
    try fixture.commit(.batch((0..<5).map { create("a\($0)") }))
    try fixture.commit(create("b"))
    let range = try fixture.read { snapshot throws(StoreError) in try snapshot.log(after: 0, changes: 2) }
    guard case .changes(let changes, let last, let head, _) = range else {
      Issue.record("the log has a gap")
      return
    }
    #expect(changes.map(\.offset) == [3, 4, 5, 6, 7])
    #expect(last == 7)
    #expect(head == 8)
  }

  // MARK: Recent batches

  @Test func `recent batches reach back to their limit and say so`() throws {
    func write(keeping bytes: Int) throws -> StoreFixture {
      var limits = StoreLimits()
      limits.ringBytes = bytes
      let fixture = try StoreFixture(limits: limits)
      #expect(fixture.store.recent.batches(after: 0) == nil)
      for number in 0..<3 { try fixture.commit(.batch([create("\(number)a"), create("\(number)b")])) }
      return fixture
    }
    let all = try #require(try write(keeping: 1 << 20).store.recent.batches(after: 6))
    #expect(all.map(\.firstOffset) == [7])
    let fixture = try write(keeping: all[0].byteCount)
    #expect(fixture.store.recent.batches(after: 0) == nil)
    #expect(fixture.store.recent.batches(after: 4) == nil)
    #expect(fixture.store.recent.firstOffset == 7)
    #expect(fixture.store.recent.batches(after: 6)?.map(\.firstOffset) == [7])
    #expect(fixture.store.recent.batches(after: 8)?.isEmpty == true)
    // A batch that is larger than the limit is read from the log.
    let small = try write(keeping: all[0].byteCount - 1)
    #expect(small.store.recent.firstOffset == nil && small.store.recent.batches(after: 6) == nil)
  }
}
