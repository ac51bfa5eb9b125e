import Martlet
import MartletRuntime
import MartletSimulation
import MartletSockets
import MartletWire
import Testing

/// Redirected queries and compressed answers.
@Suite struct RedirectTests {
  private static let fine = ScriptedHTTPServer.Reply.json(#"{"data":{"n":1}}"#)

  private static func redirect(_ status: Int, _ location: String) -> ScriptedHTTPServer.Reply {
    .answer(status: status, type: "text/plain", body: "", more: "Location: \(location)\r\n")
  }

  @Test(arguments: [301, 302, 307, 308])
  func `a query follows a redirect of its origin with its body and its credentials`(status: Int) throws {
    let server = ScriptedHTTPServer { number, _ in number == 1 ? Self.redirect(status, "/v2/graphql") : Self.fine }
    let client = try server.client { $0.credentials = { _ in .bearer("secret") } }
    let answer = try server.executor.run { try await client.query("{ n }") }
    #expect(answer.data?["n"] == 1)
    #expect(
      server.requests.map { $0.head.prefix { $0 != "\r\n" } } == [
        "POST /graphql?v=1 HTTP/1.1", "POST /v2/graphql HTTP/1.1",
      ])
    #expect(server.requests.allSatisfy { $0.has("Authorization: Bearer secret") && $0.body["query"] == "{ n }" })
  }

  @Test func `credentials and header fields do not follow a redirect to another origin`() throws {
    let server = ScriptedHTTPServer { _, request in
      request.has("Host: server.test") ? Self.redirect(308, "http://other.test/graphql") : Self.fine
    }
    let client = try server.client {
      $0.credentials = { _ in .bearer("secret") }
      $0.headers = [(name: "X-API-Key", value: "secret")]
    }
    #expect(try server.executor.run { try await client.query("{ n }").data?["n"] } == 1)
    #expect(server.requests.count == 2)
    #expect(server.requests[0].head.contains("secret") && !server.requests[1].head.contains("secret"))
    #expect(server.requests[1].has("Host: other.test"))
  }

  @Test func `a mutation, a circle and a redirect that cannot be followed end in an error with the status`() throws {
    func error(_ location: String, _ document: String = "{ n }") throws -> GraphQLClientError? {
      let server = ScriptedHTTPServer { _, _ in Self.redirect(307, location) }
      let client = try server.client()
      let error = try server.executor.failure {
        _ = document == "{ n }" ? try await client.query(document) : try await client.mutate(document)
      }
      #expect(server.requests.count == (location == "/graphql" && document == "{ n }" ? 6 : 1))
      return error
    }
    #expect(try error("/graphql")?.code == .httpStatus)
    #expect(try error("/graphql", "mutation { n }")?.status == 307)
    #expect(try error("ftp://other.test/")?.status == 307)
    #expect(try error("relative")?.code == .httpStatus)
  }

  // MARK: gzip

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
