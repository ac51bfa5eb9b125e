import MartletChangeFeed
import MartletModels
import MartletSQLite
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
    let small = StoreFixture.opening + 2_001
    // The group after the small one holds the horizon.
    #expect(fixture.store.position.firstRetained == small)
    #expect(try fixture.log(after: small - 1).map(\.offset) == [small])
  }

  @Test func `a transaction of more changes than one look forgets does not stop trimming by bytes`() throws {
    let fixture = try StoreFixture(limits: limits(bytes: 20_000))
    try fixture.commit(transaction("large", 2_000))
    for number in 0..<300 { try fixture.commit(create("small-\(number)")) }
    #expect(fixture.store.position.bytes <= 20_000)
    #expect(fixture.store.position.firstRetained > StoreFixture.opening + 2_000)
  }

  @Test func `an import's entries are gone after one look when nothing more is written`() throws {
    let fixture = try StoreFixture(limits: limits())
    for batch in 0..<40 { try fixture.commit(transaction("import-\(batch)", 500)) }
    fixture.clock.advance(3_001)
    try fixture.commit(create("last"))
    fixture.store.maintain()
    fixture.writer.run()
    #expect(fixture.store.position.firstRetained > StoreFixture.opening + 20_000)
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

  @Test(arguments: ["offset < 30", "offset BETWEEN 10 AND 190"])
  func `missing rows do not stop trimming, by age or by bytes`(rows: String) throws {
    for limits in [limits(), limits(bytes: 2_000, age: .seconds(1_000))] {
      let fixture = try StoreFixture(limits: limits)
      for number in 0..<200 { try fixture.commit(create("\(number)")) }
      let database = try Database(path: StoreFormat.databaseName, on: fixture.files, options: Database.Options())
      try database.execute("DELETE FROM martlet_log WHERE \(rows)")
      fixture.clock.advance(10_000)
      for number in 0..<200 { try fixture.commit(create("later-\(number)")) }
      fixture.store.maintain()
      fixture.writer.run()
      #expect(fixture.store.position.firstRetained > 200)
    }
  }

  @Test func `expired entries are gaps at once, and their rows go a bounded number at a time`() throws {
    let fixture = try StoreFixture(limits: limits(atOnce: 100))
    for batch in 0..<4 { try fixture.commit(transaction("old-\(batch)", 500)) }
    let old = fixture.store.position.head
    fixture.clock.advance(10_000)
    try fixture.commit(transaction("many", 400))
    #expect(fixture.store.position.firstRetained == old + 1)
    // Twice the 401 entries that the group wrote.
    #expect(try fixture.rows("martlet_log") == old - 802 + 401)
    try fixture.commit(create("one"))
    #expect(try fixture.rows("martlet_log") == old - 902 + 402)
    let before = try fixture.read { snapshot throws(StoreError) in try snapshot.log(after: old - 10) }
    guard case .gap(.retention) = before else {
      Issue.record("an expired entry was served from its row")
      return
    }
    fixture.store.maintain()
    fixture.writer.run()
    // The last one that has expired stays, for its checksum.
    #expect(try fixture.rows("martlet_log") == 403)
  }

  @Test func `a restart continues deleting what has expired`() throws {
    let fixture = try StoreFixture(limits: limits(atOnce: 100))
    try fixture.commit(transaction("old", 500))
    fixture.clock.advance(10_000)
    fixture.store.maintain()
    // One part, as after a start that interrupted the rest.
    fixture.writer.runOnce()
    let head = fixture.store.position.head
    #expect(fixture.store.position.firstRetained == head)
    #expect(try fixture.rows("martlet_log") > 400)
    let reopened = try StoreFixture(files: fixture.files, clock: fixture.clock, term: 2, limits: limits(atOnce: 100))
    #expect(reopened.store.position.firstRetained == head)
    reopened.store.maintain()
    reopened.writer.run()
    #expect(try reopened.rows("martlet_log") == 3)
  }

  @Test func `no group expires with its own horizon, however large it is`() throws {
    let fixture = try StoreFixture(limits: limits(bytes: 1_000))
    try fixture.commit(create("first"))
    let head = fixture.store.position.head
    try fixture.commit(transaction("newest", 1_500))
    #expect(try fixture.log(after: head).count == 1_500)
    try fixture.commit(create("last"))
    #expect(try fixture.log(after: head + 1_500).count == 1)
    #expect(fixture.store.position.firstRetained == head + 1_501)
  }
}
