import MartletServer
import MartletVocabulary
import Testing

/// The mark at the end of a transaction stands on the last event that a subscription gets of it.
@Suite struct TransactionMarkTests {
  /// Events, with a plus after those that more of their transaction follows.
  private func events(_ subscriber: KeepingSubscriber) -> [String] {
    zip(subscriber.events, subscriber.marks).map { $0 + ($1 ? "" : "+") }
  }

  @Test(arguments: ["t", "code"])
  func `the mark is on the last event that matches, live and at catch-up`(topic: String) throws {
    let loop = StepLoop()
    let harness = try FeedHarness(on: loop)
    let (live, other) = (KeepingSubscriber(), KeepingSubscriber())
    try live.follow(topic, of: harness.feed)
    try other.follow("u", of: harness.feed)
    harness.publish(transactions: [
      [(topic, 1), ("u", 2), (topic, 3), ("u", 4), ("v", 5)], [(topic, 6), ("v", 7)], [("v", 8)], [("u", 9)],
    ])
    harness.publish(transactions: [[(topic, 10), (topic, 11)]])
    harness.settle()
    #expect(events(live) == ["1+", "3", "6", "10+", "11"])
    #expect(events(other) == ["2+", "4", "9"])
    let late = KeepingSubscriber()
    try late.follow(topic, of: harness.feed, after: harness.feed.beforeOldest)
    harness.settle()
    #expect(events(late) == events(live))
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func `random transactions have the marks of a naive model, from every offset and over every page`(seed: UInt64)
    throws
  {
    var random = SeededRandom(seed: seed)
    let topics = ["t", "u", "code"]
    let loop = StepLoop()
    var limits = FeedLimits()
    limits.catchUpChanges = Int.random(in: 1...6, using: &random)
    let harness = try FeedHarness(on: loop, limits: limits)
    let live = try topics.map { topic in
      let subscriber = KeepingSubscriber()
      try subscriber.follow(topic, of: harness.feed)
      return subscriber
    }
    let before = harness.feed.applied
    var log: [(offset: Int64, topic: String, value: Int64, transaction: Int)] = []
    var number = 0
    for _ in 0..<12 {
      var group: [[(topic: String, value: Int64)]] = []
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        number += 1
        let count = Int.random(in: 1...7, using: &random)
        group.append(
          (0..<count).map { _ in
            let offset = before + Int64(log.count) + 1
            let topic = topics.randomElement(using: &random) ?? "t"
            log.append((offset, topic, offset, number))
            return (topic, offset)
          })
      }
      harness.publish(transactions: group)
      harness.settle()
    }
    func expected(_ topic: String, after offset: Int64) -> [String] {
      let mine = log.filter { $0.topic == topic && $0.offset > offset }
      return mine.indices.map { index in
        let isLast = index + 1 == mine.count || mine[index + 1].transaction != mine[index].transaction
        return "\(mine[index].value)" + (isLast ? "" : "+")
      }
    }
    for (topic, subscriber) in zip(topics, live) { #expect(events(subscriber) == expected(topic, after: before)) }
    for offset in before...before + Int64(log.count) {
      let late = KeepingSubscriber()
      let topic = topics[Int(offset) % topics.count]
      try late.follow(topic, of: harness.feed, after: offset)
      harness.settle()
      #expect(events(late) == expected(topic, after: offset), "after \(offset)")
    }
  }
}
