import MartletGraphQLWire
import MartletJSON
import MartletServer
import Testing

/// What one connection, identity and address may use, at every door.
@Suite(.timeLimit(.minutes(1))) struct CallerLimitTests {
  private static let schema = """
    type Note @model { id: ID! text: String }
    type Query { one: Int many: [Note] }
    """

  private static func with(
    _ recorder: LogRecorder = LogRecorder(), _ limits: (inout ServerLimits.Callers) -> Void,
    _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    let access = try Served.access("ada", "bob")
    try await Served.with(
      schema,
      { configuration in
        configuration.access = .keys(access)
        configuration.trustedProxies = ["127.0.0.1"]
        configuration.audit = recorder.log
        limits(&configuration.limits.callers)
        configuration.resolvers = { resolvers in
          resolvers.compute("Query", "one") { _ in 1 }
          resolvers.compute("Query", "many") { _ in JSONValue.null }
        }
      }, body)
  }

  private static func ask(
    _ key: String, from address: String = "192.0.2.1", _ port: Int, _ query: String = "{ one }"
  ) async throws -> HTTPRequest.Answer {
    try await HTTPRequest.graphql(
      query, port: port, headers: [("x-api-key", key), ("X-Forwarded-For", address)])
  }

  @Test
  func `operations beyond an identity's rate are refused with 429 and when to come back, and no other identity's`()
    async throws
  {
    let recorder = LogRecorder()
    try await Self.with(recorder) {
      $0.operationsPerSecondPerIdentity = 1
      $0.burst = .seconds(1_000)
    } _: { server in
      // The burst is so long that the test's own time does not matter.
      for _ in 0..<3 {
        let answer = try await Self.ask("ada", server.port)
        #expect(answer.status == 200)
      }
    }
    try await Self.with(recorder) {
      $0.operationsPerSecondPerIdentity = 1
      $0.burst = .milliseconds(1)
    } _: { server in
      // A rate of one: the second within a second is refused. Others are not.
      var answers: [HTTPRequest.Answer] = []
      while answers.last?.status != 429, answers.count < 100 { answers.append(try await Self.ask("ada", server.port)) }
      let refused = try #require(answers.last)
      #expect(refused.status == 429)
      #expect(refused.head.contains("Retry-After: 1"))
      let extensions = refused.json["errors"]?[0]?["extensions"]
      #expect(extensions?["code"] == "RATE_LIMITED")
      #expect(extensions?["limit"] == "callers.operationsPerSecondPerIdentity")
      #expect((extensions?["retryAfterMs"]?.int).map { (1...1_000).contains($0) } == true)
      #expect(try await Self.ask("bob", server.port).status == 200)
      let metrics = try await HTTPRequest.send(
        "GET", "/metrics", port: server.port, headers: [("x-api-key", "bob")]
      ).text
      #expect(metrics.contains("martlet_caller_limits_total{limit=\"callers.operationsPerSecondPerIdentity\"} 1\n"))
      let line = recorder.entries.last { $0.message == "A limit of the caller was reached." }
      #expect(line?.metadata.map(\.value).contains("192.0.2.1") == true)
      #expect(line?.metadata.contains { $0.key == .subject && $0.value == "ada" } == true)
    }
  }

  @Test func `after a refusal the next request of the connection is read when the pause is over, and others at once`()
    async throws
  {
    let access = try Served.access("ada", "bob")
    let server = try CountedServer(schema: Self.schema, isClocked: true) {
      $0.access = .keys(access)
      $0.limits.callers.operationsPerSecondPerIdentity = 1
      $0.limits.callers.burst = .milliseconds(1)
      $0.limits.callers.refusedPause = .milliseconds(100)
      $0.resolvers = {
        $0.compute("Query", "one") { _ in 1 }
        $0.compute("Query", "many") { _ in JSONValue.null }
      }
    }
    let port = server.port
    func request(_ key: String, _ more: String = "") -> String {
      "GET /graphql?query=%7Bone%7D HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nx-api-key: \(key)\r\n\(more)\r\n"
    }
    let before = await server.counts()
    // The clock stands still: the first is executed, the second refused, and the third waits.
    async let answers = HTTPRequest.raw(
      request("ada") + request("ada") + request("ada", "Connection: close\r\n"), port: port)
    while await (server.counts() - before)[.requests] < 2 { await Task.yield() }
    let other = try await HTTPRequest.raw(request("bob", "Connection: close\r\n"), port: port)
    #expect(other.status == 200)
    await server.advance(.milliseconds(99))
    #expect(await (server.counts() - before)[.requests] == 3)
    await server.advance(.milliseconds(1))
    let text = try await answers
    let statuses = (text.head + text.text).split(separator: "HTTP/1.1 ").compactMap { Int($0.prefix(3)) }
    #expect(statuses == [200, 429, 429], "\(statuses)")
    await server.stop()
  }

  @Test func `an address is the client's that a trusted proxy names, and what a client claims itself does not count`()
    async throws
  {
    try await Self.with {
      $0.operationsPerSecondPerAddress = 1
      $0.burst = .milliseconds(1)
    } _: { server in
      var statuses: [Int] = []
      while statuses.last != 429, statuses.count < 100 {
        // The left part is the client's own word.
        statuses.append(try await Self.ask("ada", from: "9.9.9.\(statuses.count), 192.0.2.1", server.port).status)
      }
      #expect(statuses.last == 429)
      #expect(try await Self.ask("ada", from: "192.0.2.2", server.port).status == 200)
      #expect(try await Self.ask("ada", from: "not an address", server.port).status == 400)
    }
  }

  @Test func `cost and bytes are counted, in batches and over sockets as well`() async throws {
    try await Self.with {
      $0.costPerSecondPerIdentity = 1
      $0.burst = .milliseconds(1)
    } _: { server in
      let dear = "{ listNotes(limit: 1000) { items { id text } } }"
      #expect(try await Self.ask("ada", server.port, dear).status == 200, "the first is allowed, and paid for")
      let refused = try await Self.ask("ada", server.port)
      #expect(refused.status == 429)
      #expect(refused.json["errors"]?[0]?["extensions"]?["limit"] == "callers.costPerSecondPerIdentity")
      let batch = try await HTTPRequest.send(
        "POST", "/graphql", port: server.port,
        headers: [("x-api-key", "ada"), ("Content-Type", "application/json")],
        body: #"[{"query":"{ one }"},{"query":"{ one }"}]"#)
      for position in 0..<2 {
        #expect(batch.json[position]?["errors"]?[0]?["extensions"]?["code"] == "RATE_LIMITED")
      }
      let socket = try await RawSocket.open(port: server.port)
      socket.send(#"{"type":"connection_init","payload":{"x-api-key":"ada"}}"#)
      _ = try await socket.message("connection_ack")
      socket.subscribe("1", "{ one }")
      let error = try await socket.message("error")
      #expect(error["payload"]?[0]?["extensions"]?["limit"] == "callers.costPerSecondPerIdentity")
      socket.abort()
    }
    try await Self.with {
      $0.bytesPerSecondPerConnection = 1
      $0.burst = .milliseconds(1)
    } _: { server in
      let socket = try await RawSocket.open(port: server.port)
      socket.send(#"{"type":"connection_init","payload":{"x-api-key":"ada"}}"#)
      _ = try await socket.message("connection_ack")
      socket.subscribe("1", "{ one }")
      socket.subscribe("2", "{ one }")
      // The refusal may come before the result.
      var seen: [String: JSONValue] = [:]
      while seen.count < 2 {
        let message = try await socket.message()
        if let type = message["type"]?.string, type == "next" || type == "error" { seen[type] = message }
      }
      #expect(seen["next"]?["id"] == "1" && seen["error"]?["id"] == "2")
      #expect(
        seen["error"]?["payload"]?[0]?["extensions"]?["limit"] == "callers.bytesPerSecondPerConnection")
      // Another connection has a count of its own.
      #expect(try await Self.ask("ada", server.port).status == 200)
      socket.abort()
    }
  }

  @Test(arguments: Talk.all)
  func `connections and subscriptions of one identity are counted in every dialect, and freed when they end`(talk: Talk)
    async throws
  {
    try await Self.with {
      $0.connectionsPerIdentity = 1
      $0.subscriptionsPerIdentity = 1
    } _: { server in
      func open(_ key: String) async throws -> RawSocket {
        let socket = try await talk.open(server.port, authorization: ["x-api-key": .string(key)])
        socket.send(talk.initialise(["x-api-key": .string(key)]))
        return socket
      }
      let first = try await open("ada")
      _ = try await first.message(talk.dialect == .graphqlTransportWS ? "connection_ack" : "ka")
      let second = try await open("ada")
      if talk.dialect != .graphqlTransportWS { #expect(try await second.message()["type"] == "connection_error") }
      let codes: [Dialect: UInt16] = [.graphqlTransportWS: 4429, .graphqlWS: 1011, .appSync: 1008]
      #expect(await second.closeCode() == codes[talk.dialect])
      let other = try await open("bob")
      _ = try await other.message(talk.dialect == .graphqlTransportWS ? "connection_ack" : "ka")
      first.send(talk.start("1"), talk.start("2"))
      let error = try await first.message("error")
      #expect(error["id"] == "2")
      let text = String(decoding: (error["payload"] ?? .null).serialized(), as: UTF8.self)
      #expect(text.contains("callers.subscriptionsPerIdentity"), "\(text)")
      // What has ended makes room.
      first.send(talk.stop("1"), talk.start("3"))
      switch talk.dialect {
      case .graphqlTransportWS: while try await first.message("ready")["id"] != "3" {}
      case .appSync: while try await first.message("start_ack")["id"] != "3" {}
      case .graphqlWS:
        // Its answer comes after what was sent before it.
        first.send(talk.initialise(["x-api-key": "ada"]))
        _ = try await first.message("connection_ack")
      }
      _ = try await server.transaction { try $0.create("Note", ["text": "t"]) }
      #expect(try await first.message(talk.event)["id"] == "3")
      first.abort()
      other.abort()
    }
  }

  @Test func `without limits nothing is counted`() async throws {
    try await Self.with { _ in
    } _: { server in
      for _ in 0..<20 {
        let answer = try await Self.ask("ada", server.port)
        #expect(answer.status == 200)
      }
    }
  }
}
