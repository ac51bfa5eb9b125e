import MartletChangeFeed
import MartletVocabulary
import Testing

@testable import MartletServer

/// What members of one group catch up with is encoded once for all of them.
@Suite struct CatchUpEventTests {
  private static let missed = 20

  /// Followers of topics, each of which has had as many events as `missed`.
  private static func resumed(
    _ topics: [String], keeping bytes: Int? = nil
  ) throws -> (encodings: Int, kept: Int, events: [[String]]) {
    let loop = StepLoop()
    var limits = FeedLimits()
    if let bytes { limits.catchUpEventBytes = bytes }
    let harness = try FeedHarness(on: loop, limits: limits)
    for topic in Set(topics).sorted() { harness.publish(Array(0..<Int64(missed)), topic: topic) }
    harness.settle()
    let subscribers = topics.map { _ in KeepingSubscriber() }
    // The log is read with a later turn, when all of them are there.
    for (topic, subscriber) in zip(topics, subscribers) { try subscriber.follow(topic, of: harness.feed, after: 0) }
    harness.settle()
    #expect(subscribers.allSatisfy { $0.ready.count == 1 && $0.gaps.isEmpty })
    let (counts, kept) = (harness.counters.counts, harness.feed.caughtUpEvents.count)
    #expect(counts[.deliveries] == topics.count * missed)
    return (counts[.payloadEncodings], kept, subscribers.map(\.events))
  }

  private static let values = (0..<missed).map { "\($0)" }

  @Test func `each event that fifty members of a group have missed is encoded once`() throws {
    let (encodings, kept, events) = try Self.resumed(Array(repeating: "t", count: 50))
    #expect(events == Array(repeating: Self.values, count: 50))
    #expect(encodings == Self.missed)
    #expect(kept == Self.missed)
  }

  @Test func `members of a group get all events where none or few of them may be kept`() throws {
    let few = 3 * 2 * (256 + 2)
    for (bytes, most) in [(0, 0), (few, 6)] {
      let (encodings, kept, events) = try Self.resumed(Array(repeating: "t", count: 5), keeping: bytes)
      #expect(events == Array(repeating: Self.values, count: 5))
      #expect(encodings > Self.missed && encodings <= 5 * Self.missed)
      #expect(kept <= most)
    }
  }

  @Test func `nothing is kept for a group of one member, nor of events that user code has made`() throws {
    let (encodings, kept, events) = try Self.resumed(["a", "b", "code", "code"])
    #expect(events == Array(repeating: Self.values, count: 4))
    // Evaluations are shared as they are for live events, by what is under way.
    #expect(encodings == 3 * Self.missed)
    #expect(kept == 0)
  }

  @Test func `an event is not taken for that of another group, offset or mark`() {
    var events = CatchUpEvents(bytes: 100_000)
    let (group, other) = (TopicGroup("t"), TopicGroup("t"))
    func change(_ offset: Int64, ends: Bool = true) -> Change {
      Change(offset: offset, endsTransaction: ends, body: .event(TopicEvent(topic: "t", payload: .int(offset))))
    }
    let event = FeedEvent([1, 2], at: Cursor(term: 1, offset: 7), endsTransaction: true)
    events.add(event, of: change(7), for: group)
    #expect(events.event(change(7), for: group) === event)
    #expect(events.event(change(7), for: other) == nil)
    #expect(events.event(change(8), for: group) == nil)
    #expect(events.event(change(7, ends: false), for: group) == nil)
    let large = FeedEvent(Array(repeating: 0, count: 60_000), at: Cursor(term: 1, offset: 9), endsTransaction: true)
    events.add(large, of: change(9), for: group)
    #expect(events.event(change(9), for: group) == nil)
  }
}
