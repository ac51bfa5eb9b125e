import MartletServer
import Testing

/// What is read of a request that is refused by its head.
@Suite(.timeLimit(.minutes(1))) struct RefusedBodyTests {
  private static let schema = "type Note @model { id: ID! text: String }"

  private static func head(_ fields: String..., path: String = "/graphql") -> String {
    "POST \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
      + fields.map { "\($0)\r\n" }.joined() + "\r\n"
  }

  private static func closed(_ body: (Int) async throws -> Void) async throws {
    try await Served.with(schema, { $0.access = .keys(try Served.access("secret")) }) { try await body($0.port) }
  }

  @Test func `a long body without accepted credentials is refused before any of it is sent`() async throws {
    try await Self.closed { port in
      // The answer and the end of the connection come although no byte of the body is sent.
      let answer = try await HTTPRequest.raw(Self.head("Content-Length: 900000"), port: port)
      #expect(answer.status == 401 && answer.head.contains("\r\nConnection: close"))
      let guess = try await HTTPRequest.raw(Self.head("Content-Length: 900000", "x-api-key: guess"), port: port)
      #expect(guess.status == 401)
    }
  }

  @Test func `a chunked body without accepted credentials is read for 64 KiB and no further`() async throws {
    try await Self.closed { port in
      let chunk = "10000\r\n\(String(repeating: "x", count: 65_536))\r\n"
      let answer = try await HTTPRequest.raw(
        Self.head("Transfer-Encoding: chunked") + chunk + "1\r\nx\r\n", port: port)
      #expect(answer.status == 401 && answer.head.contains("\r\nConnection: close"))
    }
  }

  @Test func `a small refused body is skipped, and the connection serves the next request`() async throws {
    try await Self.closed { port in
      let body = #"{"query":"{ __typename }"}"#
      let refused = Self.head("Content-Length: \(body.utf8.count)") + body
      let served = Self.head("Content-Length: \(body.utf8.count)", "x-api-key: secret", "Connection: close") + body
      let answer = try await HTTPRequest.raw(refused + served, port: port)
      #expect(answer.status == 401 && !answer.head.contains("\r\nConnection: close"))
      #expect(answer.text.contains("HTTP/1.1 200") && answer.text.contains(#"{"__typename":"Query"}"#))
    }
  }

  @Test func `a client that waits for 100-continue sends no body that would be refused`() async throws {
    try await Self.closed { port in
      let refused = try await HTTPRequest.raw(
        Self.head("Content-Length: 10", "Expect: 100-continue"), port: port)
      #expect(refused.status == 401)
      let nowhere = try await HTTPRequest.raw(
        Self.head("Content-Length: 10", "Expect: 100-continue", path: "/nowhere"), port: port)
      #expect(nowhere.status == 404)
    }
  }

  @Test func `a declared length over the limit is refused before the body is sent`() async throws {
    try await Served.with(Self.schema) { server in
      let answer = try await HTTPRequest.raw(Self.head("Content-Length: 2000000"), port: server.port)
      #expect(answer.status == 413)
      let metrics = try await HTTPRequest.raw(
        "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 500000\r\n\r\n", port: server.port)
      #expect(metrics.status == 413)
    }
  }
}
