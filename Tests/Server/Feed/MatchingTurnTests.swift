import MartletChangeFeed
import MartletRuntime
import MartletServer
import MartletStore
import MartletVocabulary
import Testing

/// Large transactions are matched and encoded over several turns of the loop.
@Suite struct MatchingTurnTests {
  private static let turns: FeedLimits = {
    var limits = FeedLimits()
    limits.matchingWorkPerTurn = 90
    return limits
  }()

  @Test func `a transaction of many changes is encoded over several turns, and other work runs in between`() throws {
    let loop = StepLoop()
    let harness = try FeedHarness(on: loop, limits: Self.turns)
    let subscriber = KeepingSubscriber()
    try subscriber.follow("t", of: harness.feed)
    harness.publish(transactions: [(1...200).map { ("t", $0) }, [("t", 201)]])
    var turns = 0
    let others = Lock(0)
    while subscriber.events.count < 201, turns < 1_000 {
      loop.execute { others.withLock { $0 += 1 } }
      loop.turn()
      turns += 1
    }
    #expect(subscriber.events == (1...201).map { "\($0)" })
    #expect(subscriber.marks == (1...201).map { $0 >= 200 })
    // 201 look-ups and as many events of 8: at least 1,809 units.
    #expect(turns >= 18 && others.withLock { $0 } == turns)
    #expect(harness.feed.matcher.largest < 90 + 9)
    loop.run()
    #expect(harness.feed.settled == harness.store.position.head)
  }

  @Test func `a subscription that begins within a transaction gets nothing of it, and all that follows`() throws {
    let loop = StepLoop()
    let harness = try FeedHarness(on: loop, limits: Self.turns)
    let first = KeepingSubscriber()
    try first.follow("t", of: harness.feed)
    harness.publish(transactions: [(1...200).map { ("t", $0) }])
    // While it is matched, and while it is encoded.
    for _ in 0..<2 { loop.turn() }
    let early = KeepingSubscriber()
    try early.follow("t", of: harness.feed)
    for _ in 0..<10 { loop.turn() }
    #expect((1..<200).contains(first.events.count))
    let late = KeepingSubscriber()
    try late.follow("t", of: harness.feed)
    let resumed = KeepingSubscriber()
    try resumed.follow("t", of: harness.feed, after: 1)
    harness.publish([201])
    harness.settle()
    #expect(first.events == (1...201).map { "\($0)" })
    #expect(early.events == ["201"] && late.events == ["201"])
    #expect(resumed.events == first.events)
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `lagging, leaving and returning subscribers get each event of large transactions once`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
    let loop = StepLoop()
    let harness = try FeedHarness(on: loop, limits: Self.turns)
    struct Follower {
      let subscriber: KeepingSubscriber
      /// The last value that was committed before it began.
      let since: Int64
    }
    var followers: [Follower] = []
    var last: Int64 = 0
    for _ in 0..<60 {
      switch pick(4) {
      case 0:
        let count = Int64(1 + pick(60))
        harness.publish(transactions: [(last + 1...last + count).map { ("t", $0) }])
        last += count
        // The batch is received, and matched in part.
        loop.turn()
      case 1:
        let subscriber = KeepingSubscriber()
        try subscriber.follow("t", of: harness.feed)
        followers.append(Follower(subscriber: subscriber, since: last))
      case 2 where !followers.isEmpty:
        let subscriber = followers[pick(followers.count)].subscriber
        subscriber.isLagging = true
        subscriber.hasRoom = false
      default:
        for follower in followers where pick(2) == 0 {
          follower.subscriber.isLagging = false
          follower.subscriber.hasRoom = true
          harness.feed.resume(follower.subscriber)
        }
        for _ in 0..<pick(4) {
          loop.turn()
          harness.executor.run()
        }
      }
    }
    for follower in followers {
      follower.subscriber.isLagging = false
      follower.subscriber.hasRoom = true
      harness.feed.resume(follower.subscriber)
    }
    harness.settle()
    for follower in followers {
      let wanted = follower.since < last ? (follower.since + 1...last).map { "\($0)" } : []
      #expect(follower.subscriber.events == wanted)
      #expect(follower.subscriber.gaps.isEmpty)
    }
  }
}
