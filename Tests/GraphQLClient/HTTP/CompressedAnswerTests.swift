import Martlet
import MartletRuntime
import MartletSimulation
import MartletSockets
import MartletWire
import Testing

/// Compressed answers, which the client's own HTTP reads; Foundation's reads them by itself.
@Suite struct CompressedAnswerTests {
  private static let fine = ScriptedHTTPServer.Reply.json(#"{"data":{"n":1}}"#)

  /// A gzip member with one stored block.
  private static func gzip(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    func little(_ number: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
    return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1] + little(bytes.count, 2) + little(~bytes.count, 2) + bytes
      + little(Int(GzipMember.checksum(bytes)), 4) + little(bytes.count, 4)
  }

  private func client(_ body: [UInt8]) throws -> (ScriptedHTTPServer, GraphQLClient) {
    let server = ScriptedHTTPServer { _, _ in
      .raw(
        Array(
          """
          HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\
          Content-Length: \(body.count)\r\n\r\n
          """.utf8) + body)
    }
    var environment = server.environment()
    environment.inflate = RawInflate.inflate
    return (server, try server.client(in: environment) { $0.messageBytes = 100 })
  }

  @Test func `a compressed answer is asked for and read`() throws {
    let (server, client) = try client(Self.gzip(#"{"data":{"n":1}}"#))
    #expect(try server.executor.run { try await client.query("{ n }").data?["n"] } == 1)
    #expect(server.requests[0].has("Accept-Encoding: gzip"))
  }

  @Test func `a compressed answer that is broken fails a query, and leaves a mutation's outcome open`()
    throws
  {
    var broken = Self.gzip(#"{"data":{"n":1}}"#)
    broken[broken.count - 6] ^= 1
    for body in [broken, Array(broken.dropLast())] {
      let (server, client) = try client(body)
      #expect(try server.executor.failure { _ = try await client.query("{ n }") } != nil)
      #expect(try server.executor.failure { try await client.mutate("mutation { n }") }?.code == .outcomeUnknown)
    }
  }

  @Test func `programs without zlib ask for nothing compressed`() throws {
    let server = ScriptedHTTPServer { _, _ in Self.fine }
    let client = try server.client()
    try server.executor.run { _ = try await client.query("{ n }") }
    #expect(!server.requests[0].head.contains("Accept-Encoding"))
  }
}
