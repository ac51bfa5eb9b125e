import MartletChangeFeed
import MartletRuntime
import MartletServer
import MartletStore
import Testing

@Suite struct FanOutTests {
  @Test func `a turn writes to as many connections as its limit, and other work of the loop runs in between`() throws {
    let loop = StepLoop()
    var limits = FeedLimits()
    limits.sendsPerTurn = 10
    let harness = try FeedHarness(on: loop, limits: limits)
    let subscribers = try (0..<95).map { _ in
      let subscriber = KeepingSubscriber()
      try subscriber.follow("t", of: harness.feed)
      return subscriber
    }
    harness.publish([1])
    var written: [Int] = []
    let others = Lock(0)
    repeat {
      loop.execute { others.withLock { $0 += 1 } }
      loop.turn()
      written.append(subscribers.reduce(0) { $0 + $1.events.count })
    } while written.count < 20 && written.last != 95
    #expect(written == [10, 20, 30, 40, 50, 60, 70, 80, 90, 95])
    #expect(others.withLock { $0 } == 10)
    #expect(harness.feed.largestTurn == 10)
    #expect(subscribers.allSatisfy { $0.events == ["1"] })
  }

  @Test func `batches that arrive during a fan-out cost one visit each for members that have not been served`() throws {
    let loop = StepLoop()
    var limits = FeedLimits()
    limits.sendsPerTurn = 10
    let harness = try FeedHarness(on: loop, limits: limits)
    var turn = 0
    var visitedIn: [Int: Set<Int>] = [:]
    let subscribers = try (0..<100).map { number in
      let subscriber = KeepingSubscriber()
      try subscriber.follow("t", of: harness.feed)
      subscriber.onWrite = { visitedIn[turn, default: []].insert(number) }
      return subscriber
    }
    // A batch arrives with each of five turns of the first one's fan-out.
    for value in Int64(1)...5 {
      harness.publish([value])
      turn += 1
      loop.turn()
    }
    while loop.turn() { turn += 1 }
    turn += 1
    loop.run()
    #expect(subscribers.allSatisfy { $0.events == ["1", "2", "3", "4", "5"] })
    // Fifty members were visited before the last batch came: a second visit brings them the rest.
    let sends = visitedIn.values.reduce(0) { $0 + $1.count }
    #expect(sends <= 150, "\(sends) sends")
    #expect(harness.feed.largestTurn == 10)
    #expect(harness.feed.settled == harness.store.position.head)
  }

  @Test func `members that come and go during a fan-out get each event once, and those that stay miss none`() throws {
    let loop = StepLoop()
    var limits = FeedLimits()
    limits.sendsPerTurn = 3
    let harness = try FeedHarness(on: loop, limits: limits)
    var stayers: [KeepingSubscriber] = []
    var leavers: [KeepingSubscriber] = []
    for number in 0..<40 {
      let subscriber = KeepingSubscriber()
      try subscriber.follow("t", of: harness.feed)
      if number % 4 == 0 { leavers.append(subscriber) } else { stayers.append(subscriber) }
    }
    for value in Int64(1)...6 {
      harness.publish([value])
      loop.turn()
      if let leaver = leavers.popLast() { for member in leaver.members { harness.feed.remove(member) } }
      let late = KeepingSubscriber()
      try late.follow("t", of: harness.feed)
      let first = value + 1
      late.onWrite = { [unowned late] in #expect(late.events.first == "\(first)") }
      leavers.insert(late, at: 0)
    }
    loop.run()
    #expect(stayers.allSatisfy { $0.events == ["1", "2", "3", "4", "5", "6"] })
  }

  @Test func `two logs have each a feed on one loop, with cursors and retention of their own`() throws {
    let loop = StepLoop()
    let first = try FeedHarness(on: loop, term: 0xA)
    let second = try FeedHarness(on: loop, term: 0xB)
    let one = KeepingSubscriber()
    let other = KeepingSubscriber()
    try one.follow("t", of: first.feed)
    try other.follow("t", of: second.feed)
    first.publish([1, 2])
    second.publish([7])
    first.publish([3])
    loop.run()
    #expect(one.events == ["1", "2", "3"] && other.events == ["7"])
    #expect(first.feed.applied == first.store.position.head && second.feed.applied == second.store.position.head)
    #expect(first.feed.applied == second.feed.applied + 2)
    #expect(first.feed.cursor.term == 0xA && second.feed.cursor.term == 0xB)
    #expect(first.counters.counts[.batches] == 2 && second.counters.counts[.batches] == 1)
    // A cursor of one log is not valid in the other.
    #expect(second.feed.judge(first.feed.cursor) == .gap(.unknownTerm))
  }

  @Test func `the writes of one turn become one group`() throws {
    let loop = StepLoop()
    let harness = try FeedHarness(on: loop)
    let subscriber = KeepingSubscriber()
    try subscriber.follow("t", of: harness.feed)
    let head = harness.store.position.head
    for value in Int64(1)...4 {
      harness.feed.destination.commit(
        StoreSubmission(WriteRequest(.event(topic: "t", payload: .int(value)))) { _ in })
      // Nothing reaches the writer before the turn ends.
      harness.executor.run()
    }
    #expect(harness.store.position.head == head)
    harness.settle()
    #expect(harness.counters.counts[.batches] == 1)
    #expect(subscriber.events == ["1", "2", "3", "4"])
  }
}
