import MartletTestSupport
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire
@testable import MartletHTTPWire
@testable import MartletWire

@Suite struct EventStreamTests {
  static func read(_ text: String, size: Int = 4_096, limit: Int = 1_000) throws -> [StreamEvent] {
    var limits = EventStreamLimits()
    limits.eventBytes = limit
    var reader = EventStreamReader(limits: limits)
    var events: [StreamEvent] = []
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: size) {
      try reader.receive([UInt8](bytes[start..<min(start + size, bytes.count)]), events: &events)
    }
    return events
  }

  @Test(arguments: cutSizes, ["\n", "\r", "\r\n"])
  func `lines end in LF, CR or CRLF, in any cut`(size: Int, end: String) throws {
    let lines = [
      "\u{FEFF}: hello", "event: next", "data: {\"é\":", "data:1}", "", "", "data", "", "event:complete", "data:", "",
      "unknown: x", "data:  two", "",
    ]
    let events = try Self.read(lines.map { $0 + end }.joined(), size: size)
    #expect(
      events == [
        StreamEvent(name: "next", data: Array("{\"é\":\n1}".utf8)), StreamEvent(), StreamEvent(name: "complete"),
        StreamEvent(data: Array(" two".utf8)),
      ])
  }

  @Test func `an event cut off by the end is discarded`() throws {
    #expect(try Self.read("data: 1\n\ndata: 2\n").count == 1)
  }

  @Test func `identifiers stay until another comes, and retry is a number`() throws {
    var reader = EventStreamReader()
    var events: [StreamEvent] = []
    try reader.receive(Array("id: 7\nretry: 250\ndata\n\nretry: x\nid: a\u{0}b\ndata\n\n".utf8), events: &events)
    #expect(events.map(\.id) == ["7", "7"] && reader.retry == 250)
  }

  @Test(arguments: cutSizes) func `an event larger than allowed is refused`(size: Int) {
    let long = "data: " + String(repeating: "a", count: 60) + "\n"
    #expect(throws: EventStreamFailure.eventTooLarge(limit: 100)) {
      _ = try Self.read(long + long + "\n", size: size, limit: 100)
    }
    #expect(throws: EventStreamFailure.eventTooLarge(limit: 50)) { _ = try Self.read(long, size: size, limit: 50) }
  }

  @Test(arguments: cutSizes) func `a subscription's events are what was written`(size: Int) throws {
    typealias Writing = EventStreamSubscription.Writing
    var reader = EventStreamSubscription.Reader()
    var messages: [EventStreamSubscription.Message] = []
    let result = Array("{\"data\":null}".utf8)
    let bytes =
      Writing.opening + Writing.eventPrefix + result + Writing.eventSuffix + Writing.heartbeat + Writing.end
      + Writing.eventPrefix + result + Writing.eventSuffix
    for start in stride(from: 0, to: bytes.count, by: size) {
      try reader.receive([UInt8](bytes[start..<min(start + size, bytes.count)]), messages: &messages)
    }
    try reader.inputEnded()
    #expect(messages == [.next(result), .complete])
  }

  @Test(arguments: [
    (#"{"payload":{"data":{"a":1}}}"#, #"{"data":{"a":1}}"#), (#"{"payload":1}"#, #"{"payload":1}"#),
    (#"{"payload":{},"data":null}"#, #"{"payload":{},"data":null}"#), (#"{"data":{}}"#, #"{"data":{}}"#),
  ])
  func `a result that a server wraps is unwrapped`(data: String, result: String) throws {
    var reader = EventStreamSubscription.Reader()
    var messages: [EventStreamSubscription.Message] = []
    try reader.receive(Array("event: next\r\ndata: \(data)\r\n\r\n".utf8), messages: &messages)
    #expect(messages == [.next(Array(result.utf8))])
  }

  @Test func `a stream that ends without complete has failed`() throws {
    var reader = EventStreamSubscription.Reader()
    var messages: [EventStreamSubscription.Message] = []
    try reader.receive(EventStreamSubscription.Writing.opening, messages: &messages)
    #expect(throws: EventStreamFailure.truncated) { try reader.inputEnded() }
  }
}
