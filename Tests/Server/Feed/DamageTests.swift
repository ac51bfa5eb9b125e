import MartletChangeFeed
import MartletJSON
import MartletRuntime
import MartletSQLite
import MartletServer
import MartletStore
import MartletVocabulary
import Testing

/// Damage in the log ends in one gap for the subscribers it concerns, never in silence.
@Suite struct DamageTests {
  /// Offsets before the first event: the term and the schema of a new store are entries of its log.
  private static let earlier: Int64 = 2

  /// A log of the events 1 to 10, whose ring holds the last one alone; `damage` is done to the table.
  private static func log(_ loop: StepLoop, _ damage: String) throws -> FeedHarness {
    let files = MemoryFiles()
    var limits = FeedLimits()
    // Pages of four, so that a page before the damage, one with it and one after it are read.
    limits.catchUpChanges = 4
    let harness = try FeedHarness(on: loop, files: files, limits: limits)
    for value in Int64(1)...10 { harness.publish([value]) }
    harness.settle()
    let database = try Database(path: StoreFormat.databaseName, on: files, options: Database.Options())
    try database.execute(damage)
    return harness
  }

  @Test(arguments: [
    "UPDATE martlet_log SET entry = x'01' WHERE offset = 8", "DELETE FROM martlet_log WHERE offset = 8",
    // Another event, which can be read: 7 in place of 6.
    "UPDATE martlet_log SET entry = (SELECT entry FROM martlet_log WHERE offset = 9) WHERE offset = 8",
  ])
  func
    `an entry that is unreadable, another one or missing is one gap for members before it, and nothing for those after it`(
      damage: String
    ) throws
  {
    let loop = StepLoop()
    let harness = try Self.log(loop, damage)
    let before = KeepingSubscriber()
    let after = KeepingSubscriber()
    try before.follow("t", of: harness.feed, after: 2 + Self.earlier)
    try after.follow("t", of: harness.feed, after: 6 + Self.earlier)
    harness.settle()
    #expect(before.gaps == [.damage] && before.events == ["3", "4", "5"])
    #expect(after.gaps.isEmpty && after.events == ["7", "8", "9", "10"])
    // Both are live.
    harness.publish([11])
    harness.settle()
    #expect(
      before.events.last == "11" && after.events.last == "11" && before.ready.count == 1 && after.ready.count == 1)
    #expect(harness.store.damagedOffset == 6 + Self.earlier && harness.store.damages.count == 1)
  }

  @Test(arguments: ["offset <= 8", "offset > 0", "offset BETWEEN 6 AND 8"])
  func `entries missing from the beginning of the log are damage, and not retention`(rows: String) throws {
    let loop = StepLoop()
    let harness = try Self.log(loop, "DELETE FROM martlet_log WHERE \(rows)")
    let before = KeepingSubscriber()
    try before.follow("t", of: harness.feed, after: 3 + Self.earlier)
    harness.settle()
    #expect(before.gaps == [.damage] && before.events.isEmpty)
    #expect(harness.store.damagedOffset == 4 + Self.earlier)
  }

  @Test(arguments: [("offset > 6", 5 as Int64), ("offset >= 12", 10), ("offset > 0", 5)])
  func `a log without its end is one gap for members that miss it, while nothing is written`(
    rows: String, first: Int64
  ) throws {
    let loop = StepLoop()
    let harness = try Self.log(loop, "DELETE FROM martlet_log WHERE \(rows)")
    // A batch of another topic is the one in memory; its row is gone too.
    harness.publish([0], topic: "other")
    harness.settle()
    let database = try Database(path: StoreFormat.databaseName, on: harness.files, options: Database.Options())
    try database.execute("DELETE FROM martlet_log WHERE offset = 13")
    let members = (first...11).map { _ in KeepingSubscriber() }
    for (offset, member) in zip(first...11, members) { try member.follow("t", of: harness.feed, after: offset) }
    harness.settle()
    for member in members { #expect(member.gaps == [.damage] && member.ready.count == 1) }
    #expect(harness.store.damages.count > 0)
    harness.publish([11])
    harness.settle()
    for member in members { #expect(member.events.last == "11" && member.gaps == [.damage]) }
  }

  @Test func `a log without damage is read page by page, without a gap`() throws {
    let loop = StepLoop()
    let harness = try Self.log(loop, "SELECT 1")
    let subscribers = try (Int64(0)...9).map { offset in
      let subscriber = KeepingSubscriber()
      try subscriber.follow("t", of: harness.feed, after: offset + Self.earlier)
      return subscriber
    }
    harness.settle()
    for (offset, subscriber) in subscribers.enumerated() {
      #expect(subscriber.events == ((offset + 1)...10).map { "\($0)" } && subscriber.gaps.isEmpty)
    }
    // Three pages, and none twice.
    #expect(harness.counters.counts[.catchUpReads] == 3)
  }

  @Test func `damage is reported once for each offset, and is known until the log no longer reaches back to it`() {
    let reported = Lock<[Int64]>([])
    let damages = LogDamages(reported: 256) { damage in reported.withLock { $0.append(damage.offset) } }
    #expect(damages.newest(since: 1) == nil)
    for offset in [5, 3, 5, 3] as [Int64] { damages.note(LogDamage(offset: offset, reason: "r")) }
    #expect(reported.withLock { $0 } == [5, 3] && damages.count == 2)
    #expect(damages.newest(since: 5) == 5)
    #expect(damages.newest(since: 6) == nil)
  }
}
