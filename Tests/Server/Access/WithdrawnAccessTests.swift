import MartletGraphQLWire
import MartletJSON
import MartletServer
import MartletWire
import Testing

/// What becomes of sockets and streams whose credentials stop being good while they are open.
@Suite(.timeLimit(.minutes(1))) struct WithdrawnAccessTests {
  private static func guarded(_ body: (GraphQLServer) async throws -> Void) async throws {
    try await Served.with(Talk.schema, { $0.access = .keys(try Served.access("old", "stays")) }, body)
  }

  /// A live subscription on a socket that `key` opened; before the second form the key travels in the handshake.
  private static func live(_ talk: Talk, _ key: String, inHandshake: Bool, _ port: Int) async throws -> RawSocket {
    let credentials: JSONObject = ["x-api-key": .string(key)]
    let socket: RawSocket
    switch (talk.dialect, inHandshake) {
    case (.appSync, true):
      socket = try await talk.open(port, authorization: credentials)
      socket.send(talk.initialise())
    case (_, true):
      socket = try await RawSocket.open(
        port: port, subprotocols: [talk.dialect.subprotocol], headers: [("x-api-key", key)])
      socket.send(talk.initialise())
    case (.appSync, false):
      socket = try await RawSocket.open(
        port: port, subprotocols: ["graphql-ws"], headers: [("x-api-key", key)], target: "/graphql/realtime")
      socket.send(talk.initialise())
    case (_, false):
      socket = try await talk.open(port)
      socket.send(talk.initialise(credentials))
    }
    _ = try await socket.message(talk.dialect == .graphqlTransportWS ? "connection_ack" : "ka")
    socket.send(talk.start("1"))
    switch talk.dialect {
    case .graphqlTransportWS: _ = try await socket.message("ready")
    case .appSync: _ = try await socket.message("start_ack")
    case .graphqlWS:
      socket.send(talk.initialise())
      _ = try await socket.message("connection_ack")
    }
    return socket
  }

  private static func write(_ text: String, _ port: Int) async throws {
    let answer = try await HTTPRequest.graphql(
      "mutation { createNote(input: {text: \"\(text)\"}) { text } }", port: port, headers: [("x-api-key", "stays")])
    #expect(answer.status == 200)
  }

  /// How each dialect says that credentials are not good.
  private static func expectRefusal(_ talk: Talk, _ socket: RawSocket, _ reason: String) async throws {
    switch talk.dialect {
    case .graphqlTransportWS: break
    case .graphqlWS:
      let error = try await socket.message()
      #expect(error["type"] == "connection_error" && error["payload"]?["message"]?.string == reason)
      #expect(error["payload"]?["extensions"]?["code"] == "UNAUTHENTICATED")
    case .appSync:
      let error = try await socket.message()
      #expect(error["type"] == "connection_error")
      let first = error["payload"]?["errors"]?[0]
      #expect(first?["errorType"] == "UnauthorizedException" && first?["message"]?.string == reason)
    }
    let codes: [Dialect: UInt16] = [.graphqlTransportWS: 4403, .graphqlWS: 1011, .appSync: 1008]
    #expect(await socket.closing() == RawSocket.Closing(try #require(codes[talk.dialect]), reason))
  }

  @Test(arguments: Talk.all, [true, false])
  func `P8: a withdrawn key ends the sockets it admitted as the dialect says, and no others`(
    talk: Talk, inHandshake: Bool
  ) async throws {
    try await Self.guarded { server in
      let gone = try await Self.live(talk, "old", inHandshake: inHandshake, server.port)
      let kept = try await Self.live(talk, "stays", inHandshake: inHandshake, server.port)
      try server.reload(access: try Served.access("stays", "new"))
      try await Self.expectRefusal(talk, gone, "The credentials were withdrawn.")
      try await Self.write("a", server.port)
      let event = try await kept.message(talk.event)
      #expect(event["payload"]?["data"]?["onCreateNote"]?["text"] == "a")
      kept.abort()
    }
  }

  @Test func `a withdrawn key ends a socket that has not said anything yet`() async throws {
    try await Self.guarded { server in
      let socket = try await RawSocket.open(port: server.port, headers: [("x-api-key", "old")])
      try server.reload(access: try Served.access("stays"))
      #expect(await socket.closing() == RawSocket.Closing(4403, "The credentials were withdrawn."))
    }
  }

  @Test func `an AppSync subscription admitted by its own key ends alone when that is withdrawn`() async throws {
    let talk = Talk(dialect: .appSync)
    try await Self.guarded { server in
      let socket = try await Self.live(talk, "stays", inHandshake: true, server.port)
      for (id, key) in [("own", "old"), ("same", "stays")] {
        socket.send(talk.start(id, extensions: ["authorization": ["x-api-key": .string(key)]]))
        #expect(try await socket.message() == ["id": .string(id), "type": "start_ack"])
      }
      try server.reload(access: try Served.access("stays"))
      let error = try await socket.message()
      #expect(error["id"] == "own" && error["type"] == "error")
      #expect(error["payload"]?["errors"]?[0]?["errorType"] == "UnauthorizedException")
      try await Self.write("a", server.port)
      var heard: Set<String?> = []
      for _ in 1...2 { heard.insert(try await socket.message(talk.event)["id"]?.string) }
      #expect(heard == ["1", "same"])
      socket.abort()
    }
  }

  @Test(arguments: StreamedSubscriptionTests.forms)
  func `a withdrawn key ends the streams over HTTP it admitted with an error, and no others`(accept: String)
    async throws
  {
    try await Self.guarded { server in
      var streams: [StreamedResponse] = []
      for key in ["old", "stays"] {
        let stream = try await StreamedResponse.open(
          Talk.subscription, accept: accept, headers: [("x-api-key", key)], port: server.port)
        #expect(await stream.heard { $0 == .heartbeat }.last == .heartbeat)
        streams.append(stream)
      }
      try server.reload(access: try Served.access("stays"))
      let error: JSONValue = [
        ["message": "The credentials were withdrawn.", "extensions": ["code": "UNAUTHENTICATED"]]
      ]
      let last: [StreamedResponse.Heard] =
        accept == "text/event-stream" ? [.result(["errors": error]), .completed, .ended] : [.failed(error), .ended]
      #expect(await streams[0].all() == last)
      try await Self.write("a", server.port)
      let event = StreamedResponse.Heard.result(["data": ["onCreateNote": ["text": "a"]]])
      #expect(await streams[1].heard { $0 == event }.last == event)
      streams[1].abort()
    }
  }

  @Test func `a withdrawn key ends an event stream that operations share, each with an error`() async throws {
    try await Self.guarded { server in
      let (port, key) = (server.port, ("x-api-key", "old"))
      let token = try await HTTPRequest.send("PUT", "/graphql/stream", port: port, headers: [key], body: "").text
      let stream = try await StreamedResponse.send(
        HTTPRequestHead(
          method: "GET", target: "/graphql/stream?token=\(token)",
          headers: HTTPHeaders([("Host", "127.0.0.1:\(port)"), ("Accept", "text/event-stream"), key])),
        body: nil, readingEvents: true, port: port)
      #expect(await stream.heard { $0 == .heartbeat }.last == .heartbeat)
      let posted = try await HTTPRequest.send(
        "POST", "/graphql/stream?token=\(token)", port: port, headers: [("Content-Type", "application/json"), key],
        body: #"{"query":"\#(Talk.subscription)","extensions":{"operationId":"1"}}"#)
      #expect(posted.status == 202)
      try server.reload(access: try Served.access("stays"))
      let events = await stream.all().compactMap { heard -> StreamEvent? in
        if case .event(let event) = heard { event } else { nil }
      }
      #expect(events.map(\.name) == ["next", "complete"])
      #expect(events.first.map { String(decoding: $0.data, as: UTF8.self) }?.contains("UNAUTHENTICATED") == true)
    }
  }

  // MARK: Time

  @Test(arguments: Talk.all) func `credentials whose time is over end the socket as the dialect says`(
    talk: Talk
  ) async throws {
    try await Served.with(
      Talk.schema, { $0.onConnect = { _ in .accept(validFor: .milliseconds(1)) } }
    ) { server in
      let socket = try await talk.acknowledged(server.port)
      try await Self.expectRefusal(talk, socket, "The credentials have expired.")
    }
  }

  @Test(arguments: Talk.all) func `credentials without a time do not end, nor those whose time has not come`(
    talk: Talk
  ) async throws {
    try await Served.with(
      Talk.schema,
      { $0.onConnect = { $0.dialect == .graphqlWS ? .accept() : .accept(validFor: .seconds(86_400 * 365 * 100)) } }
    ) { server in
      let socket = try await talk.live(server.port)
      let answer = try await HTTPRequest.graphql(
        #"mutation { createNote(input: {text: "a"}) { text } }"#, port: server.port)
      #expect(answer.status == 200)
      #expect(try await socket.message(talk.event)["type"]?.string == talk.event)
      socket.abort()
    }
  }

  @Test func `a time that is over already refuses`() async throws {
    try await Served.with(Talk.schema, { $0.onConnect = { _ in .accept(validFor: .zero) } }) { server in
      let socket = try await RawSocket.open(port: server.port)
      socket.send(#"{"type":"connection_init"}"#)
      #expect(await socket.closing() == RawSocket.Closing(4403, "The credentials have expired."))
      let answer = try await HTTPRequest.graphql(
        Talk.subscription, port: server.port, headers: [("Accept", "text/event-stream")])
      #expect(answer.status == 403)
    }
  }

  @Test(arguments: StreamedSubscriptionTests.forms) func `credentials whose time is over end a stream over HTTP`(
    accept: String
  ) async throws {
    try await Served.with(Talk.schema, { $0.onConnect = { _ in .accept(validFor: .milliseconds(20)) } }) { server in
      let stream = try await StreamedResponse.open(Talk.subscription, accept: accept, port: server.port)
      let heard = await stream.all()
      let text = "\(heard)"
      #expect(heard.last == .ended && heard.contains(.completed) == (accept == "text/event-stream"))
      #expect(text.contains("The credentials have expired.") && text.contains("UNAUTHENTICATED"))
    }
  }
}
