import MartletGraphQLWire
import MartletJSON
import MartletServer
import Testing

/// Every close code this server sends, in each dialect, by the request that provokes it: before the acknowledgement,
/// after it, and with subscriptions under way.
@Suite(.timeLimit(.minutes(2))) struct CloseCodeTests {
  private enum Stage: CaseIterable { case fresh, acknowledged, live }

  private struct Row: Sendable {
    var closing: RawSocket.Closing
    var stages: [Stage] = Stage.allCases
    var provoke: @Sendable (Talk, RawSocket) -> Void
  }

  private static func row(
    _ code: UInt16, _ reason: String, _ stages: [Stage] = Stage.allCases,
    _ provoke: @escaping @Sendable (Talk, RawSocket) -> Void
  ) -> Row {
    Row(closing: .init(code, reason), stages: stages, provoke: provoke)
  }

  /// What every dialect answers alike: the rules of RFC 6455 and the limits on messages.
  private static let frames: [Row] =
    [
      (RawFrame.unmaskedText, "frame from a client without a mask"),
      (RawFrame.reservedBits, "reserved bits set without an extension that defines them"),
      (RawFrame.reservedOpcode, "reserved opcode"), (RawFrame.fragmentedPing, "control frame in fragments"),
      (RawFrame.strayContinuation, "continuation without a message begun"),
      (RawFrame.closeOfOneByte, "close frame with one byte"),
      (RawFrame.closeWithCode1005, "close code that may not be sent"),
    ].map { bytes, reason in row(1002, reason) { _, socket in socket.sendRaw(bytes) } } + [
      row(1007, "text is not UTF-8") { _, socket in socket.sendRaw(RawFrame.notUTF8) },
      row(1009, "message longer than the limit") { talk, socket in
        socket.send(talk.start("x", String(repeating: "#", count: 5_000)))
      },
      row(1000, "") { _, socket in socket.close() },
    ]

  private static let graphqlTransportWS: [Row] = [
    row(4400, "Unknown message type start") { _, socket in socket.send(#"{"type":"start"}"#) },
    row(4400, "Message without type") { _, socket in socket.send(#"{"id":"1"}"#) },
    row(4400, "A message is a JSON object") { _, socket in socket.send("[]") },
    row(4400, "The id must be a string that is not empty") { _, socket in
      socket.send(#"{"type":"subscribe","id":7,"payload":{"query":"{a}"}}"#)
    },
    row(4400, "Messages are text") { _, socket in socket.sendBinary([1, 2, 3]) },
    row(4401, "Unauthorized", [.fresh]) { talk, socket in socket.send(talk.start("1")) },
    row(4409, "Subscriber for live 1 already exists", [.live]) { talk, socket in socket.send(talk.start("live 1")) },
    row(4409, "Subscriber for 1 already exists", [.acknowledged]) { talk, socket in
      socket.send(talk.start("1"), talk.start("1"))
    },
    row(4429, "Too many initialisation requests", [.acknowledged, .live]) { talk, socket in
      socket.send(talk.initialise())
    },
  ]

  private static let graphqlWS: [Row] = [
    row(1002, "Too many initialisation requests") { talk, socket in
      socket.send([String](repeating: talk.initialise(), count: 11))
    },
    row(1002, "Too many malformed messages") { _, socket in socket.send([String](repeating: "{", count: 101)) },
    row(1000, "") { _, socket in socket.send(#"{"type":"connection_terminate"}"#) },
  ]

  private static let appSync: [Row] = [
    row(1008, "Too many initialisation requests") { talk, socket in
      socket.send([String](repeating: talk.initialise(), count: 11))
    },
    row(1008, "Too many malformed messages") { _, socket in socket.send([String](repeating: "{", count: 101)) },
  ]

  private static func rows(_ dialect: Dialect) -> [Row] {
    switch dialect {
    case .graphqlTransportWS: frames + graphqlTransportWS
    case .graphqlWS: frames + graphqlWS
    case .appSync: frames + appSync
    }
  }

  private static func subscriptions(_ server: GraphQLServer) async throws -> Int? {
    try await Metrics.read(server)["martlet_subscriptions"]
  }

  @Test(arguments: Talk.all) func `each close code has a request that provokes it, at every stage`(talk: Talk)
    async throws
  {
    try await Served.with(Talk.schema, { $0.limits.webSocket.messageBytes = 4_000 }) { server in
      for row in Self.rows(talk.dialect) {
        for stage in row.stages {
          let socket: RawSocket
          switch stage {
          case .fresh: socket = try await talk.open(server.port)
          case .acknowledged: socket = try await talk.acknowledged(server.port)
          case .live: socket = try await talk.live(server.port, 3)
          }
          row.provoke(talk, socket)
          let closing = await socket.closing()
          #expect(closing == row.closing, "\(talk.dialect), \(stage)")
          // Whatever the code, nothing of the connection is left.
          #expect(try await Self.subscriptions(server) == 0, "\(row.closing), \(stage)")
        }
      }
    }
  }

  @Test(arguments: [["graphql-nothing"], [], ["header-e30"]]) func `4406: no subprotocol that is spoken here`(
    subprotocols: [String]
  ) async throws {
    try await Served.with(Talk.schema) { server in
      let socket = try await RawSocket.open(port: server.port, subprotocols: subprotocols)
      #expect(await socket.closing() == .init(4406, "Subprotocol not acceptable"))
    }
  }

  @Test(arguments: Talk.all) func `no connection_init in time: 4408, or the dialect's message and its code`(
    talk: Talk
  ) async throws {
    try await Served.with(Talk.schema, { $0.limits.webSocket.connectionInitTimeout = .milliseconds(50) }) { server in
      let socket = try await talk.open(server.port)
      let reason = "Connection initialisation timeout"
      switch talk.dialect {
      case .graphqlTransportWS: #expect(await socket.closing() == .init(4408, reason))
      case .graphqlWS:
        #expect(
          try await socket.message() == ["type": "connection_error", "payload": ["message": .string(reason)]])
        #expect(await socket.closing() == .init(1011, reason))
      case .appSync:
        let error = try await socket.message()
        #expect(error["type"] == "connection_error")
        #expect(
          error["payload"]?["errors"]?[0]
            == ["errorType": "RequestTimeoutException", "message": .string(reason), "errorCode": 408])
        #expect(await socket.closing() == .init(1008, reason))
      }
    }
  }

  @Test(arguments: Talk.all) func `credentials that are not good: 4403, or connection_error and the dialect's code`(
    talk: Talk
  ) async throws {
    let log = LogRecorder()
    try await Served.with(
      Talk.schema,
      {
        $0.access = .keys(try Served.access("secret"))
        $0.log = log.log
      }
    ) { server in
      for payload: JSONObject in [[:], ["authToken": "guess"], ["token": "secret"]] {
        let socket = try await talk.open(server.port, authorization: payload)
        socket.send(talk.initialise(payload))
        #expect(await Self.refusal(of: socket, talk) == "Forbidden")
      }
      for member in ["authToken", "Authorization", "authorization", "x-api-key"] {
        let socket = try await talk.open(server.port, authorization: [member: "secret"])
        socket.send(talk.initialise([member: "secret"]))
        _ = try await socket.message("connection_ack")
        socket.abort()
      }
      let metrics = try await Metrics.read(server, key: "secret")
      #expect(metrics["martlet_credentials_refused_total"] == 3)
      #expect(metrics["martlet_protocol_errors_total"] == 0)
    }
    #expect(log.count(of: "A client was refused: its credentials are not known.") == 3)
    #expect(log.count(of: LogRecorder.violation) == 0)
  }

  @Test(arguments: Talk.all) func `a program that refuses gives the reason`(talk: Talk) async throws {
    let log = LogRecorder()
    try await Served.with(
      Talk.schema,
      {
        $0.onConnect = { _ in .refuse("not today") }
        $0.log = log.log
      }
    ) { server in
      let socket = try await talk.open(server.port)
      socket.send(talk.initialise())
      #expect(await Self.refusal(of: socket, talk) == "not today")
      #expect(try await Metrics.read(server)["martlet_credentials_refused_total"] == 1)
    }
    #expect(log.count(of: "A client was refused by the program.") == 1)
  }

  /// The reason of a refusal, when it has come as the dialect says.
  private static func refusal(of socket: RawSocket, _ talk: Talk) async -> String? {
    var message: JSONValue?
    if talk.dialect != .graphqlTransportWS {
      message = try? await socket.message()
      guard message?["type"] == "connection_error" else { return nil }
    }
    let closing = await socket.closing()
    switch talk.dialect {
    case .graphqlTransportWS: return closing.code == 4403 ? closing.reason : nil
    case .graphqlWS:
      guard closing.code == 1011, message?["payload"]?["message"]?.string == closing.reason else { return nil }
      return closing.reason
    case .appSync:
      let error = message?["payload"]?["errors"]?[0]
      guard closing.code == 1008, error?["errorType"] == "UnauthorizedException", error?["errorCode"] == 401,
        error?["message"]?.string == closing.reason
      else { return nil }
      return closing.reason
    }
  }

  @Test(arguments: Talk.all) func `1001: the server stops, at every stage, and no rule was broken`(talk: Talk)
    async throws
  {
    let log = LogRecorder()
    try await Served.with(Talk.schema, { $0.log = log.log }) { server in
      let sockets = [
        try await talk.open(server.port), try await talk.acknowledged(server.port),
        try await talk.live(server.port, 3),
      ]
      await server.stop()
      for socket in sockets {
        #expect(await socket.closing() == .init(1001, "The server goes away; come back."))
      }
    }
    #expect(log.count(of: LogRecorder.violation) == 0)
  }

  @Test(arguments: Talk.all) func `a client that vanishes has broken no rule`(talk: Talk) async throws {
    let log = LogRecorder()
    try await Served.with(Talk.schema, { $0.log = log.log }) { server in
      let socket = try await talk.live(server.port, 3)
      socket.abort()
      var metrics: [String: Int]
      repeat { metrics = try await Metrics.read(server) } while metrics["martlet_websocket_sessions"] != 0
      #expect(metrics["martlet_protocol_errors_total"] == 0)
      #expect(metrics["martlet_subscriptions"] == 0)
    }
    #expect(log.count(of: LogRecorder.violation) == 0)
  }
}
