import MartletTestSupport
import Testing

@testable import MartletHTTPWire
@testable import MartletWire

@Suite struct MultipartReaderTests {
  /// Reads a text in pieces of `size` bytes.
  static func read(
    _ text: String, boundary: String = "graphql", size: Int, limits: MultipartLimits = MultipartLimits()
  ) throws -> (bodies: [String], hasEnded: Bool) {
    var reader = try MultipartReader(boundary: Array(boundary.utf8), limits: limits)
    var parts: [MultipartPart] = []
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: size) {
      try reader.receive([UInt8](bytes[start..<min(start + size, bytes.count)]), parts: &parts)
    }
    return (parts.map { String(decoding: $0.body, as: UTF8.self) }, reader.hasEnded)
  }

  @Test(arguments: cutSizes) func `parts are the same in any cut`(size: Int) throws {
    let text =
      "\r\n--graphql\r\ncontent-type: application/json\r\n\r\n{}\r\n--graphql\r\n\r\n{\"a\":\r\n\"é--graphql\"}\r\n"
      + "--graphql \t\r\n\r\n\r\n--graphql--\r\nepilogue"
    let result = try Self.read(text, size: size)
    #expect(result.bodies == ["{}", "{\"a\":\r\n\"é--graphql\"}", ""])
    #expect(result.hasEnded)
  }

  @Test(arguments: cutSizes) func `line feeds alone separate lines`(size: Int) throws {
    let result = try Self.read("--x\na: b\n\n1\n--x\n\n2\n--x--", boundary: "x", size: size)
    #expect(result.bodies == ["1", "2"] && result.hasEnded)
  }

  @Test(arguments: cutSizes) func `a part of nothing at all is left out`(size: Int) throws {
    let result = try Self.read("--graphql\r\n--graphql--", size: size)
    #expect(result.bodies == [] && result.hasEnded)
  }

  @Test(arguments: cutSizes) func `what stands before the first boundary is skipped`(size: Int) throws {
    let result = try Self.read("\r\n{}\r\n--graphql\r\n\r\n1\r\n--graphql--", size: size)
    #expect(result.bodies == ["1"])
  }

  @Test(arguments: cutSizes) func `a boundary of one hyphen is read`(size: Int) throws {
    let result = try Self.read("\r\n---\r\n\r\n1\r\n---\r\n\r\n-- 2\r\n-----\r\n", boundary: "-", size: size)
    #expect(result.bodies == ["1", "-- 2"] && result.hasEnded)
  }

  @Test func `a part is handed over with the boundary after it, before anything follows`() throws {
    let result = try Self.read("--graphql\r\n\r\n1\r\n--graphql", size: 4_096)
    #expect(result.bodies == ["1"] && !result.hasEnded)
  }

  @Test func `the headers of a part are kept`() throws {
    var reader = try MultipartReader(boundary: Array("x".utf8))
    var parts: [MultipartPart] = []
    try reader.receive(Array("--x\r\nContent-Type: application/json\r\n\r\n\r\n--x".utf8), parts: &parts)
    #expect(parts.first?.headers["content-type"] == "application/json")
  }

  @Test(arguments: [
    "multipart/mixed;boundary=graphql;subscriptionSpec=1.0",
    "multipart/mixed; boundary=\"graphql\"; subscriptionSpec=\"1.0\"",
    "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json",
    "Multipart/Mixed; Boundary=\"graphql\", application/json",
  ])
  func `the content type names the boundary`(contentType: String) throws {
    var reader = try MultipartReader(contentType: contentType)
    var parts: [MultipartPart] = []
    try reader.receive(Array("--graphql\r\n\r\n1\r\n--graphql--".utf8), parts: &parts)
    #expect(parts.map(\.body) == [[0x31]])
  }

  @Test(arguments: [":::", "===", "a/b", "'", "(", "a?b"]) func `a boundary that needed quotes is read without them`(
    boundary: String
  ) throws {
    for type in ["multipart/mixed; boundary=\(boundary); deferSpec=20220824", "multipart/mixed;x;boundary=\(boundary)"]
    {
      var reader = try MultipartReader(contentType: type)
      var parts: [MultipartPart] = []
      try reader.receive(Array("--\(boundary)\r\n\r\n1\r\n--\(boundary)--".utf8), parts: &parts)
      #expect(parts.map(\.body) == [[0x31]])
    }
  }

  @Test(arguments: [
    ("application/json", MultipartFailure.Rule.contentType), ("multipart/mixed", .boundary),
    ("multipart/mixed;boundary=\"\"", .boundary), ("multipart/mixed;boundary=\"a\\\"b\"", .boundary),
    ("multipart/mixed;boundary=\(String(repeating: "a", count: 71))", .boundary), ("", .contentType),
  ])
  func `a content type without a boundary is refused`(contentType: String, rule: MultipartFailure.Rule) {
    #expect(throws: MultipartFailure(rule)) { _ = try MultipartReader(contentType: contentType) }
  }

  @Test(arguments: cutSizes) func `broken bodies are refused by their rule`(size: Int) {
    var limits = MultipartLimits()
    limits.partBytes = 40
    limits.headerBytes = 60
    limits.headerFields = 2
    let long = String(repeating: "a", count: 41)
    let cases: [(String, MultipartFailure.Rule)] = [
      ("--graphqlx\r\n", .delimiter), ("--graphql-x", .delimiter), ("--graphql\rx", .delimiter),
      ("--graphql\r\nno colon\r\n\r\n", .field), ("--graphql\r\na b: c\r\n\r\n", .field),
      ("--graphql\r\na: b\r\na: b\r\na: b\r\n\r\n", .headerTooLarge),
      ("--graphql\r\na: \(long)\(long)\r\n\r\n", .headerTooLarge),
      ("--graphql\r\n\r\n\(long)\r\n--graphql", .partTooLarge), ("--graphql\r\n\r\n\(long)aaaaaaa", .partTooLarge),
      ("\(long)aaaaaaaaaa", .partTooLarge),
    ]
    for (text, rule) in cases {
      #expect(throws: MultipartFailure(rule), "\(text)") { _ = try Self.read(text, size: size, limits: limits) }
    }
  }

  @Test func `a body that ends before its closing boundary is truncated`() throws {
    var reader = try MultipartReader(boundary: Array("x".utf8))
    var parts: [MultipartPart] = []
    try reader.receive(Array("--x\r\n\r\n1\r\n--x".utf8), parts: &parts)
    #expect(throws: MultipartFailure(.truncated, part: 1)) { try reader.inputEnded() }
    try reader.receive(Array("--".utf8), parts: &parts)
    try reader.inputEnded()
  }
}
