import MartletJSON
import MartletServer
import Testing

/// The older `graphql-ws` on real sockets, with clients that know nothing else.
@Suite(.timeLimit(.minutes(1))) struct GraphQLWSSocketTests {
  static let schema = "type Note @model { id: ID! text: String }"
  static let initialise = #"{"type":"connection_init","payload":{}}"#
  static let start =
    #"{"id":"1","type":"start","payload":{"query":"subscription { onCreateNote { text } }","variables":null}}"#

  static func open(_ server: GraphQLServer, _ subprotocols: [String] = ["graphql-ws"]) async throws -> RawSocket {
    try await RawSocket.open(port: server.port, subprotocols: subprotocols)
  }

  static func create(_ text: String, _ server: GraphQLServer, headers: [(String, String)] = []) async throws {
    let answer = try await HTTPRequest.graphql(
      #"mutation { createNote(input: {text: "\#(text)"}) { id } }"#, port: server.port, headers: headers)
    try #require(answer.json["errors"] == nil && answer.status == 200, "\(answer.text)")
  }

  /// Returns when as many subscriptions are live.
  static func subscriptions(_ count: Int, _ server: GraphQLServer) async throws {
    while true {
      let text = try await HTTPRequest.send("GET", "/metrics", port: server.port).text
      if text.contains("\nmartlet_subscriptions \(count)\n") { return }
    }
  }

  @Test func `a client that does not wait for the acknowledgement is served after it`() async throws {
    try await Served.with(Self.schema) { server in
      let socket = try await Self.open(server)
      #expect(socket.subprotocol == "graphql-ws")
      socket.send(Self.initialise, Self.start)
      #expect(try await socket.message() == ["type": "connection_ack"])
      #expect(try await socket.message() == ["type": "ka"])
      try await Self.subscriptions(1, server)
      try await Self.create("a", server)
      try await Self.create("b", server)
      for text in ["a", "b"] {
        #expect(
          try await socket.message()
            == ["id": "1", "type": "data", "payload": ["data": ["onCreateNote": ["text": .string(text)]]]])
      }
      socket.send(#"{"id":"1","type":"stop"}"#)
      #expect(try await socket.message() == ["id": "1", "type": "complete"])
      // The server's source has stopped.
      try await Self.subscriptions(0, server)
      try await Self.create("c", server)
      socket.send(#"{"id":"2","type":"start","payload":{"query":"{ listNotes { items { text } } }"}}"#)
      let answer = try await socket.message()
      #expect(answer["type"] == "data" && answer["payload"]?["data"]?["listNotes"]?["items"]?.array?.count == 3)
      #expect(try await socket.message() == ["id": "2", "type": "complete"])
      socket.send(#"{"type":"connection_terminate","payload":null}"#)
      #expect(await socket.closeCode() == 1000)
    }
  }

  @Test func `compressed sockets get the same messages`() async throws {
    try await Served.with(Self.schema) { server in
      let socket = try await RawSocket.open(port: server.port, subprotocols: ["graphql-ws"], deflate: true)
      socket.send(Self.initialise, Self.start)
      _ = try await socket.message("ka")
      try await Self.subscriptions(1, server)
      let text = String(repeating: "long ", count: 100)
      try await Self.create(text, server)
      #expect(try await socket.message("data")["payload"]?["data"]?["onCreateNote"]?["text"]?.string == text)
      socket.abort()
    }
  }

  @Test(arguments: [["graphql-ws", "graphql-transport-ws"], ["graphql-transport-ws", "graphql-ws"]])
  func `a client that offers both gets the newer one`(subprotocols: [String]) async throws {
    try await Served.with(Self.schema) { server in
      let socket = try await Self.open(server, subprotocols)
      #expect(socket.subprotocol == "graphql-transport-ws")
      socket.send(Self.initialise)
      #expect(try await socket.message()["type"] == "connection_ack")
      socket.abort()
    }
  }

  @Test func `keep-alives come at the interval`() async throws {
    try await Served.with(Self.schema, { $0.limits.webSocket.keepAliveInterval = .milliseconds(20) }) { server in
      let socket = try await Self.open(server)
      socket.send(Self.initialise)
      #expect(try await socket.message()["type"] == "connection_ack")
      for _ in 0..<3 { #expect(try await socket.message() == ["type": "ka"]) }
      socket.abort()
    }
  }

  @Test func `an id started again replaces the running operation`() async throws {
    try await Served.with(Self.schema) { server in
      let socket = try await Self.open(server)
      socket.send(Self.initialise, Self.start, Self.start)
      _ = try await socket.message("ka")
      socket.send(#"{"id":"2","type":"start","payload":{"query":"{ listNotes { items { id } } }"}}"#)
      _ = try await socket.message("complete")
      try await Self.subscriptions(1, server)
      try await Self.create("a", server)
      #expect(try await socket.message()["payload"]?["data"]?["onCreateNote"]?["text"] == "a")
      socket.send(#"{"id":"1","type":"stop"}"#)
      #expect(try await socket.message() == ["id": "1", "type": "complete"])
      socket.abort()
    }
  }

  @Test func `a token in connection_init opens the socket, another is refused by connection_error and 1011`()
    async throws
  {
    try await Served.with(Self.schema, { $0.access = .keys(try Served.access("secret")) }) { server in
      for member in ["authToken", "Authorization", "authorization", "x-api-key"] {
        let socket = try await Self.open(server)
        socket.send(#"{"type":"connection_init","payload":{"\#(member)":"secret"}}"#)
        #expect(try await socket.message() == ["type": "connection_ack"])
        socket.abort()
      }
      for payload in [#"{"authToken":"guess"}"#, #"{"token":"secret"}"#, "{}"] {
        let stranger = try await Self.open(server)
        stranger.send(#"{"type":"connection_init","payload":\#(payload)}"#, Self.start)
        #expect(try await stranger.message() == ["type": "connection_error", "payload": ["message": "Forbidden"]])
        #expect(await stranger.closeCode() == 1011)
      }
    }
  }

  @Test func `the members that hold a token can be named`() async throws {
    try await Served.with(
      Self.schema,
      {
        $0.access = .keys(try Served.access("secret"))
        $0.credentialMembers = ["Ticket"]
      }
    ) { server in
      let socket = try await Self.open(server)
      socket.send(#"{"type":"connection_init","payload":{"ticket":"Bearer secret"}}"#)
      #expect(try await socket.message() == ["type": "connection_ack"])
      socket.abort()
      let other = try await Self.open(server)
      other.send(#"{"type":"connection_init","payload":{"authToken":"secret"}}"#)
      #expect(await other.closeCode() == 1011)
    }
  }

  @Test func `broken messages are answered, counted and logged once, and disturb no other client`() async throws {
    let log = LogRecorder()
    try await Served.with(
      Self.schema,
      {
        $0.limits.session.operationsPerConnection = 2
        $0.log = log.log
      }
    ) { server in
      let bystander = try await Self.open(server)
      bystander.send(Self.initialise, Self.start)
      _ = try await bystander.message("ka")
      try await Self.subscriptions(1, server)
      let socket = try await Self.open(server)
      socket.send(Self.initialise, "nonsense", #"{"type":"novel"}"#, #"{"type":"start","id":"x"}"#)
      _ = try await socket.message("ka")
      #expect(try await socket.message()["type"] == "connection_error")
      #expect(try await socket.message()["payload"]?["message"] == "Invalid message type! novel")
      #expect(
        try await socket.message() == ["id": "x", "type": "error", "payload": ["message": "start without payload"]])
      for id in ["a", "b", "c"] {
        socket.send(#"{"id":"\#(id)","type":"start","payload":{"query":"subscription { onCreateNote { text } }"}}"#)
      }
      #expect(
        try await socket.message() == [
          "id": "c", "type": "error",
          "payload": [
            "message": "This connection has 2 operations already", "extensions": ["code": "TOO_MANY_OPERATIONS"],
          ],
        ])
      for (id, query) in [("d", "{"), ("e", "{ nothing }")] {
        socket.send(#"{"id":"a","type":"stop"}"#, #"{"id":"\#(id)","type":"start","payload":{"query":"\#(query)"}}"#)
        let error = try await socket.message("error")
        #expect(error["id"]?.string == id && error["payload"]?["message"]?.string != nil)
      }
      let metrics = try await HTTPRequest.send("GET", "/metrics", port: server.port).text
      #expect(metrics.contains("\nmartlet_protocol_errors_total 4\n"))
      #expect(log.count(of: LogRecorder.violation) == 1)
      try await Self.create("a", server)
      #expect(try await bystander.message("data")["id"] == "1")
      socket.abort()
      bystander.abort()
    }
  }

  @Test func `silence, a flood of initialisations and a message over the limit end the socket`() async throws {
    try await Served.with(
      Self.schema,
      {
        $0.limits.webSocket.connectionInitTimeout = .milliseconds(50)
        $0.limits.webSocket.messageBytes = 1_000
      }
    ) { server in
      let silent = try await Self.open(server)
      #expect(try await silent.message()["type"] == "connection_error")
      #expect(await silent.closeCode() == 1011)
      let flood = try await Self.open(server)
      flood.send([String](repeating: Self.initialise, count: 100))
      #expect(await flood.closeCode() == 1002)
      let large = try await Self.open(server)
      large.send(Self.initialise, #"{"type":"start","id":"\#(String(repeating: "x", count: 2_000))"}"#)
      #expect(await large.closeCode() == 1009)
    }
  }

  @Test func `a shutdown closes with 1001`() async throws {
    try await Served.with(Self.schema) { server in
      let socket = try await Self.open(server)
      socket.send(Self.initialise)
      _ = try await socket.message("ka")
      await server.stop()
      #expect(await socket.closeCode() == 1001)
    }
  }
}
