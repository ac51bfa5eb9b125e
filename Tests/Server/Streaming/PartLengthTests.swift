import Foundation
import MartletJSON
import MartletServer
import Testing

/// Multipart subscriptions as a client reads them that takes each part by its `Content-Length` and looks at no
/// boundary.
@Suite(.timeLimit(.minutes(1))) struct PartLengthTests {
  /// Takes parts out of a body as soon as their last byte has come.
  private struct LengthReader {
    private var text = ""

    /// The contents of the parts that are whole now.
    mutating func receive(_ piece: String) throws -> [String] {
      text += piece
      var parts: [String] = []
      while let head = text.range(of: "\r\n\r\n") {
        let fields = text[..<head.lowerBound].split(separator: "\r\n").filter { !$0.hasPrefix("--") }
        let length = fields.first { $0.hasPrefix("Content-Length: ") }.flatMap { Int($0.dropFirst(16)) }
        let count = try #require(length, "a part does not say its length: \(fields)")
        let rest = text[head.upperBound...].utf8
        guard rest.count >= count else { break }
        parts.append(String(decoding: rest.prefix(count), as: UTF8.self))
        text = String(decoding: rest.dropFirst(count), as: UTF8.self)
        // What is left begins with the line's end and the boundary.
        if let boundary = text.range(of: "\r\n--graphql") { text.removeSubrange(boundary) }
      }
      return parts
    }
  }

  private static func follow(_ reader: PartsReader, _ told: AsyncStream<String>.Continuation) async throws {
    var parts = LengthReader()
    _ = try await reader.read { _, chunk in
      for part in try parts.receive(chunk) { told.yield(part) }
      return true
    }
  }

  @Test func `a client that reads parts by their length has each event before the next is written`() async throws {
    try await Served.with("type Note @model { id: ID! text: String }") { server in
      let reader = try await PartsReader.open(
        "subscription { onCreateNote { text } }", port: server.port,
        accept: "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json")
      let (events, told) = AsyncStream.makeStream(of: String.self)
      let following = Task { try await Self.follow(reader, told) }
      var iterator = events.makeAsyncIterator()
      #expect(await iterator.next() == "{}")
      for text in ["a", "äöü", String(repeating: "long ", count: 4_000), "d"] {
        _ = try await HTTPRequest.graphql(
          "mutation ($text: String) { createNote(input: {text: $text}) { id } }", port: server.port,
          variables: ["text": .string(text)])
        let event = try JSONValue(parsing: await iterator.next() ?? "")
        #expect(event["payload"]?["data"]?["onCreateNote"]?["text"] == .string(text))
      }
      reader.abort()
      try? await following.value
    }
  }
}
