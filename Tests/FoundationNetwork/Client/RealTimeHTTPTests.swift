import Foundation
import Martlet
import MartletGraphQLClient
import MartletRuntime
import MartletTesting
import Testing

/// What the client does by HTTP through a complete HTTP client, on the loop of Foundation's network and in real time.
@Suite(.timeLimit(.minutes(1))) struct RealTimeHTTPTests {
  private let time = RealTime()
  private static let fine = ScriptedHTTP.Reply.answer(200, #"{"data":{"n":1}}"#)

  private static func code(_ body: () async throws -> Void) async -> GraphQLClientError.Code? {
    do {
      try await body()
      return nil
    } catch { return (error as? GraphQLClientError)?.code }
  }

  private func on<Answer: Sendable>(_ http: ScriptedHTTP, _ body: @escaping @Sendable (ScriptedHTTP) -> Answer)
    async throws -> Answer
  {
    try await time.run { body(http) }
  }

  @Test func `a request carries what GraphQL over HTTP asks for`() async throws {
    let http = ScriptedHTTP { _, _ in Self.fine }
    let client = try time.client(over: http) {
      $0.credentials = { _ in .bearer("secret") }
      $0.headers = [(name: "X-Trace", value: "1")]
    }
    #expect(try await client.query("query Q($n: Int) { n }", variables: ["n": 2]).data?["n"] == 1)
    let request = try #require(try await on(http) { $0.requests.first })
    #expect(request.method == "POST" && request.url == "http://example.test:80/graphql")
    #expect(request.body == Array(#"{"query":"query Q($n: Int) { n }","variables":{"n":2}}"#.utf8))
    let headers = Dictionary(request.headers.map { ($0.name.lowercased(), $0.value) }) { $1 }
    #expect(headers["authorization"] == "Bearer secret" && headers["x-trace"] == "1")
    #expect(headers["content-type"] == "application/json" && headers["host"] == nil)
    client.shutDown()
  }

  @Test func `refused credentials are asked for again, once`() async throws {
    let http = ScriptedHTTP { _, request in
      request.headers.contains { $0.value == "Bearer fresh" }
        ? Self.fine : .answer(401, #"{"errors":[{"message":"who?"}]}"#)
    }
    let client = try time.client(over: http) { $0.credentials = { .bearer($0.isRefusal ? "fresh" : "old") } }
    #expect(try await client.query("{ n }").data?["n"] == 1)
    #expect(try await on(http) { $0.requests.count } == 2)
    client.shutDown()
  }

  @Test func `redirects of the same origin keep credentials, others lose them, and a mutation follows none`()
    async throws
  {
    let http = ScriptedHTTP { _, request in
      switch request.url {
      case let url where url.hasSuffix("/graphql"): .answer(308, "", more: [("Location", "/v2")])
      case let url where url.hasSuffix("example.test:80/v2"):
        .answer(308, "", more: [("Location", "http://other.test/v3")])
      default: Self.fine
      }
    }
    let client = try time.client(over: http) { $0.credentials = { _ in .bearer("secret") } }
    #expect(try await client.query("{ n }").data?["n"] == 1)
    let shown = try await on(http) { http in
      http.requests.map { request in request.headers.contains { $0.value == "Bearer secret" } }
    }
    #expect(shown == [true, true, false])
    let mutation = await #expect(throws: GraphQLClientError.self) { try await client.mutate("mutation { n }") }
    #expect(mutation?.status == 308)
    client.shutDown()
  }

  @Test func `what may have been sent has an unknown outcome, what was not has none`() async throws {
    for (code, expected) in [
      (HTTPExchangeError.Code.connect, GraphQLClientError.Code.connectFailed), (.resolution, .connectFailed),
      (.tls, .connectFailed), (.response, .outcomeUnknown), (.other, .outcomeUnknown),
    ] {
      let http = ScriptedHTTP { _, _ in .fails(code) }
      let client = try time.client(over: http) { $0.reconnect = .never }
      #expect(await Self.code { try await client.mutate("mutation { n }") } == expected, "\(code)")
      client.shutDown()
    }
  }

  @Test func `a server that stays silent is given up, and its exchange is cancelled`() async throws {
    let http = ScriptedHTTP { _, _ in .silence }
    let client = try time.client(over: http) { $0.requestTimeout = .milliseconds(5) }
    #expect(await Self.code { _ = try await client.query("{ n }") } == .timeout)
    let (requests, cancelled) = try await on(http) { ($0.requests.count, $0.cancelled) }
    #expect(requests > 0 && cancelled == requests)
    client.shutDown()
  }

  @Test func `requests beyond the limits wait, and more are refused by type`() async throws {
    let http = ScriptedHTTP { _, _ in Self.fine }
    let client = try time.client(over: http) {
      $0.httpConnections = 2
      $0.waitingRequests = 1_000
    }
    let codes = try await withThrowingTaskGroup(of: JSONValue?.self) { group in
      for _ in 0..<50 { group.addTask { try await client.query("{ n }").data?["n"] } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(codes == Array(repeating: 1, count: 50))
    let full = ScriptedHTTP { _, _ in .silence }
    let small = try time.client(over: full) {
      $0.httpConnections = 1
      $0.waitingRequests = 1
      $0.requestTimeout = .milliseconds(200)
    }
    let outcomes = await withTaskGroup(of: GraphQLClientError.Code?.self) { group in
      for _ in 0..<5 { group.addTask { await Self.code { _ = try await small.query("{ n }") } } }
      return await group.reduce(into: [GraphQLClientError.Code]()) { if let code = $1 { $0.append(code) } }
    }
    #expect(outcomes.count == 5 && outcomes.count { $0 == .overloaded } == 3, "\(outcomes)")
    for client in [client, small] { client.shutDown() }
  }

  @Test func `files go as one temporary file, which is removed`() async throws {
    let http = ScriptedHTTP { _, _ in .answer(200, #"{"data":{"keep":"kept"}}"#) }
    let client = try time.client(over: http)
    let transport = try #require(client.networkTransport as? any UploadingNetworkTransport)
    let file = GraphQLFile(
      fieldName: "file", originalName: "cat.txt", mimeType: "text/plain", content: Array("meow".utf8))
    let request = OperationRequest(.mutation, document: "mutation ($file: Upload!) { keep(file: $file) }")
    #expect(try await transport.upload(request, files: [file]).value["data"]?["keep"] == "kept")
    let (path, body) = try await on(http) { ($0.requests.first?.bodyFile, $0.files.first ?? $0.requests.first?.body) }
    let text = String(decoding: body ?? [], as: UTF8.self)
    #expect(text.contains("cat.txt") && text.contains("\r\n\r\nmeow\r\n"))
    if let path { #expect(!FileManager.default.fileExists(atPath: path)) }
    client.shutDown()
  }

  @Test(arguments: [SubscriptionMediaType.multipart, .eventStream])
  func `a subscription by HTTP gets its events and ends when the server says so`(media: SubscriptionMediaType)
    async throws
  {
    let part = { @Sendable (text: String) in "\r\nContent-Type: application/json\r\n\r\n\(text)\r\n--graphql" }
    let http = ScriptedHTTP { _, _ in
      media == .eventStream
        ? .stream(
          type: "text/event-stream",
          [":\n\n", "event: next\nda", "ta: {\"data\":{\"tick\":1}}\n\n", "event: complete\ndata:\n\n"])
        : .stream(
          type: "multipart/mixed;boundary=graphql;subscriptionSpec=1.0",
          ["--graphql", part(#"{"payload":{"data":{"tick":1}}}"#), "--\r\n"])
    }
    let client = try time.client(over: http) { $0.subscriptionMediaType = media }
    var seen: [JSONValue] = []
    for try await event in client.subscribe("subscription { tick }") { seen.append(event.data?["tick"] ?? .null) }
    #expect(seen == [1])
    let request = try #require(try await on(http) { $0.requests.first })
    #expect(request.bodyBytes == nil && request.totalTime == nil)
    client.shutDown()
  }
}
