import Foundation
import MartletJSON
import MartletRuntime
import MartletServer
import Testing

/// What a caller that asks too often costs those beside it, in counts.
@Suite(.timeLimit(.minutes(1))) struct NoisyCallerTests {
  private static let schema = "type Query { one: Int }"

  private static func server(_ limits: (inout ServerLimits.Callers) -> Void = { _ in }) throws -> CountedServer {
    let access = try Served.access("ada", "bob")
    return try CountedServer(schema: schema, isClocked: true) { configuration in
      configuration.access = .keys(access)
      configuration.resolvers = { $0.compute("Query", "one") { _ in 1 } }
      limits(&configuration.limits.callers)
    }
  }

  private static func onePerSecond(_ callers: inout ServerLimits.Callers) {
    callers.operationsPerSecondPerIdentity = 1
    callers.burst = .milliseconds(1)
    callers.refusedPause = .zero
  }

  private static func open(_ key: String, _ port: Int) async throws -> RawSocket {
    let socket = try await RawSocket.open(port: port, headers: [("x-api-key", key)])
    socket.send(#"{"type":"connection_init"}"#)
    _ = try await socket.message("connection_ack")
    return socket
  }

  private static func subscribe(_ id: Int, _ document: String) -> String {
    #"{"id":"\#(id)","type":"subscribe","payload":{"query":"\#(document)"}}"#
  }

  @Test func `an operation beyond its caller's rate is refused without a look at its document, by every door`()
    async throws
  {
    let server = try Self.server(Self.onePerSecond)
    let port = server.port
    func looks(_ body: () async throws -> Void) async throws -> Int {
      let before = await server.counts()
      try await body()
      let counts = await server.counts() - before
      return counts[.planHits] + counts[.planMisses]
    }
    let ada = try await Self.open("ada", port)
    let bySocket = try await looks {
      ada.send((1...5).map { Self.subscribe($0, "{ a\($0): one }") })
      // A refusal may come before the result of what was asked before it.
      var seen: [String: JSONValue] = [:]
      while seen.count < 5 {
        let message = try await ada.message()
        if message["type"] != "complete", let id = message["id"]?.string { seen[id] = message }
      }
      #expect(seen["1"]?["type"] == "next")
      for id in 2...5 {
        let refused = seen["\(id)"] ?? .null
        #expect(refused["type"] == "error")
        let extensions = refused["payload"]?[0]?["extensions"]
        #expect(extensions?["code"] == "RATE_LIMITED")
        #expect((extensions?["retryAfterMs"]?.int).map { (1...1_000).contains($0) } == true)
      }
    }
    #expect(bySocket == 1)
    let headers = [("x-api-key", "ada"), ("Content-Type", "application/json")]
    let byRequest = try await looks {
      let refused = try await HTTPRequest.send(
        "POST", "/graphql", port: port, headers: headers, body: #"{"query":"{ b: one }"}"#)
      #expect(refused.status == 429 && refused.head.contains("Retry-After: 1\r\n"))
      // In its own form where the client takes a stream only.
      let stream = try await HTTPRequest.send(
        "POST", "/graphql", port: port, headers: headers + [("Accept", "text/event-stream")],
        body: #"{"query":"{ c: one }"}"#)
      #expect(stream.text.contains("RATE_LIMITED"))
      let batch = try await HTTPRequest.send(
        "POST", "/graphql", port: port, headers: headers, body: #"[{"query":"{ d: one }"},{"query":"{ e: one }"}]"#)
      #expect(batch.text.components(separatedBy: "RATE_LIMITED").count == 3)
    }
    #expect(byRequest == 0)
    ada.abort()
    await server.stop()
  }

  @Test func `a document that cannot be run is counted as one that can, by every door`() async throws {
    let server = try Self.server(Self.onePerSecond)
    let port = server.port
    let headers = [("x-api-key", "ada"), ("Content-Type", "application/json")]
    func isRefused() async throws -> Bool {
      let answer = try await HTTPRequest.send("GET", "/graphql?query=%7Bone%7D", port: port, headers: headers)
      await server.advance(.seconds(1))
      return answer.status == 429
    }
    #expect(try await !isRefused())
    for body in [#"{"query":"{ nothing }"}"#, #"{"query":"{"}"#, #"[{"query":"{ nothing }"}]"#] {
      #expect(
        try await HTTPRequest.send("POST", "/graphql", port: port, headers: headers, body: body).text.contains("errors")
      )
      #expect(try await isRefused(), "\(body)")
    }
    let ada = try await Self.open("ada", port)
    ada.send(Self.subscribe(1, "{ nothing }"))
    #expect(try await ada.message("error")["id"] == "1")
    #expect(try await isRefused())
    // What names no document was cheap to refuse.
    let hash = String(repeating: "0", count: 64)
    let named = #"{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"\#(hash)"}}}"#
    #expect(
      try await HTTPRequest.send("POST", "/graphql", port: port, headers: headers, body: named).text
        .contains("PERSISTED_QUERY_NOT"))
    #expect(try await !isRefused())
    ada.abort()
    await server.stop()
  }
}
