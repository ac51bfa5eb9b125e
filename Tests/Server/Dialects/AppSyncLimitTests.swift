import MartletGraphQLWire
import MartletJSON
import MartletServer
import Testing

/// AppSync's limits on real sockets: how large a token, a message and a connection's set of subscriptions may be.
@Suite(.timeLimit(.minutes(1))) struct AppSyncLimitTests {
  private let talk = Talk(dialect: .appSync)

  @Test(arguments: [AppSyncRealtime.Passing.query, .subprotocol, .headers])
  func `a token of eight KiB fits the handshake, in each of its places`(passing: AppSyncRealtime.Passing) async throws {
    let token = String(repeating: "t", count: 8_192)
    try await Served.with(Talk.schema, { $0.access = .keys(try Served.access(token)) }) { server in
      let opening = AppSyncRealtime.Opening(
        passing, authorization: ["host": "h", "Authorization": .string(token)], target: "/graphql/realtime")
      let socket = try await RawSocket.open(
        port: server.port, subprotocols: opening.subprotocols, headers: opening.headers.map { ($0.name, $0.value) },
        target: opening.target)
      socket.send(#"{"type":"connection_init"}"#)
      #expect(try await socket.message()["type"] == "connection_ack")
      socket.abort()
    }
  }

  @Test func `a request line or header beyond its limit is refused before anything is upgraded`() async throws {
    try await Served.with(Talk.schema) { server in
      let long = String(repeating: "t", count: 40_000)
      let handshake =
        "Host: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: graphql-ws\r\n"
      let line = try await HTTPRequest.raw(
        "GET /graphql/realtime?header=\(long) HTTP/1.1\r\n\(handshake)\r\n", port: server.port)
      #expect(line.status == 414)
      let field = try await HTTPRequest.raw(
        "GET /graphql/realtime HTTP/1.1\r\n\(handshake)x-api-key: \(long)\r\n\r\n", port: server.port)
      #expect(field.status == 431)
    }
  }

  @Test func `a hundred subscriptions on a connection, each with its own authorization; the limit can be set`()
    async throws
  {
    try await Served.with(
      Talk.schema,
      {
        $0.access = .keys(try Served.access("secret", "other"))
        $0.limits.session.operationsPerConnection = 3
      }
    ) { server in
      let socket = try await talk.open(server.port, authorization: ["x-api-key": "secret"])
      socket.send(talk.initialise())
      _ = try await socket.message("ka")
      let blobs: [JSONObject] = [
        ["x-api-key": "other"], ["Authorization": "Bearer secret"], ["Authorization": "guess"], [:],
        ["host": "h", "authToken": "other"], ["x-api-key": "secret"],
      ]
      for (number, blob) in blobs.enumerated() {
        socket.send(talk.start("\(number)", extensions: ["authorization": .object(blob)]))
      }
      var answers: [String] = []
      for _ in blobs {
        let message = try await socket.message()
        answers.append(message["payload"]?["errors"]?[0]?["errorType"]?.string ?? message["type"]?.string ?? "-")
      }
      // The connection's own authorization holds for a start that brings none; an empty one is none that is known.
      #expect(
        answers == [
          "start_ack", "start_ack", "UnauthorizedException", "UnauthorizedException", "start_ack",
          "MaxSubscriptionsReachedError",
        ])
      let metrics = try await Metrics.read(server, key: "secret")
      #expect(metrics["martlet_credentials_refused_total"] == 2)
      #expect(metrics["martlet_protocol_errors_total"] == 1)
      socket.abort()
    }
  }

  @Test func `a connection lives for its longest, with keep-alives meanwhile: 1001`() async throws {
    let log = LogRecorder()
    try await Served.with(
      Talk.schema,
      {
        $0.limits.webSocket.appSyncLifetime = .milliseconds(500)
        $0.limits.webSocket.appSyncKeepAliveInterval = .milliseconds(20)
        $0.limits.webSocket.appSyncConnectionTimeout = .seconds(7)
        $0.log = log.log
      }
    ) { server in
      let socket = try await talk.open(server.port)
      socket.send(talk.initialise(), talk.start("1"))
      #expect(try await socket.message() == ["type": "connection_ack", "payload": ["connectionTimeoutMs": 7_000]])
      for _ in 0..<3 { _ = try await socket.message("ka") }
      #expect(await socket.closing() == .init(1001, "The connection has reached its maximum lifetime"))
      let metrics = try await Metrics.read(server)
      #expect(metrics["martlet_subscriptions"] == 0 && metrics["martlet_protocol_errors_total"] == 0)
    }
    #expect(log.count(of: LogRecorder.violation) == 0)
  }

  @Test func `limits of the handshake and of floods can be set`() async throws {
    try await Served.with(
      Talk.schema,
      {
        $0.limits.http.requestLineBytes = 500
        $0.limits.http.headerBytes = 1_000
        $0.limits.webSocket.initialisations = 2
        $0.limits.webSocket.malformedMessages = 1
      }
    ) { server in
      let line = try await HTTPRequest.send(
        "GET", "/graphql?x=\(String(repeating: "x", count: 500))", port: server.port)
      #expect(line.status == 414)
      let field = try await HTTPRequest.send(
        "GET", "/healthz", port: server.port, headers: [("x-api-key", String(repeating: "x", count: 1_000))])
      #expect(field.status == 431)
      for (message, reason) in [
        (talk.initialise(), "Too many initialisation requests"), ("{", "Too many malformed messages"),
      ] {
        let socket = try await talk.acknowledged(server.port)
        socket.send(message, message)
        #expect(await socket.closing() == .init(1008, reason))
      }
    }
  }

  @Test func `a connection_init with a payload is taken, and its acknowledgement says what silence means`() async throws
  {
    try await Served.with(Talk.schema) { server in
      for initialise in [#"{"type":"connection_init"}"#, #"{"type":"connection_init","payload":{}}"#] {
        let socket = try await talk.open(server.port)
        socket.send(initialise)
        #expect(try await socket.message() == ["type": "connection_ack", "payload": ["connectionTimeoutMs": 300_000]])
        #expect(try await socket.message() == ["type": "ka"])
        socket.abort()
      }
    }
  }
}
