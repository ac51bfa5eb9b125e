import MartletGraphQLWire
import MartletJSON
import MartletServer
import Testing

/// AppSync's real-time protocol on real sockets.
@Suite(.timeLimit(.minutes(1))) struct AppSyncSocketTests {
  private static let schema = "type Note @model { id: ID! text: String stars: Int }"
  private static let initialise = #"{"type":"connection_init"}"#

  private static func blob(_ key: String) -> JSONObject { ["host": "api.example", "x-api-key": .string(key)] }

  private static func open(
    _ server: GraphQLServer, _ passing: AppSyncRealtime.Passing = .subprotocol, key: String = "secret",
    path: String = "/graphql/realtime"
  ) async throws -> RawSocket {
    let opening = AppSyncRealtime.Opening(passing, authorization: blob(key), target: path)
    return try await RawSocket.open(
      port: server.port, subprotocols: opening.subprotocols, headers: opening.headers.map { ($0.name, $0.value) },
      target: opening.target)
  }

  private static func start(
    _ id: String, _ query: String = "subscription { onCreateNote { text } }", variables: JSONObject = [:],
    key: String? = "secret"
  ) -> String {
    let data = JSONValue.object(["query": .string(query), "variables": .object(variables)])
    let extensions: JSONValue = key.map { ["authorization": .object(blob($0))] } ?? [:]
    let message: JSONValue = [
      "id": .string(id), "type": "start", "payload": ["data": .string("\(data)"), "extensions": extensions],
    ]
    return "\(message)"
  }

  private static func acknowledged(_ socket: RawSocket) async throws {
    socket.send(initialise)
    #expect(
      try await socket.message() == ["type": "connection_ack", "payload": ["connectionTimeoutMs": 300_000]])
    #expect(try await socket.message() == ["type": "ka"])
  }

  private static func guarded(
    _ adjust: @escaping (inout ServerConfiguration) -> Void = { _ in },
    _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    try await Served.with(
      schema,
      {
        $0.access = .keys(try Served.access("secret"))
        adjust(&$0)
      }, body)
  }

  private static let header = [("x-api-key", "secret")]

  @Test(arguments: [AppSyncRealtime.Passing.query, .subprotocol, .headers], ["/graphql", "/graphql/realtime"])
  func `the authorization is taken in each of its three places, on both paths`(
    passing: AppSyncRealtime.Passing, path: String
  ) async throws {
    // Header fields alone do not distinguish AppSync from the older protocol: the path does.
    if passing == .headers, path == "/graphql" { return }
    try await Self.guarded { server in
      let socket = try await Self.open(server, passing, path: path)
      #expect(socket.subprotocol == "graphql-ws")
      try await Self.acknowledged(socket)
      socket.abort()
      let stranger = try await Self.open(server, passing, key: "guess", path: path)
      stranger.send(Self.initialise)
      let refusal = try await stranger.message()
      #expect(refusal["type"] == "connection_error")
      #expect(refusal["payload"]?["errors"]?[0]?["errorType"] == "UnauthorizedException")
      #expect(await stranger.closeCode() == 1008)
    }
  }

  @Test func `a subscription is confirmed, served, stopped`() async throws {
    try await Self.guarded { server in
      let socket = try await Self.open(server)
      try await Self.acknowledged(socket)
      socket.send(Self.start("a"))
      #expect(try await socket.message() == ["id": "a", "type": "start_ack"])
      for text in ["1", "2"] {
        try await GraphQLWSSocketTests.create(text, server, headers: Self.header)
        #expect(
          try await socket.message()
            == ["id": "a", "type": "data", "payload": ["data": ["onCreateNote": ["text": .string(text)]]]])
      }
      socket.send(#"{"id":"a","type":"stop"}"#)
      #expect(try await socket.message() == ["id": "a", "type": "complete"])
      try await GraphQLWSSocketTests.create("3", server, headers: Self.header)
      let metrics = try await HTTPRequest.send("GET", "/metrics", port: server.port, headers: Self.header).text
      #expect(metrics.contains("\nmartlet_subscriptions 0\n"))
      socket.send(Self.start("a"))
      #expect(try await socket.message() == ["id": "a", "type": "start_ack"])
      socket.abort()
    }
  }

  @Test func `each start shows its own authorization; a bad one ends that subscription alone`() async throws {
    try await Self.guarded { server in
      let socket = try await Self.open(server)
      try await Self.acknowledged(socket)
      socket.send(Self.start("bad", key: "guess"), Self.start("good"), Self.start("none", key: nil))
      let error = try await socket.message()
      #expect(error["id"] == "bad" && error["type"] == "error")
      #expect(error["payload"]?["errors"]?[0]?["errorType"] == "UnauthorizedException")
      #expect(error["payload"]?["errors"]?[0]?["errorCode"] == 401)
      #expect(try await socket.message() == ["id": "good", "type": "start_ack"])
      #expect(try await socket.message() == ["id": "none", "type": "start_ack"])
      socket.abort()
    }
  }

  @Test func `what cannot run is an error of its own with its type`() async throws {
    try await Self.guarded({ $0.limits.session.operationsPerConnection = 1 }) { server in
      let socket = try await Self.open(server)
      try await Self.acknowledged(socket)
      let rows: [(query: String, type: String)] = [
        ("{ listNotes { items { id } } }", "UnsupportedOperation"),
        ("mutation { createNote(input: {}) { id } }", "UnsupportedOperation"),
        ("{", "ValidationError"), ("subscription { nothing }", "ValidationError"),
      ]
      for row in rows {
        socket.send(Self.start("x", row.query))
        let error = try await socket.message()
        #expect(error["id"] == "x" && error["type"] == "error")
        #expect(error["payload"]?["errors"]?[0]?["errorType"]?.string == row.type, "\(error)")
      }
      socket.send(Self.start("1"), Self.start("1"), Self.start("2"))
      #expect(try await socket.message() == ["id": "1", "type": "start_ack"])
      #expect(
        try await socket.message()["payload"]?["errors"]?[0]?["errorType"] == "DuplicatedOperationError")
      #expect(
        try await socket.message()["payload"]?["errors"]?[0]?["errorType"] == "MaxSubscriptionsReachedError")
      socket.abort()
    }
  }

  @Test func `a filter means what AppSync means by it, or is refused`() async throws {
    try await Self.guarded { server in
      let socket = try await Self.open(server)
      try await Self.acknowledged(socket)
      let query =
        "subscription F($f: ModelSubscriptionNoteFilterInput) { onCreateNote(filter: $f) { text } }"
      let ambiguous: [JSONObject] = [
        ["f": ["stars": ["ge": 2, "le": 4]]],
        ["f": ["or": [["text": ["eq": "x"]], ["and": [["stars": ["gt": 1, "lt": 3]]]]]]],
      ]
      for variables in ambiguous {
        socket.send(Self.start("x", query, variables: variables))
        let error = try await socket.message()["payload"]?["errors"]?[0]
        #expect(error?["errorType"] == "BadRequestException")
        #expect(error?["extensions"]?["code"] == "AMBIGUOUS_FILTER")
        #expect(error?["message"]?.string?.contains("stars") == true)
      }
      socket.send(
        Self.start("y", query, variables: ["f": ["or": [["stars": ["ge": 4]], ["text": ["beginsWith": "a"]]]]]))
      #expect(try await socket.message() == ["id": "y", "type": "start_ack"])
      for (text, stars) in [("b", 1), ("abc", 1), ("c", 5)] {
        let answer = try await HTTPRequest.graphql(
          #"mutation { createNote(input: {text: "\#(text)", stars: \#(stars)}) { text stars } }"#, port: server.port,
          headers: Self.header)
        try #require(answer.json["errors"] == nil)
      }
      for text in ["abc", "c"] {
        #expect(try await socket.message()["payload"]?["data"]?["onCreateNote"]?["text"]?.string == text)
      }
      socket.abort()
      // Elsewhere several operators on one field all have to hold.
      let other = try await RawSocket.open(port: server.port, headers: Self.header)
      other.send(#"{"type":"connection_init","payload":{"martlet":{"cursors":true}}}"#)
      _ = try await other.message("connection_ack")
      other.subscribe("1", query, variables: ambiguous[0])
      _ = try await other.message("ready")
      other.abort()
    }
  }

  @Test func `an authorization that cannot be read is answered with 400, the path without an upgrade with 426`()
    async throws
  {
    try await Self.guarded { server in
      let answer = try await HTTPRequest.send(
        "GET", "/graphql/realtime?header=%21", port: server.port,
        headers: [
          ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
          ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="), ("Sec-WebSocket-Protocol", "graphql-ws"),
        ])
      #expect(answer.status == 400 && answer.text.contains("header"))
      #expect(try await HTTPRequest.send("GET", "/graphql/realtime", port: server.port).status == 426)
    }
  }

  @Test func `silence and a flood end the connection, a broken message does not`() async throws {
    try await Self.guarded({
      $0.limits.webSocket.connectionInitTimeout = .milliseconds(50)
      // On a loaded machine the grace could end before the timeout is looked at, and the start would be served.
      $0.limits.webSocket.appSyncInitGrace = nil
    }) { server in
      let silent = try await Self.open(server)
      silent.send(Self.start("ignored"))
      #expect(try await silent.message()["payload"]?["errors"]?[0]?["errorType"] == "RequestTimeoutException")
      #expect(await silent.closeCode() == 1008)
      let broken = try await Self.open(server)
      try await Self.acknowledged(broken)
      broken.send("nonsense", Self.start("1"))
      let error = try await broken.message()
      #expect(error["type"] == "error" && error["id"] == nil)
      #expect(try await broken.message() == ["id": "1", "type": "start_ack"])
      broken.send([String](repeating: "nonsense", count: 200))
      #expect(await broken.closeCode() == 1008)
    }
  }
}
