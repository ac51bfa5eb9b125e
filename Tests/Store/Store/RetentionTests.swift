import MartletChangeFeed
import MartletModelSchema
import MartletStore
import Testing

/// Trimming keeps up with what is written, whatever the size of a transaction.
struct RetentionTests {
  private func create(_ id: String) -> WriteOperation { .create(model: Models.flight, record: Models.flight(id)) }

  private func transaction(_ name: String, _ count: Int) -> WriteOperation {
    .batch((0..<count).map { create("\(name)-\($0)") })
  }

  private func limits(bytes: Int64 = 1 << 30, age: Duration = .seconds(3), atOnce: Int = 512) -> StoreLimits {
    var limits = StoreLimits()
    limits.logBytes = bytes
    limits.logAge = age
    limits.forgottenAtOnce = atOnce
    return limits
  }

  @Test func `a transaction of more changes than one look forgets does not stop trimming by age`() throws {
    let fixture = try StoreFixture(limits: limits())
    try fixture.commit(transaction("large", 2_000))
    fixture.clock.advance(10_000)
    try fixture.commit(create("small"))
    fixture.store.maintain()
    fixture.writer.run()
    #expect(fixture.store.position.firstRetained == 2_001)
    #expect(try fixture.log(after: 2_000).map(\.offset) == [2_001])
  }

  @Test func `a transaction of more changes than one look forgets does not stop trimming by bytes`() throws {
    let fixture = try StoreFixture(limits: limits(bytes: 20_000))
    try fixture.commit(transaction("large", 2_000))
    for number in 0..<300 { try fixture.commit(create("small-\(number)")) }
    #expect(fixture.store.position.bytes <= 20_000)
    #expect(fixture.store.position.firstRetained > 2_000)
  }

  @Test func `an import's entries are gone after one look when nothing is written any more`() throws {
    let fixture = try StoreFixture(limits: limits())
    for batch in 0..<40 { try fixture.commit(transaction("import-\(batch)", 500)) }
    fixture.clock.advance(3_001)
    try fixture.commit(create("last"))
    fixture.store.maintain()
    fixture.writer.run()
    #expect(fixture.store.position.firstRetained == 20_001)
  }

  @Test func `trimming keeps up with writes of any rate without help from the clock's timer`() throws {
    let fixture = try StoreFixture(limits: limits(age: .milliseconds(100), atOnce: 8))
    for group in 0..<200 {
      try fixture.commit((0..<50).map { WriteRequest(create("\(group)-\($0)")) })
      fixture.clock.advance(20)
      // Five groups are younger than the retention; a look every eight entries leaves at most as many again.
      let position = fixture.store.position
      #expect(position.head - position.firstRetained < 50 * 12)
    }
  }

  @Test func `one group deletes a bounded number of entries, or twice what it wrote`() throws {
    let fixture = try StoreFixture(limits: limits(atOnce: 100))
    for batch in 0..<4 { try fixture.commit(transaction("old-\(batch)", 500)) }
    fixture.clock.advance(10_000)
    try fixture.commit(transaction("many", 400))
    #expect(fixture.store.position.firstRetained == 801)
    try fixture.commit(create("one"))
    #expect(fixture.store.position.firstRetained == 901)
  }

  @Test func `a log that begins inside a transaction is a gap for cursors before it and serves those after it`() throws
  {
    let fixture = try StoreFixture(limits: limits(atOnce: 100))
    try fixture.commit(create("first"))
    try fixture.commit(transaction("old", 500))
    fixture.clock.advance(2_000)
    try fixture.commit(create("young"))
    fixture.clock.advance(2_000)
    fixture.store.maintain()
    // One part, as after a start that interrupted the rest.
    fixture.writer.runOnce()
    #expect(fixture.store.position.firstRetained == 101)
    let before = try fixture.read { snapshot throws(StoreError) in try snapshot.log(after: 1) }
    guard case .gap(.retention) = before else {
      Issue.record("a transaction was served in part")
      return
    }
    #expect(try fixture.log(after: 501).map(\.offset) == [502])
    let reopened = try StoreFixture(files: fixture.files, clock: fixture.clock, term: 2, limits: limits(atOnce: 100))
    reopened.store.maintain()
    reopened.writer.run()
    #expect(reopened.store.position.firstRetained == 502)
  }

  @Test func `the newest transaction stays whole, however large and old it is`() throws {
    let fixture = try StoreFixture(limits: limits(bytes: 1_000))
    try fixture.commit(create("first"))
    try fixture.commit(transaction("newest", 1_500))
    fixture.clock.advance(100_000)
    fixture.store.maintain()
    fixture.writer.run()
    #expect(fixture.store.position.firstRetained == 2)
    #expect(try fixture.log(after: 1).count == 1_500)
  }

  @Test func `outcomes of numbered writes are forgotten as fast as they come`() throws {
    var limits = limits(atOnce: 10)
    limits.writeNumbers = 20
    let fixture = try StoreFixture(limits: limits)
    for group in 0..<30 {
      let requests = (0..<100).map { number in
        WriteRequest(create("\(group)-\(number)"), writeID: WriteID(client: "c", number: Int64(group * 100 + number)))
      }
      try fixture.commit(requests)
    }
    fixture.store.maintain()
    fixture.writer.run()
    // A resend of a forgotten write is applied again and refused by its key; a remembered one is a repeat.
    let old = try fixture.commit([WriteRequest(create("0-0"), writeID: WriteID(client: "c", number: 0))])
    #expect(old.first?.errorCode == .alreadyExists)
    let last = try fixture.commit([WriteRequest(create("29-99"), writeID: WriteID(client: "c", number: 2_999))])
    #expect(try last.first?.get().isRepeat == true)
    let remembered = try fixture.commit([WriteRequest(create("29-70"), writeID: WriteID(client: "c", number: 2_970))])
    #expect(remembered.first?.errorCode == .alreadyExists)
  }
}
