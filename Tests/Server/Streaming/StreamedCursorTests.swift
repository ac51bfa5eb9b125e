import MartletGraphQLWire
import MartletJSON
import MartletServer
import MartletVocabulary
import MartletWire
import Testing

/// Cursors on subscriptions over HTTP, for clients that ask.
@Suite(.timeLimit(.minutes(1))) struct StreamedCursorTests {
  private static let schema = "type Note @model { id: ID! text: String } type Subscription { once: Int }"
  private static let query = "subscription { onCreateNote { text } }"
  private static let asks: JSONObject = ["martlet": ["cursors": true]]

  private static func with(
    _ adjust: (inout ServerConfiguration) -> Void = { _ in }, _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    try await Served.with(
      schema,
      {
        $0.resolvers = {
          $0.stream("Subscription", "once") { _ in
            AsyncStream<JSONValue> { continuation in
              continuation.yield(1)
              continuation.finish()
            }
          }
        }
        adjust(&$0)
      }, body)
  }

  private static func create(_ text: String, _ server: GraphQLServer) async throws {
    _ = try await HTTPRequest.graphql("mutation { createNote(input: {text: \"\(text)\"}) { id } }", port: server.port)
  }

  /// What a result says beside its data.
  private static func said(_ heard: StreamedResponse.Heard?) -> ResultContinuity? {
    switch heard {
    case .result(let value): ResultContinuity(value.serialized())
    case .event(let event): ResultContinuity(event.data)
    default: nil
    }
  }

  private static func next(_ stream: StreamedResponse) async -> StreamedResponse.Heard? {
    await stream.heard {
      switch $0 {
      case .result, .event: true
      default: false
      }
    }.last
  }

  private static func text(_ heard: StreamedResponse.Heard?) -> String? {
    switch heard {
    case .result(let value): value["data"]?["onCreateNote"]?["text"]?.string
    case .event(let event): (try? JSONValue(parsing: event.data))?["data"]?["onCreateNote"]?["text"]?.string
    default: nil
    }
  }

  @Test(arguments: StreamedSubscriptionTests.forms) func `ready, then a cursor with each event, and events resume`(
    accept: String
  ) async throws {
    try await Self.with { server in
      let first = try await StreamedResponse.open(Self.query, accept: accept, extensions: Self.asks, port: server.port)
      guard case .ready(let start?, _)? = Self.said(await Self.next(first)) else {
        Issue.record("no ready")
        return
      }
      for text in ["a", "b"] { try await Self.create(text, server) }
      let a = await Self.next(first)
      guard case .event(let seen, endsTransaction: true)? = Self.said(a) else {
        Issue.record("no cursor: \(String(describing: a))")
        return
      }
      #expect(Self.text(a) == "a" && seen.offset == start.offset + 1)
      first.abort()
      try await Self.create("c", server)
      let again = try await StreamedResponse.open(
        Self.query, accept: accept, extensions: ["martlet": ["resume": .string(seen.description)]], port: server.port)
      #expect(Self.text(await Self.next(again)) == "b")
      #expect(Self.text(await Self.next(again)) == "c")
      #expect(Self.said(await Self.next(again)) == .ready(Cursor(term: seen.term, offset: seen.offset + 2)))
      again.abort()
    }
  }

  @Test(arguments: StreamedSubscriptionTests.forms) func `a client that does not negotiate gets none of it`(
    accept: String
  ) async throws {
    try await Self.with({ $0.limits.session.positionInterval = .milliseconds(10) }) { server in
      let stream = try await StreamedResponse.open(
        Self.query, accept: accept, headers: [("Last-Event-ID", "17")], port: server.port)
      _ = await stream.heard { $0 == .heartbeat }
      try await Self.create("a", server)
      #expect(await Self.next(stream) == .result(["data": ["onCreateNote": ["text": "a"]]]))
      stream.abort()
    }
  }

  @Test(arguments: StreamedSubscriptionTests.forms, ["f00-1", "later"])
  func `a cursor of another log, and one that is ahead, is a gap in its place`(accept: String, cursor: String)
    async throws
  {
    try await Self.with { server in
      try await Self.create("a", server)
      var resume = cursor
      if cursor == "later" {
        let stream = try await StreamedResponse.open(
          Self.query, accept: accept, extensions: Self.asks, port: server.port)
        guard case .ready(let here?, _)? = Self.said(await Self.next(stream)) else { return }
        resume = Cursor(term: here.term, offset: here.offset + 100).description
        stream.abort()
      }
      let stream = try await StreamedResponse.open(
        Self.query, accept: accept, extensions: ["martlet": ["cursors": true, "resume": .string(resume)]],
        port: server.port)
      guard case .gap(let gap)? = Self.said(await Self.next(stream)) else {
        Issue.record("no gap")
        return
      }
      #expect(gap.reason == "lineage" && gap.from == Cursor(resume))
      #expect(Self.said(await Self.next(stream)) == .ready(gap.to))
      try await Self.create("b", server)
      #expect(Self.text(await Self.next(stream)) == "b")
      stream.abort()
    }
  }

  @Test func `an event stream names its events, and Last-Event-ID resumes after one`() async throws {
    try await Self.with { server in
      let target = "/graphql/stream?query=subscription%7BonCreateNote%7Btext%7D%7D"
      func open(_ last: String?) async throws -> StreamedResponse {
        var headers = HTTPHeaders([("Host", "127.0.0.1:\(server.port)"), ("Accept", "text/event-stream")])
        if let last { headers.append("Last-Event-ID", last) }
        return try await StreamedResponse.send(
          HTTPRequestHead(
            method: "GET", target: target + "&extensions=%7B%22martlet%22:%7B%22cursors%22:true%7D%7D",
            headers: headers), body: nil, readingEvents: true, port: server.port)
      }
      let first = try await open(nil)
      guard case .event(let ready)? = await Self.next(first) else { return }
      #expect(Self.said(.event(ready))?.place?.description == ready.id)
      try await Self.create("a", server)
      guard case .event(let a)? = await Self.next(first) else { return }
      #expect(Self.text(.event(a)) == "a" && a.id != ready.id && a.name == "next")
      first.abort()
      try await Self.create("b", server)
      let second = try await open(a.id)
      #expect(Self.text(await Self.next(second)) == "b")
      second.abort()
      let lost = try await open("from somewhere else")
      guard case .gap? = Self.said(await Self.next(lost)) else {
        Issue.record("no gap")
        return
      }
      lost.abort()
    }
  }

  @Test(arguments: StreamedSubscriptionTests.forms) func `positions are sent while nothing happens`(accept: String)
    async throws
  {
    try await Self.with({ $0.limits.session.positionInterval = .milliseconds(20) }) { server in
      let stream = try await StreamedResponse.open(
        Self.query, accept: accept, extensions: Self.asks, port: server.port)
      guard case .ready(let place?, _)? = Self.said(await Self.next(stream)) else {
        Issue.record("no ready")
        return
      }
      #expect(Self.said(await Self.next(stream)) == .position(place))
      stream.abort()
    }
  }

  @Test(arguments: StreamedSubscriptionTests.forms) func `a stream of the program's own is ready and has no place`(
    accept: String
  ) async throws {
    try await Self.with { server in
      let stream = try await StreamedResponse.open(
        "subscription { once }", accept: accept, extensions: Self.asks, port: server.port)
      #expect(Self.said(await Self.next(stream)) == .ready(nil))
      #expect(await Self.next(stream) == .result(["data": ["once": 1]]))
      #expect(await stream.all().suffix(2) == [.completed, .ended])
    }
  }

  @Test func `operations that share a stream ask for themselves`() async throws {
    try await Self.with { server in
      let token = try await HTTPRequest.send("PUT", "/graphql/stream", port: server.port, body: "").text
      let stream = try await StreamedResponse.send(
        HTTPRequestHead(
          method: "GET", target: "/graphql/stream?token=\(token)",
          headers: HTTPHeaders([("Host", "127.0.0.1:\(server.port)"), ("Accept", "text/event-stream")])),
        body: nil, readingEvents: true, port: server.port)
      for (id, extensions) in [("plain", [:] as JSONObject), ("asks", Self.asks)] {
        var extensions = extensions
        extensions["operationId"] = .string(id)
        let body: JSONValue = ["query": .string(Self.query), "extensions": .object(extensions)]
        let answer = try await HTTPRequest.send(
          "POST", "/graphql/stream?token=\(token)", port: server.port, headers: [("Content-Type", "application/json")],
          body: String(decoding: body.serialized(), as: UTF8.self))
        #expect(answer.status == 202)
      }
      func next() async throws -> (id: String?, payload: JSONValue) {
        guard case .event(let event)? = await Self.next(stream) else { return (nil, .null) }
        #expect(event.id.isEmpty)
        let data = try JSONValue(parsing: event.data)
        return (data["id"]?.string, data["payload"] ?? .null)
      }
      let ready = try await next()
      #expect(ready.id == "asks" && ready.payload["extensions"]?["martlet"]?["ready"] != nil)
      try await Self.create("a", server)
      for _ in 0..<2 {
        let event = try await next()
        #expect(event.payload["data"] == ["onCreateNote": ["text": "a"]])
        #expect((event.payload["extensions"] != nil) == (event.id == "asks"))
      }
      stream.abort()
    }
  }
}
