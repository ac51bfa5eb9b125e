import MartletRuntime
import MartletVocabulary
import Testing

@testable import MartletServer

@Suite struct LogQueueTests {
  private static func entry(_ message: String, _ metadata: [(key: Log.Key, value: String)] = []) -> Log.Entry {
    Log.Entry(milliseconds: 0, level: .warning, message: message, metadata: metadata)
  }

  /// `message key=value …`, as a transcript has it.
  private static func text(_ entries: [Log.Entry]) -> [String] {
    entries.map { entry in
      ([entry.message] + entry.metadata.map { "\($0.key.rawValue)=\($0.value)" }).joined(separator: " ")
    }
  }

  private static func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

  @Test func `entries come out in their order, once`() {
    var queue = LogQueue(LogLimits())
    for message in ["a", "b", "c"] { queue.add(Self.entry(message), now: .zero) }
    #expect(Self.text(queue.take(now: .zero)) == ["a", "b", "c"])
    #expect(queue.take(now: .zero).isEmpty)
    #expect(queue.nextEnd == nil)
  }

  @Test func `a full queue drops the newest and reports how many`() {
    var limits = LogLimits()
    limits.queuedEntries = 3
    var queue = LogQueue(limits)
    for number in 0..<10 { queue.add(Self.entry("m\(number)"), now: .zero) }
    #expect(Self.text(queue.take(now: .zero)) == ["m0", "m1", "m2"])
    queue.noteLoss()
    let report = queue.takeLossReport(milliseconds: 5)
    #expect(
      report.map { Self.text([$0.entry]) } == ["Entries of the log were lost: they could not be written. count=8"])
    #expect(queue.takeLossReport(milliseconds: 5) == nil)
  }

  @Test func `repeated entries of a kind are counted in one entry at the end of their interval`() {
    var queue = LogQueue(LogLimits())
    for number in 0..<1_000 {
      queue.add(
        Self.entry("broken", [(.connection, "\(number)"), (.status, "400")]), now: Self.at(Int64(number / 100)))
    }
    queue.add(Self.entry("broken", [(.connection, "x"), (.status, "413")]), now: Self.at(20))
    #expect(
      Self.text(queue.take(now: Self.at(20))) == [
        "broken connection=0 status=400", "broken connection=1 status=400", "broken connection=2 status=400",
        "broken connection=3 status=400", "broken connection=4 status=400", "broken connection=x status=413",
      ])
    #expect(queue.nextEnd == Self.at(60))
    #expect(queue.take(now: Self.at(59)).isEmpty)
    #expect(Self.text(queue.take(now: Self.at(60))) == ["broken connection=999 status=400 repeated=995"])
    #expect(queue.nextEnd == nil)
    // A new interval begins with the next one.
    queue.add(Self.entry("broken", [(.status, "400")]), now: Self.at(61))
    #expect(Self.text(queue.take(now: Self.at(61))) == ["broken status=400"])
  }

  @Test func `a flush counts what was left out without waiting for the interval`() {
    var queue = LogQueue(LogLimits())
    for _ in 0..<7 { queue.add(Self.entry("broken"), now: .zero) }
    #expect(
      Self.text(queue.take(now: .zero, isLast: true)) == Array(repeating: "broken", count: 5) + ["broken repeated=2"])
  }

  @Test func `the kinds counted apart are bounded`() {
    var limits = LogLimits()
    limits.kinds = 4
    var queue = LogQueue(limits)
    for number in 0..<100 { queue.add(Self.entry("broken", [(.status, "\(number)")]), now: .zero) }
    #expect(queue.take(now: .zero).count == 4 + 5)
  }

  @Test func `no value begins a line of its own`() {
    let entry = Self.entry("A client broke a rule.", [(.connection, "7"), (.reason, "a\nforged=\"yes\"")])
    #expect(
      LogLine.text(entry)
        == #"1970-01-01T00:00:00.000Z warning A client broke a rule. connection=7 reason="a\nforged=\"yes\"""#)
    #expect(
      LogLine.json(entry)
        == #"{"time":"1970-01-01T00:00:00.000Z","level":"warning","message":"A client broke a rule.","connection":"7","reason":"a\nforged=\"yes\""}"#
    )
  }

  @Test func `a value longer than its limit is cut`() {
    let recorder = LogRecorder()
    recorder.log.write(.info, "m", [(.reason, String(repeating: "é", count: 5_000))])
    #expect(recorder.entries[0].metadata[0].value.utf8.count <= LogLimits().valueBytes + 3)
  }
}

/// The log's thread with sinks that fail or block.
@Suite(.timeLimit(.minutes(1))) struct LogWriterTests {
  @Test func `a sink that blocks delays no caller, and what it missed is reported when it returns`() async {
    var limits = LogLimits()
    limits.queuedEntries = 10
    limits.flushTime = .milliseconds(20)
    let (lines, told) = AsyncStream<String>.makeStream()
    let blocked = Blocker()
    let log = Log(level: .info) { entry in
      blocked.wait()
      told.yield(entry.message + entry.metadata.map { " \($0.value)" }.joined())
    }
    log.adopt(limits)
    log.write(.info, "first")
    await blocked.reached()
    for number in 0..<50 { log.write(.info, "more", [(.field, "\(number)")]) }
    #expect(!log.flush(), "a flush waits no longer than its limit")
    blocked.release()
    var iterator = lines.makeAsyncIterator()
    var seen: [String] = []
    while let line = await iterator.next() {
      seen.append(line)
      if seen.count == 12 { break }
    }
    #expect(seen[0] == "first")
    #expect(seen.contains("Entries of the log were lost: they could not be written. 40"))
    #expect(seen.filter { $0.hasPrefix("more") } == (0..<10).map { "more \($0)" })
  }

  @Test func `the server's limits bound its log`() async throws {
    let (lines, told) = AsyncStream<String>.makeStream()
    let log = Log(level: .info) { told.yield($0.metadata.map(\.value).joined()) }
    try await Served.with(
      "type Note @model { id: ID! }",
      {
        $0.log = log
        $0.limits.log.valueBytes = 4
      }
    ) { _ in
      log.write(.info, "m", [(.reason, "123456789")])
    }
    var iterator = lines.makeAsyncIterator()
    while let line = await iterator.next(), line != "1234…" {}
  }

  @Test func `a log that is let go writes what it has and ends its thread`() async {
    let (lines, told) = AsyncStream<String>.makeStream()
    do {
      let log = Log(level: .info) { told.yield($0.message) }
      log.write(.info, "a")
    }
    var iterator = lines.makeAsyncIterator()
    #expect(await iterator.next() == "a")
  }
}

/// Holds a thread until it is released.
private final class Blocker: Sendable {
  private let state = Bell()
  private let arrivals: AsyncStream<Void>
  private let arrive: AsyncStream<Void>.Continuation
  private let isOpen = Lock(false)

  init() {
    (arrivals, arrive) = AsyncStream<Void>.makeStream()
  }

  func wait() {
    if isOpen.withLock({ $0 }) { return }
    arrive.yield()
    state.wait()
  }

  func reached() async {
    for await _ in arrivals { return }
  }

  func release() {
    isOpen.withLock { $0 = true }
    state.ring()
  }
}
