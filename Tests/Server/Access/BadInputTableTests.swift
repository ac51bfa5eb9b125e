import MartletGraphQLWire
import MartletJSON
import MartletServer
import MartletWire
import Testing

/// What a peer can get wrong, row by row over real sockets: the answer is the protocol's, the log has it once, the
/// metrics count it once, and every bystander in every dialect gets its next event.
@Suite(.timeLimit(.minutes(2))) struct BadInputTableTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var provoke: @Sendable (_ port: Int) async throws -> Void

    var testDescription: String { name }

    init(_ name: String, _ provoke: @escaping @Sendable (_ port: Int) async throws -> Void) {
      self.name = name
      self.provoke = provoke
    }
  }

  /// Live subscriptions in every dialect and form, none of which does anything wrong.
  private struct Bystanders {
    var sockets: [(talk: Talk, socket: RawSocket)] = []
    var streams: [StreamedResponse] = []

    init(_ server: GraphQLServer, sockets withSockets: Bool) async throws {
      if withSockets { for talk in Talk.all { sockets.append((talk, try await talk.live(server.port))) } }
      for accept in ["text/event-stream", "multipart/mixed;subscriptionSpec=1.0"] {
        streams.append(try await StreamedResponse.open(Talk.subscription, accept: accept, port: server.port))
      }
      try await GraphQLWSSocketTests.subscriptions(sockets.count + streams.count, server)
    }

    /// Whether an event made now reaches all bystanders, with nothing before it.
    func hear(_ text: String, _ server: GraphQLServer) async throws {
      try await GraphQLWSSocketTests.create(text, server)
      let data: JSONValue = ["onCreateNote": ["text": .string(text)]]
      for (talk, socket) in sockets {
        let message = try await socket.message(talk.event)
        #expect(message["payload"]?["data"] == data, "\(talk.dialect) after \(text)")
      }
      for stream in streams {
        let heard = await stream.heard { if case .result = $0 { true } else { false } }
        #expect(heard.last == .result(["data": data]), "\(heard)")
      }
    }

    func leave() {
      for (_, socket) in sockets { socket.abort() }
      for stream in streams { stream.abort() }
    }
  }

  /// Plays each row against one server and looks at what it left behind.
  private func play(
    _ rows: [Row], bystandersOnSockets: Bool = true, _ adjust: @escaping (inout ServerConfiguration) -> Void
  ) async throws {
    let log = LogRecorder()
    try await Served.with(
      Talk.schema,
      {
        $0.log = log.log
        adjust(&$0)
      }
    ) { server in
      let bystanders = try await Bystanders(server, sockets: bystandersOnSockets)
      for row in rows {
        let before = (
          metrics: try await Metrics.read(server), log: log.count(of: LogRecorder.violation), entries: log.entries.count
        )
        try await row.provoke(server.port)
        let after = try await Metrics.read(server)
        let errors = "martlet_protocol_errors_total"
        #expect((after[errors] ?? 0) - (before.metrics[errors] ?? 0) == 1, "counted: \(row.name)")
        #expect(log.count(of: LogRecorder.violation) - before.log == 1, "logged: \(row.name)")
        #expect(log.entries.count - before.entries == 1, "nothing else is logged: \(row.name)")
        try await bystanders.hear(row.name, server)
      }
      bystanders.leave()
    }
  }

  // MARK: WebSockets

  private static func closes(
    _ name: String, _ code: UInt16, _ talk: Talk, _ provoke: @escaping @Sendable (RawSocket) -> Void
  ) -> Row {
    Row("\(talk.dialect.name): \(name)") { port in
      let socket = try await talk.acknowledged(port)
      provoke(socket)
      #expect(await socket.closeCode() == code, "\(talk.dialect.name): \(name)")
    }
  }

  /// The socket gets one message in return and stays.
  private static func answers(
    _ name: String, _ talk: Talk, _ sent: String..., check: @escaping @Sendable (JSONValue) -> Bool
  ) -> Row {
    Row("\(talk.dialect.name): \(name)") { port in
      let socket = try await talk.acknowledged(port)
      socket.send(sent)
      var answer = try await socket.message()
      if answer["type"] == "start_ack" { answer = try await socket.message() }
      #expect(check(answer), "\(talk.dialect.name), \(name): \(answer)")
      socket.send(talk.start("still served"))
      if talk.dialect == .graphqlTransportWS { _ = try await socket.message("ready") }
      if talk.dialect == .appSync { _ = try await socket.message("start_ack") }
      socket.close()
      #expect(await socket.closeCode() == 1000)
    }
  }

  private static func tooMany(_ talk: Talk, check: @escaping @Sendable (JSONValue) -> Bool) -> Row {
    Row("\(talk.dialect.name): the 101st subscription") { port in
      let socket = try await talk.live(port, 100)
      socket.send(talk.start("one more"))
      let answer = try await socket.message()
      #expect(answer["id"] == "one more" && check(answer), "\(answer)")
      // A place that becomes free may be taken.
      socket.send(talk.stop("live 7"), talk.start("another"))
      let (type, id): (String, JSONValue) =
        switch talk.dialect {
        case .graphqlTransportWS: ("ready", "another")
        case .graphqlWS: ("complete", "live 7")
        case .appSync: ("start_ack", "another")
        }
      let next = try await socket.message(type)
      #expect(next["id"] == id)
      socket.close()
      _ = await socket.closeCode()
    }
  }

  private static let wrongHash: JSONObject = [
    "persistedQuery": ["version": 1, "sha256Hash": .string(String(repeating: "0", count: 64))]
  ]

  private static let everyDialect: [Row] = Talk.all.flatMap { talk in
    [
      closes("a frame without a mask", 1002, talk) { $0.sendRaw(RawFrame.unmaskedText) },
      closes("a reserved opcode", 1002, talk) { $0.sendRaw(RawFrame.reservedOpcode) },
      closes("text that is not UTF-8", 1007, talk) { $0.sendRaw(RawFrame.notUTF8) },
      closes("a message over the limit", 1009, talk) { $0.send(String(repeating: " ", count: 20_001)) },
    ]
  }

  private static func error(_ type: String) -> @Sendable (JSONValue) -> Bool {
    { $0["type"] == "error" && $0["payload"]?["errors"]?[0]?["errorType"]?.string == type }
  }

  private static let graphqlTransportWS: [Row] = {
    let talk = Talk(dialect: .graphqlTransportWS)
    return [
      closes("malformed JSON", 4400, talk) { $0.send("{") },
      closes("an unknown type", 4400, talk) { $0.send(#"{"type":"connection_terminate"}"#) },
      closes("a binary message", 4400, talk) { $0.sendBinary([1]) },
      closes("an id in use", 4409, talk) { $0.send(talk.start("1"), talk.start("1")) },
      closes("a flood of initialisations", 4429, talk) {
        $0.send([String](repeating: talk.initialise(), count: 50))
      },
      tooMany(talk) { $0["type"] == "error" && $0["payload"]?.array?.count == 1 },
      answers("a hash that is not the document's", talk, talk.start("1", extensions: wrongHash)) {
        $0["payload"]?[0]?["extensions"]?["code"] == "PERSISTED_QUERY_HASH_MISMATCH"
      },
    ]
  }()

  private static let graphqlWS: [Row] = {
    let talk = Talk(dialect: .graphqlWS)
    return [
      answers("malformed JSON", talk, "{") { $0["type"] == "connection_error" && $0["id"]?.isNull == true },
      answers("an unknown type", talk, #"{"id":"1","type":"subscribe"}"#) {
        $0["type"] == "error" && $0["payload"]?["message"] == "Invalid message type! subscribe"
      },
      closes("a flood of initialisations", 1002, talk) {
        $0.send([String](repeating: talk.initialise(), count: 50))
      },
      tooMany(talk) { $0["type"] == "error" && $0["payload"]?["message"] != nil },
      answers("a hash that is not the document's", talk, talk.start("1", extensions: wrongHash)) {
        $0["payload"]?["extensions"]?["code"] == "PERSISTED_QUERY_HASH_MISMATCH"
      },
    ]
  }()

  private static let appSync: [Row] = {
    let talk = Talk(dialect: .appSync)
    return [
      answers("malformed JSON", talk, "{", check: error("BadRequestException")),
      answers("an unknown type", talk, #"{"id":"1","type":"subscribe"}"#, check: error("UnsupportedOperation")),
      answers("an id in use", talk, talk.start("1"), talk.start("1"), check: error("DuplicatedOperationError")),
      closes("a flood of initialisations", 1008, talk) {
        $0.send([String](repeating: talk.initialise(), count: 50))
      },
      tooMany(talk, check: error("MaxSubscriptionsReachedError")),
      answers("a hash that is not the document's", talk, talk.start("1", extensions: wrongHash)) {
        $0["payload"]?["errors"]?[0]?["extensions"]?["code"] == "PERSISTED_QUERY_HASH_MISMATCH"
      },
    ]
  }()

  private static let unknownSubprotocol = Row("an unknown subprotocol") { port in
    let socket = try await RawSocket.open(port: port, subprotocols: ["graphql-nothing"])
    #expect(await socket.closeCode() == 4406)
  }

  @Test func `WebSockets`() async throws {
    try await play([Self.unknownSubprotocol] + Self.everyDialect) { $0.limits.webSocket.messageBytes = 20_000 }
    try await play(Self.graphqlTransportWS + Self.graphqlWS + Self.appSync) { _ in }
  }

  @Test func `sockets that say nothing`() async throws {
    let rows = Talk.all.map { talk in
      Row("\(talk.dialect.name): a slow initialisation") { port in
        let socket = try await talk.open(port)
        let code: UInt16 =
          switch talk.dialect {
          case .graphqlTransportWS: 4408
          case .graphqlWS: 1011
          case .appSync: 1008
          }
        #expect(await socket.closeCode() == code)
      }
    }
    try await play(rows, bystandersOnSockets: false) { $0.limits.webSocket.connectionInitTimeout = .milliseconds(50) }
  }

  // MARK: HTTP

  private static let json = ("Content-Type", "application/json")
  private static let handshake = [
    ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="),
  ]

  private static func request(
    _ name: String, _ status: Int, _ method: String = "POST", _ target: String = "/graphql",
    _ headers: [(String, String)] = [json], body: String? = nil
  ) -> Row {
    Row("HTTP: \(name)") { port in
      let answer = try await HTTPRequest.send(method, target, port: port, headers: headers, body: body)
      #expect(answer.status == status, "\(name): \(answer.text)")
    }
  }

  private static func raw(_ name: String, _ status: Int, _ text: String) -> Row {
    Row("HTTP: \(name)") { port in
      let answer = try await HTTPRequest.raw(text, port: port)
      #expect(answer.status == status, "\(name)")
    }
  }

  private static func upload(_ name: String, _ status: Int, _ body: String, boundary: String = "; boundary=b") -> Row {
    request(name, status, "POST", "/graphql", [("Content-Type", "multipart/form-data\(boundary)")], body: body)
  }

  private static let query = #"{"query":"{ __typename }"}"#
  private static let mismatch =
    #"{"query":"{ __typename }","extensions":{"persistedQuery":{"version":1,"sha256Hash":"\#(String(repeating: "0", count: 64))"}}}"#
  private static let part = "--b\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n"

  private static let requests: [Row] = [
    request("a media type that is not JSON", 415, "POST", "/graphql", [("Content-Type", "text/plain")], body: query),
    request(
      "a compressed body", 415, "POST", "/graphql", [json, ("Content-Encoding", "gzip")], body: "\u{1F}\u{8B}\u{8}"),
    request(
      "a compressed upload", 415, "POST", "/graphql",
      [("Content-Type", "multipart/form-data; boundary=b"), ("Content-Encoding", "gzip")], body: "x"),
    request(
      "JSON in another character set", 415, "POST", "/graphql", [("Content-Type", "application/json; charset=utf-16")],
      body: query),
    request("JSON too deep", 400, body: String(repeating: "[", count: 2_000)),
    request(
      "variables too deep", 400,
      body: #"{"query":"{ __typename }","variables":{"a":"# + String(repeating: "[", count: 2_000)),
    request("no media type", 415, "POST", "/graphql", [], body: query),
    request("an Accept that nothing satisfies", 406, "POST", "/graphql", [json, ("Accept", "text/html")], body: query),
    request(
      "an event stream's path asked for HTML", 406, "POST", "/graphql/stream", [json, ("Accept", "text/html")],
      body: query),
    request("malformed JSON", 400, body: "{"),
    request(
      "malformed JSON for an event stream", 400, "POST", "/graphql", [json, ("Accept", "text/event-stream")],
      body: "{"),
    request(
      "malformed JSON for a multipart stream", 400, "POST", "/graphql",
      [json, ("Accept", "multipart/mixed;subscriptionSpec=1.0")], body: "{"),
    request("a query that is a number", 400, body: #"{"query":1}"#),
    request("a body over the limit", 413, body: String(repeating: " ", count: 20_001)),
    request("another method", 405, "PATCH", body: query),
    request(
      "a mutation by GET", 405, "GET", "/graphql?query=mutation%7BdeleteNote(input%3A%7Bid%3A1%7D)%7Bid%7D%7D", []),
    request(
      "a subscription to a client that takes JSON only", 400,
      body: #"{"query":"subscription { onCreateNote { id } }"}"#),
    request("a hash that is not the document's", 400, body: mismatch),
    request(
      "a hash that is not the document's, for an event stream", 200, "POST", "/graphql",
      [json, ("Accept", "text/event-stream")], body: mismatch),
    request("a list of too many operations", 400, body: "[\(query),\(query),\(query)]"),
    upload("an upload without a boundary", 400, "x", boundary: ""),
    upload("an upload with an illegal boundary", 400, "x", boundary: "; boundary=\"\""),
    upload("an upload cut short", 400, part + query),
    upload("an upload without map", 400, part + query + "\r\n--b--\r\n"),
    request("no WebSocket version", 426, "GET", "/graphql", Array(handshake.prefix(2)) + Array(handshake.suffix(1))),
    request(
      "a WebSocket key that is none", 400, "GET", "/graphql",
      Array(handshake.dropLast()) + [
        ("Sec-WebSocket-Key", "short")
      ]),
    request(
      "an AppSync authorization that cannot be read", 400, "GET", "/graphql/realtime?header=%21",
      handshake + [("Sec-WebSocket-Protocol", "graphql-ws")]),
    raw("no HTTP at all", 400, "BROKEN\r\n\r\n"),
    raw("a header field over the limit", 431, "GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 40_000))\r\n\r\n"),
    raw("a request line over the limit", 414, "GET /\(String(repeating: "x", count: 20_000)) HTTP/1.1\r\n\r\n"),
  ]

  // MARK: Shared event streams

  private static let tokenHeader = "X-GraphQL-Event-Stream-Token"

  /// A request about a stream that has just been reserved; another token where one is given.
  private static func aboutStream(
    _ name: String, _ status: Int, _ method: String = "POST", _ headers: [(String, String)] = [json],
    token given: String? = nil, query: String = "", body: String? = nil, isOpen: Bool = false
  ) -> Row {
    Row("a shared stream: \(name)") { port in
      let path = "/graphql/stream"
      let token = try await HTTPRequest.send("PUT", path, port: port, body: "").text
      let named = [(tokenHeader, given ?? token)]
      var stream: StreamedResponse?
      if isOpen {
        let head = HTTPRequestHead(
          method: "GET", target: path,
          headers: HTTPHeaders([("Host", "127.0.0.1:\(port)"), ("Accept", "text/event-stream")] + named))
        let opened = try await StreamedResponse.send(head, body: nil, readingEvents: true, port: port)
        _ = await opened.heard { $0 == .heartbeat }
        stream = opened
      }
      let answer = try await HTTPRequest.send(method, path + query, port: port, headers: named + headers, body: body)
      #expect(answer.status == status, "\(name): \(answer.text)")
      #expect(answer.json["errors"]?[0]?["message"]?.string?.isEmpty == false, "\(name): \(answer.text)")
      stream?.abort()
    }
  }

  private static func operation(_ id: String) -> String {
    #"{"query":"{ __typename }","extensions":{"operationId":"\#(id)"}}"#
  }

  private static let sharedStreams: [Row] = [
    aboutStream("a token that is taken", 409, "PUT", [], body: ""),
    aboutStream("an unknown token, opened", 404, "GET", [("Accept", "text/event-stream")], token: "nobody"),
    aboutStream("an unknown token, for an operation", 404, token: "nobody", body: operation("1")),
    aboutStream("an unknown token, to end an operation", 404, "DELETE", [], token: "nobody", query: "?operationId=1"),
    aboutStream("opened twice", 409, "GET", [("Accept", "text/event-stream")], isOpen: true),
    aboutStream("asked for HTML", 406, "GET", [("Accept", "text/html")]),
    aboutStream("an operation without an id", 400, body: query),
    aboutStream("an id over its limit", 400, body: operation(String(repeating: "x", count: 300)), isOpen: true),
    aboutStream("the end of no operation", 400, "DELETE", []),
    aboutStream("malformed JSON", 400, body: "{"),
    aboutStream("a media type that is not JSON", 415, "POST", [("Content-Type", "text/plain")], body: operation("1")),
    aboutStream(
      "a hash that is not the document's", 400,
      body: mismatch.replacing(#""extensions":{"#, with: #""extensions":{"operationId":"1","#)),
    posting("an id that waits already", ["1", "1"], 409),
    posting("one operation too many", (1...101).map { "\($0)" }, 429),
  ]

  /// Operations one after the other; the last is refused.
  private static func posting(_ name: String, _ ids: [String], _ last: Int) -> Row {
    Row("a shared stream: \(name)") { port in
      let token = try await HTTPRequest.send("PUT", "/graphql/stream", port: port, body: "").text
      var statuses: [Int] = []
      for id in ids {
        let answer = try await HTTPRequest.send(
          "POST", "/graphql/stream", port: port, headers: [json, (tokenHeader, token)], body: operation(id))
        statuses.append(answer.status)
      }
      #expect(statuses == [Int](repeating: 202, count: ids.count - 1) + [last])
    }
  }

  @Test func `shared event streams`() async throws {
    try await play(Self.sharedStreams) { _ in }
    let tooMany = Self.request("one reservation too many", 429, "PUT", "/graphql/stream", [], body: "")
    try await play([tooMany]) { $0.limits.http.reservedStreams = 0 }
  }

  @Test func `HTTP requests`() async throws {
    try await play(Self.requests) {
      $0.limits.http.bodyBytes = 20_000
      $0.limits.http.operationsPerRequest = 2
    }
  }

  @Test func `a request that never arrives`() async throws {
    let row = Self.raw("a slow request", 408, "POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\n")
    try await play([row]) { $0.limits.http.requestTimeout = .milliseconds(300) }
  }

  // MARK: Floods

  @Test func `a peer that keeps breaking rules is counted each time and logged once`() async throws {
    let log = LogRecorder()
    try await Served.with(Talk.schema, { $0.log = log.log }) { server in
      for talk in Talk.all where talk.dialect != .graphqlTransportWS {
        let before = (try await Metrics.read(server)["martlet_protocol_errors_total"] ?? 0, log.entries.count)
        let socket = try await talk.acknowledged(server.port)
        socket.send([String](repeating: "{", count: 50))
        for _ in 0..<50 { _ = try await socket.message() }
        #expect(try await Metrics.read(server)["martlet_protocol_errors_total"] == before.0 + 50)
        #expect(log.entries.count == before.1 + 1)
        socket.abort()
      }
      let request =
        "POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n\r\nx"
      let last = "GET /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
      let before = log.entries.count
      _ = try await HTTPRequest.raw(String(repeating: request, count: 20) + last, port: server.port)
      // Once for each status: 415 twenty times, and the 400 at the end.
      #expect(log.entries.count == before + 2)
      let entry = try #require(log.entries.last)
      #expect(entry.metadata.map(\.key) == [.connection, .status, .reason])
    }
  }
}
