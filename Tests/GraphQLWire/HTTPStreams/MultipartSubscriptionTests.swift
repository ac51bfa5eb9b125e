import MartletTestSupport
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire
@testable import MartletHTTPWire
@testable import MartletWire

@Suite struct MultipartSubscriptionTests {
  typealias Message = MultipartSubscription.Message

  static func read(_ text: String, size: Int = 4_096) throws -> [Message] {
    var reader = try MultipartSubscription.Reader(contentType: "multipart/mixed;boundary=graphql")
    var messages: [Message] = []
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: size) {
      try reader.receive([UInt8](bytes[start..<min(start + size, bytes.count)]), messages: &messages)
    }
    return messages
  }

  static func body(_ parts: String...) -> String {
    "--graphql" + parts.map { "\r\nContent-Type: application/json\r\n\r\n\($0)\r\n--graphql" }.joined()
  }

  @Test(arguments: cutSizes) func `heartbeats, events and completion are distinguished`(size: Int)
    throws
  {
    let text = Self.body("{}", "{\"payload\":{\"data\":{\"a\":1}}}", "{\"payload\":null}", "") + "--\r\n"
    #expect(
      try Self.read(text, size: size)
        == [.heartbeat, .payload(Array("{\"data\":{\"a\":1}}".utf8)), .heartbeat, .completed])
  }

  @Test func `errors beside a null payload fail the stream, and nothing follows`() throws {
    let text = Self.body("{\"payload\":null,\"errors\":[{\"message\":\"x\"}]}", "{\"payload\":{}}") + "--"
    #expect(try Self.read(text) == [.failed(Array("[{\"message\":\"x\"}]".utf8))])
  }

  @Test func `errors inside a payload are the event's own`() throws {
    #expect(
      try Self.read(Self.body("{\"payload\":{\"data\":null,\"errors\":[]}}"))
        == [.payload(Array("{\"data\":null,\"errors\":[]}".utf8))])
  }

  @Test func `a bare result counts as a payload`() throws {
    let result = "{\"data\":null,\"errors\":[]}"
    #expect(try Self.read(Self.body(result)) == [.payload(Array(result.utf8))])
  }

  @Test func `errors without a payload fail the stream as well, and null errors are none`() throws {
    let text = Self.body("{\"errors\":null}", "{\"errors\":[{\"message\":\"x\"}],\"done\":true}") + "--"
    #expect(try Self.read(text) == [.heartbeat, .failed(Array("[{\"message\":\"x\"}]".utf8))])
  }

  @Test(arguments: ["nonsense", "[]", "{\"payload\":1}", "{\"payload\":null,\"errors\":1}"])
  func `a part that is not a message is refused`(part: String) {
    #expect(throws: MultipartSubscription.Failure.self) { _ = try Self.read(Self.body(part)) }
  }

  @Test func `a stream cut off has failed`() throws {
    var reader = try MultipartSubscription.Reader(contentType: "multipart/mixed;boundary=graphql")
    var messages: [Message] = []
    try reader.receive(Array(Self.body("{}").utf8), messages: &messages)
    #expect(throws: MultipartSubscription.Failure.multipart(MultipartFailure(.truncated, part: 1))) {
      try reader.inputEnded()
    }
  }

  @Test(arguments: cutSizes) func `what is written is read`(size: Int) throws {
    typealias Writing = MultipartSubscription.Writing
    var reader = try MultipartSubscription.Reader(contentType: Writing.contentType)
    var messages: [Message] = []
    let result = Array("{\"data\":{\"é\":1}}".utf8)
    let bytes =
      Writing.opening + Writing.heartbeat + Writing.eventPrefix(length: result.count) + result + Writing.eventSuffix
      + Writing.end
    for start in stride(from: 0, to: bytes.count, by: size) {
      try reader.receive([UInt8](bytes[start..<min(start + size, bytes.count)]), messages: &messages)
    }
    try reader.inputEnded()
    #expect(messages == [.heartbeat, .payload(result), .completed])
    #expect(
      try Self.read("--graphql" + String(decoding: Writing.failure(errors: Array("[]".utf8)), as: UTF8.self))
        == [.failed(Array("[]".utf8))])
  }
}
