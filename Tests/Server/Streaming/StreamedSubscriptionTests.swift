import MartletGraphQLExecution
import MartletJSON
import MartletServer
import Synchronization
import Testing

/// Subscriptions over HTTP, read as they come.
@Suite(.timeLimit(.minutes(1))) struct StreamedSubscriptionTests {
  static let multipart = "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json"
  static let forms = [multipart, "text/event-stream"]

  private static let schema = """
    type Note @model { id: ID! text: String }
    type Subscription { tick(upTo: Int): Int forever: Int fails: Int }
    """

  private static func with(
    _ ended: AsyncStream<Void>.Continuation? = nil, _ adjust: (inout ServerConfiguration) -> Void = { _ in },
    _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    try await Served.with(
      schema,
      { configuration in
        configuration.resolvers = { resolvers in
          resolvers.stream("Subscription", "tick") { request in
            let last = request.arguments["upTo"]?.int ?? 0
            return AsyncStream<JSONValue> { continuation in
              for number in 0..<last { continuation.yield(.int(number)) }
              continuation.finish()
            }
          }
          resolvers.stream("Subscription", "fails") { _ -> AsyncStream<JSONValue> in
            throw ResolverError("no source")
          }
          resolvers.stream("Subscription", "forever") { _ in
            AsyncStream<JSONValue> { continuation in
              continuation.onTermination = { _ in ended?.yield() }
              continuation.yield(1)
            }
          }
        }
        adjust(&configuration)
      }, body)
  }

  private static func results(_ heard: [StreamedResponse.Heard]) -> [JSONValue] {
    heard.compactMap { if case .result(let value) = $0 { value } else { nil } }
  }

  @Test(arguments: forms) func `values arrive in order, then completion`(accept: String) async throws {
    try await Self.with { server in
      let response = try await StreamedResponse.open(
        "subscription { tick(upTo: 3) }", accept: accept, port: server.port)
      let heard = await response.all()
      guard case .head(200, let type)? = heard.first else {
        Issue.record("\(heard)")
        return
      }
      #expect(
        type
          == (accept == Self.multipart ? "multipart/mixed;boundary=graphql;subscriptionSpec=1.0" : "text/event-stream"))
      #expect(Self.results(heard) == (0..<3).map { ["data": ["tick": .int($0)]] })
      #expect(heard.suffix(2) == [.completed, .ended])
    }
  }

  @Test(arguments: forms) func `an event comes after a mutation, while the response continues`(accept: String)
    async throws
  {
    try await Self.with { server in
      let response = try await StreamedResponse.open(
        "subscription { onCreateNote { text } }", accept: accept, port: server.port)
      // What opens the body says that the subscription is live.
      _ = await response.heard { $0 == .heartbeat }
      for text in ["a", "b"] {
        _ = try await HTTPRequest.graphql(
          "mutation { createNote(input: {text: \"\(text)\"}) { id } }", port: server.port)
        let heard = await response.heard { if case .result = $0 { true } else { false } }
        #expect(Self.results(heard) == [["data": ["onCreateNote": ["text": .string(text)]]]])
      }
      response.abort()
    }
  }

  @Test(arguments: forms) func `a client that goes away ends its source, and its membership`(accept: String)
    async throws
  {
    let (ends, told) = AsyncStream<Void>.makeStream()
    try await Self.with(told) { server in
      var endings = ends.makeAsyncIterator()
      let source = try await StreamedResponse.open("subscription { forever }", accept: accept, port: server.port)
      _ = await source.heard { if case .result = $0 { true } else { false } }
      source.abort()
      await endings.next()
      let member = try await StreamedResponse.open(
        "subscription { onCreateNote { text } }", accept: accept, port: server.port)
      _ = await member.heard { $0 == .heartbeat }
      #expect(try await Self.metric("martlet_subscriptions", server) == 1)
      #expect(try await Self.metric("martlet_http_streams", server) == 1)
      member.abort()
      while try await Self.metric("martlet_subscriptions", server) > 0 { await Task.yield() }
    }
  }

  private static func metric(_ name: String, _ server: GraphQLServer) async throws -> Int {
    let text = try await HTTPRequest.send("GET", "/metrics", port: server.port).text
    let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
    return try #require(Int(line?.split(separator: " ").last ?? ""))
  }

  @Test(arguments: forms, ["subscription { nothing }", "subscription { fails }"])
  func `a subscription that cannot start answers its errors in the stream`(accept: String, query: String) async throws {
    try await Self.with { server in
      let heard = await (try StreamedResponse.open(query, accept: accept, port: server.port)).all()
      let results = Self.results(heard)
      #expect(results.count == 1 && results.first?["errors"]?.array?.count == 1, "\(heard)")
      #expect(results.first?["data"] == nil && heard.suffix(2) == [.completed, .ended])
    }
  }

  @Test func `the connection takes another request when a stream has ended`() async throws {
    try await Self.with { server in
      let body = #"{"query":"subscription { tick(upTo: 1) }"}"#
      let request =
        "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
      let last = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
      let port = server.port
      let answer = try await HTTPRequest.raw(
        (request + last).replacing("Host: a", with: "Host: 127.0.0.1:\(port)"), port: port)
      #expect(answer.text.contains("event: complete") && answer.text.hasSuffix("ok\n"), "\(answer.text)")
    }
  }

  @Test func `the path of event streams serves queries and subscriptions by GET`() async throws {
    try await Self.with { server in
      for (query, expected) in [
        ("%7BgetNote(id:1)%7Btext%7D%7D", ["data": ["getNote": .null]] as JSONValue),
        ("subscription%7Btick(upTo:1)%7D", ["data": ["tick": 0]]),
      ] {
        let answer = try await HTTPRequest.send(
          "GET", "/graphql/stream?query=\(query)", port: server.port, headers: [("Accept", "text/event-stream")])
        #expect(answer.status == 200)
        #expect(
          answer.text.contains("event: next\ndata: \(String(decoding: expected.serialized(), as: UTF8.self))\n\n"))
        #expect(answer.text.contains("event: complete\ndata:\n\n"))
      }
      let refused = try await HTTPRequest.send(
        "GET", "/graphql/stream?query=%7Ba%7D", port: server.port, headers: [("Accept", "application/json")])
      #expect(refused.status == 406)
    }
  }

  @Test func `a subscription is refused where no stream is accepted, and says what is`() async throws {
    try await Self.with { server in
      let answer = try await HTTPRequest.graphql("subscription { tick(upTo: 1) }", port: server.port)
      #expect(answer.status == 400)
      #expect(answer.json["errors"]?[0]?["message"]?.string?.contains("text/event-stream") == true)
    }
  }

  @Test func `a query beside a multipart wish is answered singly`() async throws {
    try await Self.with { server in
      let answer = try await HTTPRequest.graphql(
        "{ getNote(id: 1) { text } }", port: server.port, headers: [("Accept", Self.multipart)])
      #expect(answer.json == ["data": ["getNote": .null]])
    }
  }

  @Test(arguments: forms) func `a server that stops says so, which is not completion`(accept: String) async throws {
    let (heard, tell) = AsyncStream<[StreamedResponse.Heard]>.makeStream()
    try await Self.with { server in
      let response = try await StreamedResponse.open(
        "subscription { onCreateNote { text } }", accept: accept, port: server.port)
      _ = await response.heard { $0 == .heartbeat }
      async let rest = response.all()
      await server.stop()
      tell.yield(await rest)
    }
    var iterator = heard.makeAsyncIterator()
    let rest = await iterator.next() ?? []
    let text = "\(rest)"
    #expect(text.contains("STREAM_ENDED") && !rest.contains(.completed) && rest.contains(.ended), "\(rest)")
  }

  @Test(arguments: forms) func `heartbeats come at the configured interval`(accept: String) async throws {
    try await Self.with(
      nil, { $0.limits.http.streamHeartbeatInterval = .milliseconds(20) },
      { server in
        let response = try await StreamedResponse.open(
          "subscription { onCreateNote { text } }", accept: accept, port: server.port)
        for _ in 0..<3 {
          let heard = await response.heard { $0 == .heartbeat }
          #expect(heard.last == .heartbeat)
        }
        response.abort()
      })
  }
}
