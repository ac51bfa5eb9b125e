import MartletChangeFeed
import MartletJSON
import MartletModelSDL
import MartletModels
import MartletRuntime
import MartletSQLite
import MartletServer
import MartletStore
import MartletVocabulary
import Testing

/// A log with a feed on a loop that the test turns; subscribers that keep what they are written. No protocol.
final class FeedHarness {
  let executor = StepExecutor()
  let store: Store
  let feed: Feed
  let counters = LoopTally()
  let files: MemoryFiles
  private let loop: StepLoop

  init(
    on loop: StepLoop, term: UInt64 = 1, files: MemoryFiles = MemoryFiles(), limits: FeedLimits = FeedLimits()
  ) throws {
    self.loop = loop
    self.files = files
    let schema = try ModelSchema("type Flight @model { id: ID! gate: String }", name: "test")
    let clock = StoreClock(now: { Instant(nanoseconds: 0) }, milliseconds: { 1_700_000_000_000 })
    var options = StoreOptions(term: term, clock: clock, writer: executor, readers: [executor])
    // The transactions of a test are groups in its order.
    options.limits.smallWrite = 1_000
    // The newest batch stays.
    options.limits.ringBytes = 1
    store = try Store(.memory(files), schema: schema, options: options)
    feed = Feed(store, on: loop, counters, limits: limits)
    feed.start()
  }

  /// Publishes events as one group, and delivers the batch with the next turns.
  func publish(_ values: [Int64], topic: String = "t") {
    store.commit(
      values.map { StoreSubmission(WriteRequest(.event(topic: topic, payload: .int($0)))) { _ in } },
      to: DirectDestination())
    executor.run()
  }

  /// Publishes transactions of events as one group, each event a topic and a value.
  func publish(transactions: [[(topic: String, value: Int64)]]) {
    let writes = transactions.map { events in
      WriteOperation.batch(events.map { .event(topic: $0.topic, payload: .int($0.value)) })
    }
    store.commit(writes.map { StoreSubmission(WriteRequest($0)) { _ in } }, to: DirectDestination())
    executor.run()
  }

  /// Turns the loop and runs the store's reads until both are idle.
  func settle() {
    for _ in 0..<10_000 {
      executor.run()
      if !loop.turn() { return }
    }
  }

  deinit { store.close() }
}

/// All events of one topic, whose payload is the topic's payload. Those of topics that begin with `code` are made by
/// `evaluate`, as if user code were needed.
final class TopicGroup: FeedGroup {
  let interests: [Interest]
  private let needsCode: Bool

  init(_ topic: String) {
    interests = [Interest(.topic(named: topic))]
    needsCode = topic.hasPrefix("code")
  }

  func accepts(_ change: Change, _ effect: Effect) -> Bool { true }

  func encode(_ change: Change, into writer: inout JSONWriter) -> Bool {
    guard !needsCode, let event = change.event else { return false }
    writer.value(event.payload)
    return true
  }

  func evaluate(_ change: Change, _ completion: @escaping ([UInt8]) -> Void) {
    completion(change.event?.payload.serialized() ?? [])
  }

  func event(_ payload: [UInt8], at cursor: Cursor, endsTransaction: Bool) -> FeedEvent {
    FeedEvent(payload, at: cursor, endsTransaction: endsTransaction)
  }
}

/// Keeps what its members are written.
final class KeepingSubscriber: Subscriber {
  private(set) var members: [Member] = []
  private(set) var events: [String] = []
  /// Whether each event was marked as the last of its transaction.
  private(set) var marks: [Bool] = []
  private(set) var ready: [Cursor] = []
  private(set) var gaps: [GapReason] = []
  var onWrite: (() -> Void)?
  var hasRoom = true
  var isLagging = false
  let meter = DeliveryMeter()

  /// Follows a topic from now on.
  func follow(_ topic: String, of feed: Feed) throws {
    let member = Member(
      number: members.count, prefix: [], hasCursors: true, subscriber: self, since: feed.applied)
    let key = GroupKey(schemaVersion: 1, document: Array(topic.utf8), operation: "", variables: [])
    try feed.add(member, to: TopicGroup(topic), key: key)
    members.append(member)
    feed.begin(member)
  }

  /// Follows a topic from an offset on.
  func follow(_ topic: String, of feed: Feed, after offset: Int64) throws {
    let member = Member(
      number: members.count, prefix: [], hasCursors: true, subscriber: self, since: feed.applied)
    let key = GroupKey(schemaVersion: 1, document: Array(topic.utf8), operation: "", variables: [])
    try feed.add(member, to: TopicGroup(topic), key: key)
    members.append(member)
    feed.catchUp(member, after: offset)
  }

  func members(of feed: Feed) -> [Member] { members }

  func write(_ event: FeedEvent, to member: Member) {
    events.append(String(decoding: event.payload, as: UTF8.self))
    marks.append(event.endsTransaction)
    onWrite?()
  }

  func caughtUp(_ member: Member, at cursor: Cursor) { ready.append(cursor) }
  func gap(_ member: Member, _ reason: GapReason, from: Cursor?, to: Cursor) { gaps.append(reason) }
  func continueNextTurn() {}
}
