import MartletJSON
import MartletServer
import MartletWire
import Testing

/// One event stream for several operations, over real sockets and two loops.
@Suite(.timeLimit(.minutes(1))) struct SharedStreamTests {
  private static let schema = """
    type Note @model { id: ID! text: String }
    type Subscription { tick(upTo: Int): Int forever: Int }
    """
  private static let header = "X-GraphQL-Event-Stream-Token"

  private static func with(
    _ ended: AsyncStream<Void>.Continuation? = nil, _ adjust: (inout ServerConfiguration) -> Void = { _ in },
    _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    try await Served.with(
      schema,
      { configuration in
        configuration.loops = 2
        configuration.resolvers = { resolvers in
          resolvers.stream("Subscription", "tick") { request in
            let last = request.arguments["upTo"]?.int ?? 0
            return AsyncStream<JSONValue> { continuation in
              for number in 0..<last { continuation.yield(.int(number)) }
              continuation.finish()
            }
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

  private static func reserve(
    _ path: String = "/graphql/stream", headers: [(String, String)] = [], port: Int
  ) async throws -> HTTPRequest.Answer {
    try await HTTPRequest.send("PUT", path, port: port, headers: headers, body: "")
  }

  private static func open(_ token: String, path: String = "/graphql/stream", port: Int) async throws
    -> StreamedResponse
  {
    try await StreamedResponse.send(
      HTTPRequestHead(
        method: "GET", target: path,
        headers: HTTPHeaders([
          ("Host", "127.0.0.1:\(port)"), ("Accept", "text/event-stream"), ("X-GraphQL-Event-Stream-Token", token),
        ])), body: nil, readingEvents: true, port: port)
  }

  private static func post(
    _ query: String, _ id: String?, _ token: String, path: String = "/graphql/stream", port: Int,
    extensions: JSONObject = [:]
  ) async throws -> HTTPRequest.Answer {
    var extensions = extensions
    if let id { extensions["operationId"] = .string(id) }
    let body: JSONValue = ["query": .string(query), "extensions": .object(extensions)]
    return try await HTTPRequest.send(
      "POST", path, port: port, headers: [("Content-Type", "application/json"), (header, token)],
      body: String(decoding: body.serialized(), as: UTF8.self))
  }

  private static func delete(_ id: String?, _ token: String, port: Int) async throws -> Int {
    try await HTTPRequest.send(
      "DELETE", "/graphql/stream" + (id.map { "?operationId=\($0)" } ?? ""), port: port, headers: [(header, token)]
    ).status
  }

  /// Events until the last of each named operation has completed: name and data.
  private static func events(_ stream: StreamedResponse, completing ids: Set<String>) async -> [(String, JSONValue)] {
    var left = ids
    let heard = await stream.heard {
      guard case .event(let event) = $0, event.name == "complete" else { return false }
      left.remove((try? JSONValue(parsing: event.data))?["id"]?.string ?? "")
      return left.isEmpty
    }
    return heard.compactMap {
      if case .event(let event) = $0 { (event.name, (try? JSONValue(parsing: event.data)) ?? .null) } else { nil }
    }
  }

  @Test(arguments: ["/graphql", "/graphql/stream"]) func `operations of every kind share one stream`(path: String)
    async throws
  {
    try await Self.with { server in
      let port = server.port
      let reserved = try await Self.reserve(path, port: port)
      #expect(reserved.status == 201 && reserved.head.lowercased().contains("content-type: text/plain"))
      let token = reserved.text
      let stream = try await Self.open(token, path: path, port: port)
      let opened = await stream.heard { $0 == .heartbeat }
      #expect(opened.first == .head(status: 200, contentType: "text/event-stream"))
      let operations = [
        ("a", "subscription { tick(upTo: 2) }"), ("b", "mutation { createNote(input: {text: \"x\"}) { text } }"),
        ("c", "{ __typename }"),
      ]
      for (id, query) in operations {
        let answer = try await Self.post(query, id, token, path: path, port: port)
        #expect(answer.status == 202 && answer.text.isEmpty)
      }
      let events = await Self.events(stream, completing: ["a", "b", "c"])
      func of(_ id: JSONValue) -> [JSONValue] {
        events.filter { $0.1["id"] == id && $0.0 == "next" }.map { $0.1["payload"] ?? .null }
      }
      #expect(of("a") == [["data": ["tick": 0]], ["data": ["tick": 1]]])
      #expect(of("b") == [["data": ["createNote": ["text": "x"]]]])
      #expect(of("c") == [["data": ["__typename": "Query"]]])
      #expect(events.filter { $0.0 == "complete" }.map(\.1).allSatisfy { $0.object?.count == 1 })
      stream.abort()
    }
  }

  @Test func `what was asked before the stream was opened runs when it is, and has missed nothing`() async throws {
    try await Self.with { server in
      let port = server.port
      let token = try await Self.reserve(port: port).text
      let asked = try await Self.post("subscription { onCreateNote { text } }", "s", token, port: port)
      #expect(asked.status == 202)
      #expect(try await Self.post("{ __typename }", "s", token, port: port).status == 409)
      #expect(try await Self.post("{ __typename }", "gone", token, port: port).status == 202)
      #expect(try await Self.delete("gone", token, port: port) == 200)
      _ = try await HTTPRequest.graphql("mutation { createNote(input: {text: \"early\"}) { id } }", port: port)
      let stream = try await Self.open(token, port: port)
      let heard = await stream.heard { if case .event = $0 { true } else { false } }
      guard case .event(let event)? = heard.last else {
        Issue.record("\(heard)")
        return
      }
      #expect(
        try JSONValue(parsing: event.data) == ["id": "s", "payload": ["data": ["onCreateNote": ["text": "early"]]]])
      stream.abort()
    }
  }

  @Test func `a deleted operation ends its source, the others continue`() async throws {
    let (ends, told) = AsyncStream<Void>.makeStream()
    try await Self.with(told) { server in
      let port = server.port
      let token = try await Self.reserve(port: port).text
      let stream = try await Self.open(token, port: port)
      #expect(try await Self.post("subscription { forever }", "f", token, port: port).status == 202)
      _ = await stream.heard { if case .event = $0 { true } else { false } }
      #expect(try await Self.delete("f", token, port: port) == 200)
      var endings = ends.makeAsyncIterator()
      await endings.next()
      #expect(try await Self.delete("f", token, port: port) == 200)
      #expect(try await Self.post("subscription { tick(upTo: 1) }", "f", token, port: port).status == 202)
      #expect(await Self.events(stream, completing: ["f"]).count == 2)
      stream.abort()
    }
  }

  @Test func `a stream that is dropped ends its operations, and its token with them`() async throws {
    let (ends, told) = AsyncStream<Void>.makeStream()
    try await Self.with(told) { server in
      let port = server.port
      let token = try await Self.reserve(port: port).text
      let stream = try await Self.open(token, port: port)
      #expect(try await Self.post("subscription { forever }", "f", token, port: port).status == 202)
      _ = await stream.heard { if case .event = $0 { true } else { false } }
      stream.abort()
      var endings = ends.makeAsyncIterator()
      await endings.next()
      var status = 0
      repeat {
        try Task.checkCancellation()
        status = try await Self.post("{ __typename }", "g", token, port: port).status
      } while status != 404
      #expect(try await Self.delete("g", token, port: port) == 404)
    }
  }

  @Test func `wrong requests are refused by their status`() async throws {
    try await Self.with(nil, { $0.limits.session.operationsPerConnection = 2 }) { server in
      let port = server.port
      let token = try await Self.reserve(port: port).text
      #expect(try await Self.reserve(headers: [(Self.header, token)], port: port).status == 409)
      let unwilling = try await HTTPRequest.send(
        "GET", "/graphql/stream?token=\(token)", port: port, headers: [("Accept", "application/json")])
      #expect(unwilling.status == 400)
      let gibberish = try await HTTPRequest.send(
        "GET", "/graphql/stream?token=\(token)", port: port, headers: [("Accept", "gibberish")])
      #expect(gibberish.status == 406)
      let stream = try await Self.open(token, port: port)
      _ = await stream.heard { $0 == .heartbeat }
      let again = try await HTTPRequest.send(
        "GET", "/graphql/stream?token=\(token)", port: port, headers: [("Accept", "text/event-stream")])
      #expect(again.status == 409)
      let unknown = try await HTTPRequest.send(
        "GET", "/graphql/stream?token=nobody", port: port, headers: [("Accept", "text/event-stream")])
      #expect(unknown.status == 404)
      #expect(try await Self.post("{ __typename }", "1", "nobody", port: port).status == 404)
      #expect(try await Self.post("{ __typename }", nil, token, port: port).status == 400)
      #expect(try await Self.post("{ __typename }", "", token, port: port).status == 400)
      #expect(
        try await Self.post("{ __typename }", String(repeating: "x", count: 300), token, port: port).status == 400)
      let invalid = try await Self.post("{ nothing }", "1", token, port: port)
      #expect(invalid.status == 400 && invalid.json["errors"]?[0]?["locations"] != nil)
      let text = try await HTTPRequest.send(
        "POST", "/graphql/stream", port: port, headers: [("Content-Type", "text/plain"), (Self.header, token)],
        body: "{}")
      #expect(text.status == 415)
      #expect(try await Self.delete(nil, token, port: port) == 400)
      #expect(try await HTTPRequest.send("DELETE", "/graphql/stream?operationId=1", port: port).status == 404)
      let nothing = try await HTTPRequest.send(
        "POST", "/graphql/stream", port: port, headers: [(Self.header, "nobody")])
      #expect(nothing.status == 404)
      #expect(try await Self.post("subscription { forever }", "1", token, port: port).status == 202)
      #expect(try await Self.post("subscription { forever }", "1", token, port: port).status == 409)
      #expect(try await Self.post("subscription { forever }", "2", token, port: port).status == 202)
      #expect(try await Self.post("subscription { forever }", "3", token, port: port).status == 429)
      stream.abort()
    }
  }

  @Test func `a stream may be opened by POST, and operations may be numbered`() async throws {
    try await Self.with { server in
      let port = server.port
      let token = try await Self.reserve(port: port).text
      let stream = try await StreamedResponse.send(
        HTTPRequestHead(
          method: "POST", target: "/graphql",
          headers: HTTPHeaders([
            ("Host", "127.0.0.1:\(port)"), ("Accept", "text/event-stream"), (Self.header, token),
          ])), body: [], readingEvents: true, port: port)
      #expect(await stream.heard { $0 == .heartbeat }.first == .head(status: 200, contentType: "text/event-stream"))
      let numbered: JSONObject = ["operationId": 7]
      #expect(try await Self.post("{ __typename }", nil, token, port: port, extensions: numbered).status == 202)
      #expect(await Self.events(stream, completing: ["7"]).first?.1["id"] == "7")
      stream.abort()
    }
  }

  @Test func `a request for events with an unknown token is an operation of its own`() async throws {
    try await Self.with { server in
      let headers = [("Accept", "text/event-stream"), (Self.header, "my own")]
      let got = try await HTTPRequest.send(
        "GET", "/graphql/stream?query=%7B__typename%7D", port: server.port, headers: headers)
      let posted = try await HTTPRequest.send(
        "POST", "/graphql", port: server.port, headers: headers + [("Content-Type", "application/json")],
        body: #"{"query":"{ __typename }"}"#)
      for answer in [got, posted] {
        #expect(answer.status == 200 && answer.text.contains("event: next") && answer.text.contains("event: complete"))
      }
    }
  }

  @Test func `reservations are bounded in number and time`() async throws {
    let adjust: (inout ServerConfiguration) -> Void = {
      $0.limits.http.reservedStreams = 1
      $0.limits.http.streamReservationTimeout = .milliseconds(50)
    }
    try await Self.with(nil, adjust) { server in
      let token = try await Self.reserve(port: server.port).text
      #expect(token.count == 36)
      var statuses: Set<Int> = []
      repeat {
        try Task.checkCancellation()
        statuses.insert(try await Self.reserve(port: server.port).status)
      } while !statuses.contains(201)
      #expect(statuses.isSubset(of: [201, 429]))
      #expect(try await Self.post("{ __typename }", "1", token, port: server.port).status == 404)
    }
  }

  @Test func `a stopping server ends each operation with an error, and completes none`() async throws {
    let (heard, tell) = AsyncStream<[StreamedResponse.Heard]>.makeStream()
    try await Self.with { server in
      let token = try await Self.reserve(port: server.port).text
      let stream = try await Self.open(token, port: server.port)
      _ = await stream.heard { $0 == .heartbeat }
      #expect(
        try await Self.post("subscription { onCreateNote { id } }", "s", token, port: server.port).status == 202)
      async let all = stream.all()
      await server.stop()
      tell.yield(await all)
    }
    var iterator = heard.makeAsyncIterator()
    let all = await iterator.next() ?? []
    let events = all.compactMap { if case .event(let event) = $0 { event } else { nil } }
    #expect(events.count == 1 && events.first?.name == "next", "\(all)")
    let text = String(decoding: events.first?.data ?? [], as: UTF8.self)
    #expect(text.contains("STREAM_ENDED"))
    #expect(all.last == .ended)
  }
}
