import MartletServer
import Testing

/// Pages at other origins, whose browsers ask before they send and before they show an answer.
@Suite(.timeLimit(.minutes(1))) struct CrossOriginTests {
  private static let schema = "type Note @model { id: ID! }"
  private static let page = "https://board.example"

  /// The value of a header field; nil without one.
  private func field(_ name: String, _ answer: HTTPRequest.Answer) -> String? {
    answer.head.split(separator: "\r\n").first { $0.hasPrefix(name + ": ") }.map {
      String($0.dropFirst(name.count + 2))
    }
  }

  private func preflight(_ origin: String, _ path: String = "/graphql", port: Int) async throws -> HTTPRequest.Answer {
    try await HTTPRequest.send(
      "OPTIONS", path, port: port,
      headers: [
        ("Origin", origin), ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "content-type,x-api-key, \"odd\""),
      ])
  }

  @Test func `a page of an allowed origin passes the preflight without a key, and may read every response`()
    async throws
  {
    let access = try Served.access("k", origins: #"["https://board.example"]"#)
    try await Served.with(Self.schema, { $0.access = .keys(access) }) { server in
      let port = server.port
      for path in ["/graphql", "/graphql/stream"] {
        let answer = try await preflight(Self.page, path, port: port)
        #expect(answer.status == 204 && answer.body.isEmpty)
        #expect(field("Access-Control-Allow-Origin", answer) == Self.page && field("Vary", answer) == "Origin")
        #expect(field("Access-Control-Allow-Methods", answer) == "GET, POST, PUT, DELETE, OPTIONS")
        #expect(field("Access-Control-Allow-Headers", answer) == "content-type, x-api-key")
        #expect(field("Access-Control-Max-Age", answer) == "600")
      }
      let key = ("x-api-key", "k")
      for (headers, status) in [([key], 200), ([], 401), ([key, ("Accept", "text/html")], 406)] {
        let answer = try await HTTPRequest.graphql(
          "{ __typename }", port: port, headers: headers + [("Origin", Self.page)])
        #expect(answer.status == status && field("Access-Control-Allow-Origin", answer) == Self.page)
        #expect(field("Access-Control-Allow-Credentials", answer) == "true")
      }
      let events = try await HTTPRequest.graphql(
        "{ __typename }", port: port, headers: [key, ("Origin", Self.page), ("Accept", "text/event-stream")])
      #expect(events.text.contains("event: next") && field("Access-Control-Allow-Origin", events) == Self.page)
      let evil = try await preflight("https://evil.example", port: port)
      #expect(evil.status == 403 && field("Access-Control-Allow-Origin", evil) == nil)
      #expect(field("Access-Control-Allow-Origin", try await HTTPRequest.graphql("{ a }", port: port)) == nil)
    }
  }

  @Test func `where no origins are named every page may read, but not send what its browser adds`() async throws {
    let access = try Served.access("k")
    try await Served.with(Self.schema, { $0.access = .keys(access) }) { server in
      let answer = try await preflight(Self.page, port: server.port)
      #expect(answer.status == 204 && field("Access-Control-Allow-Origin", answer) == "*")
      #expect(field("Access-Control-Allow-Credentials", answer) == nil)
    }
  }

  @Test func `in development pages of this machine may use the server, others may not`() async throws {
    try await Served.with(Self.schema) { server in
      let answer = try await preflight("http://localhost:5173", port: server.port)
      #expect(answer.status == 204 && field("Access-Control-Allow-Origin", answer) == "http://localhost:5173")
      let evil = try await preflight(Self.page, port: server.port)
      #expect(evil.status == 403 && field("Access-Control-Allow-Origin", evil) == nil)
      // Who only asks what there is.
      for path in ["/graphql", "*"] {
        let asked = try await HTTPRequest.send("OPTIONS", path, port: server.port)
        #expect(asked.status == 204 && field("Allow", asked) == "GET, POST, PUT, DELETE, OPTIONS")
        #expect(field("Access-Control-Allow-Methods", asked) == nil)
      }
    }
  }
}
