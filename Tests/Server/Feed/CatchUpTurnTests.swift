import MartletChangeFeed
import MartletRuntime
import MartletServer
import MartletStore
import Testing

/// Many clients that come back at once share a part of each turn.
@Suite struct CatchUpTurnTests {
  @Test func `clients that come back share the work of a turn, and other work of the loop runs in between`() throws {
    let loop = StepLoop()
    var limits = FeedLimits()
    limits.catchUpWorkPerTurn = 100
    let harness = try FeedHarness(on: loop, limits: limits)
    harness.publish(Array(1...20))
    harness.settle()
    // Ten clients with five subscriptions each: a thousand events.
    let subscribers = try (0..<10).map { _ in
      let subscriber = KeepingSubscriber()
      for _ in 0..<5 { try subscriber.follow("t", of: harness.feed, after: 0) }
      return subscriber
    }
    var largest = 0
    let others = Lock(0)
    var turns = 0
    while subscribers.contains(where: { $0.ready.count < 5 }), turns < 1_000 {
      let before = subscribers.reduce(0) { $0 + $1.events.count }
      loop.execute { others.withLock { $0 += 1 } }
      harness.executor.run()
      loop.turn()
      turns += 1
      largest = max(largest, subscribers.reduce(0) { $0 + $1.events.count } - before)
    }
    #expect(others.withLock { $0 } == turns && turns > 100)
    // A turn ends with the event that spends it.
    #expect(harness.feed.largestCatchUpTurn < 100 + 17)
    #expect(largest <= 6)
    let each = (1...20).flatMap { value in [String](repeating: "\(value)", count: 5) }
    #expect(subscribers.allSatisfy { $0.events == each })
  }

  @Test func `a live event reaches its subscribers while others catch up, and those get it in its place`() throws {
    let loop = StepLoop()
    var limits = FeedLimits()
    limits.catchUpWorkPerTurn = 50
    let harness = try FeedHarness(on: loop, limits: limits)
    let live = KeepingSubscriber()
    try live.follow("t", of: harness.feed)
    harness.publish(Array(1...20))
    harness.settle()
    let late = KeepingSubscriber()
    for _ in 0..<5 { try late.follow("t", of: harness.feed, after: 0) }
    harness.executor.run()
    loop.turn()
    #expect(late.ready.isEmpty)
    harness.publish([21])
    loop.turn()
    #expect(live.events.last == "21")
    #expect(late.ready.isEmpty)
    harness.settle()
    #expect(late.ready.count == 5)
    #expect(late.events == (1...21).flatMap { value in [String](repeating: "\(value)", count: 5) })
  }

  @Test func `a client that leaves while it waits for its turn gets nothing more`() throws {
    let loop = StepLoop()
    var limits = FeedLimits()
    limits.catchUpWorkPerTurn = 20
    let harness = try FeedHarness(on: loop, limits: limits)
    harness.publish(Array(1...20))
    harness.settle()
    let first = KeepingSubscriber()
    let second = KeepingSubscriber()
    try first.follow("t", of: harness.feed, after: 0)
    try second.follow("t", of: harness.feed, after: 0)
    harness.executor.run()
    loop.turn()
    let written = first.events.count
    #expect(written < 20)
    for member in first.members { harness.feed.remove(member) }
    harness.feed.end(first)
    harness.settle()
    #expect(first.events.count == written)
    #expect(second.events == (1...20).map { "\($0)" } && second.ready.count == 1)
  }
}
