import MartletGraphQLWire
import MartletJSON
import MartletRuntime
import MartletServer
import MartletWire
import Testing

/// Bearer tokens at every door.
@Suite(.timeLimit(.minutes(1))) struct TokenDoorTests {
  private static let schema = """
    type Note @model @auth(rules: [{allow: owner}]) { id: ID! text: String }
    type Query { caller: String }
    """

  private static func with(
    _ file: String = #"{"tokens":[\#(Mint.entry)]}"#, _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    let file = try AccessFile(file)
    try await Served.with(
      schema,
      { configuration in
        configuration.access = .keys(file)
        configuration.resolvers = { resolvers in
          resolvers.compute("Query", "caller") { request in
            "\(request.identity.provider.rawValue) \(request.identity.subject ?? "-")"
          }
        }
      }, body)
  }

  private static func caller(_ headers: [(String, String)], _ port: Int) async throws -> JSONValue? {
    try await HTTPRequest.graphql("{ caller }", port: port, headers: headers).json["data"]?["caller"]
  }

  @Test func `a token names its caller over HTTP, and equal tokens are verified once`() async throws {
    try await Self.with { server in
      let token = Mint.token("ada")
      for _ in 0..<5 {
        let caller = try await Self.caller([("Authorization", "Bearer \(token)")], server.port)
        #expect(caller == "oidc ada")
      }
      #expect(server.node.access.tokenVerifications == 1)
    }
  }

  @Test func `a token longer than the server's limit is refused`() async throws {
    let file = try AccessFile(#"{"tokens":[\#(Mint.entry)]}"#)
    let token = Mint.token("ada")
    for (bytes, status) in [(token.utf8.count - 1, 401), (token.utf8.count, 200)] {
      try await Served.with(
        "type Note @model { id: ID! }",
        {
          $0.access = .keys(file)
          $0.limits.access.tokenBytes = bytes
        }
      ) { server in
        let headers = [("Authorization", "Bearer \(token)")]
        let response = try await HTTPRequest.graphql("{ __typename }", port: server.port, headers: headers)
        #expect(response.status == status)
      }
    }
  }

  @Test(arguments: Talk.all)
  func `a token opens a socket in the handshake and in the dialect's own message, with its caller's rights`(talk: Talk)
    async throws
  {
    try await Self.with { server in
      let token = Mint.token("ada")
      for inHandshake in [true, false] {
        let socket: RawSocket
        switch (talk.dialect, inHandshake) {
        case (.appSync, true):
          socket = try await talk.open(server.port, authorization: ["host": "a", "Authorization": .string(token)])
        case (.appSync, false):
          socket = try await RawSocket.open(
            port: server.port, subprotocols: ["graphql-ws"], headers: [("Authorization", token)],
            target: "/graphql/realtime")
        case (_, true):
          socket = try await RawSocket.open(
            port: server.port, subprotocols: [talk.dialect.subprotocol], headers: [("Authorization", "Bearer \(token)")]
          )
        case (_, false): socket = try await talk.open(server.port)
        }
        socket.send(talk.initialise(inHandshake ? [:] : ["Authorization": .string("Bearer \(token)")]))
        _ = try await socket.message(talk.dialect == .graphqlTransportWS ? "connection_ack" : "ka")
        socket.send(talk.start("1"))
        switch talk.dialect {
        case .graphqlTransportWS: _ = try await socket.message("ready")
        case .appSync: _ = try await socket.message("start_ack")
        case .graphqlWS:
          socket.send(talk.initialise())
          _ = try await socket.message("connection_ack")
        }
        for (owner, text) in [("bob", "hidden"), ("ada", "own")] {
          _ = try await server.transaction { transaction in
            try transaction.create("Note", ["text": .string(text), "owner": .string(owner)])
          }
        }
        let event = try await socket.message(talk.event)
        #expect(event["payload"]?["data"]?["onCreateNote"]?["text"] == "own")
        socket.abort()
      }
    }
  }

  @Test func `a token that is not good is refused at every door, in its own form`() async throws {
    try await Self.with { server in
      let good = Mint.token("ada")
      let bad = [
        Mint.token("ada", until: 1_000), Mint.token("ada", audience: "other"), String(good.dropLast(2)) + "AA",
        Mint.token("ada", header: #"{"alg":"none"}"#), String(repeating: "a", count: 20_000) + ".a.a", "a.b.c", "x",
      ]
      for token in bad {
        let answer = try await HTTPRequest.graphql(
          "{ caller }", port: server.port, headers: [("Authorization", "Bearer \(token)")])
        #expect(answer.status == 401 && (token.count < 10 || !answer.text.contains(token)))
      }
      for talk in Talk.all {
        let socket = try await talk.open(server.port, authorization: ["Authorization": .string(bad[0])])
        socket.send(talk.initialise(["Authorization": .string(bad[0])]))
        if talk.dialect != .graphqlTransportWS {
          let error = try await socket.message()
          #expect(error["type"] == "connection_error", "\(talk.dialect): \(error)")
        }
        let codes: [Dialect: UInt16] = [.graphqlTransportWS: 4403, .graphqlWS: 1011, .appSync: 1008]
        #expect(await socket.closeCode() == codes[talk.dialect], "\(talk.dialect)")
      }
    }
  }

  @Test func `tokens appear in no log, metric or answer, and refusals say why in the log alone`() async throws {
    let recorder = LogRecorder()
    let file = try AccessFile(#"{"tokens":[\#(Mint.entry)]}"#)
    let shown = [
      Mint.token("ada"), Mint.token("ada", until: 1_000), Mint.token("ada", audience: "other"),
      Mint.token("ada", header: #"{"alg":"none"}"#),
    ]
    try await Served.with(
      Talk.schema,
      { configuration in
        configuration.access = .keys(file)
        configuration.log = recorder.log
      }
    ) { server in
      var answers: [String] = []
      for token in shown {
        let headers = [("Authorization", "Bearer \(token)")]
        let answer = try await HTTPRequest.graphql("{ nothing }", port: server.port, headers: headers)
        answers += [answer.head, answer.text]
        let socket = try await RawSocket.open(port: server.port)
        socket.send(#"{"type":"connection_init","payload":{"authToken":"\#(token)"}}"#)
        if token == shown[0] { _ = try await socket.message("connection_ack") } else { _ = await socket.closeCode() }
        socket.abort()
      }
      let own = [("Authorization", "Bearer \(shown[0])")]
      // Figures have the reasons by their names, as the log has them.
      let figures = try await HTTPRequest.send("GET", "/metrics", port: server.port, headers: own).text
      answers += recorder.entries.map { "\($0.message) \($0.metadata.map(\.value))" }
      let output = (answers + [figures]).joined(separator: "\n")
      for token in shown {
        for part in token.split(separator: ".") where part.count > 30 { #expect(!output.contains(part)) }
      }
      for reason in ["expired", "wrong-audience", "unsigned"] {
        #expect(recorder.entries.contains { $0.metadata.contains { $0.value == reason } }, "\(reason)")
        #expect(!answers.dropLast(recorder.entries.count).joined().contains(reason))
      }
    }
  }

  @Test func `modes are tried in order, and only callers that show nothing are guests`() async throws {
    let digest = Served.hexadecimal("some.key.text")
    let file = #"{"keys":[{"name":"board","sha256":"\#(digest)"}],"tokens":[\#(Mint.entry)],"guests":true}"#
    try await Self.with(file) { server in
      let expected: [([(String, String)], JSONValue?)] = [
        ([("x-api-key", "some.key.text")], "apiKey board"),
        ([("Authorization", "Bearer \(Mint.token("ada"))")], "oidc ada"), ([], "guest -"),
        ([("Authorization", "Bearer wrong")], nil), ([("Authorization", "Bearer \(Mint.token("a", until: 1))")], nil),
      ]
      for (headers, caller) in expected {
        let found = try await Self.caller(headers, server.port)
        #expect(found == caller, "\(headers)")
      }
      // A guest that proves more in its first message is no longer one.
      let socket = try await RawSocket.open(port: server.port)
      socket.send(#"{"type":"connection_init","payload":{"authToken":"\#(Mint.token("eve"))"}}"#)
      _ = try await socket.message("connection_ack")
      socket.subscribe("1", "{ caller }")
      #expect(try await socket.message("next")["payload"]?["data"]?["caller"] == "oidc eve")
      socket.abort()
    }
  }

  @Test func `a client is warned before its token ends, and another token of the same caller keeps its socket`()
    async throws
  {
    let file = try AccessFile(#"{"tokens":[\#(Mint.entry)]}"#)
    // The calendar of this server stands still, its loop's clock does not: a token has 200 ms from when it is shown.
    let server = try CountedServer(schema: Self.schema) { configuration in
      configuration.access = .keys(file)
      configuration.limits.session.credentialsWarning = .milliseconds(190)
      configuration.resolvers = { $0.compute("Query", "caller") { _ in JSONValue.null } }
    }
    let socket = try await RawSocket.open(port: server.port)
    let short = Mint.token("ada", until: 1_700_000_000.2)
    socket.send(
      #"{"type":"connection_init","payload":{"authToken":"\#(short)","martlet":{"cursors":true}}}"#,
      #"{"type":"ping","payload":{"martlet":{"credentials":{"authToken":"\#(Mint.token("bob"))"}}}}"#,
      #"{"type":"ping","payload":{"martlet":{"credentials":{"authToken":"\#(Mint.token("ada"))"}}}}"#)
    _ = try await socket.message("connection_ack")
    // Another caller's token is not one for this socket.
    for isAccepted in [false, true] {
      let pong = try await socket.message("pong")
      #expect(pong["payload"] == ["martlet": ["credentials": .bool(isAccepted)]])
    }
    let second = try await RawSocket.open(port: server.port)
    second.send(#"{"type":"connection_init","payload":{"authToken":"\#(short)","martlet":{"cursors":true}}}"#)
    let warning = try await second.message("ping")
    #expect(warning["payload"]?["martlet"]?["credentialsEndInMs"]?.int ?? -1 >= 0)
    #expect(await second.closeCode() == 4403)
    // The first has outlived the second.
    socket.subscribe("1", "{ caller }")
    #expect(try await socket.message("next")["id"] == "1")
    socket.abort()
    await server.stop()
  }

  @Test func `what a token admitted ends with it, and an operation of another caller on the socket continues`()
    async throws
  {
    let file = try AccessFile(#"{"tokens":[\#(Mint.entry)]}"#)
    // The clock of this server stands: a token has a tenth of a second left whenever it is shown.
    let server = try CountedServer(schema: Self.schema) { configuration in
      configuration.access = .keys(file)
      configuration.resolvers = { $0.compute("Query", "caller") { _ in JSONValue.null } }
    }
    let short = Mint.token("ada", until: 1_700_000_000.1)
    let socket = try await RawSocket.open(port: server.port)
    socket.send(#"{"type":"connection_init","payload":{"authToken":"\#(short)"}}"#)
    #expect(await socket.closeCode() == 4403)
    let talk = Talk(dialect: .appSync)
    let mixed = try await talk.open(server.port, authorization: ["Authorization": .string(Mint.token("ada"))])
    mixed.send(talk.initialise())
    _ = try await mixed.message("ka")
    mixed.send(talk.start("long"))
    _ = try await mixed.message("start_ack")
    mixed.send(talk.start("short", extensions: ["authorization": ["Authorization": .string(short)]]))
    let error = try await mixed.message("error")
    #expect(error["id"] == "short")
    let own = [("Authorization", "Bearer \(Mint.token("ada"))")]
    _ = try await HTTPRequest.graphql(
      "mutation { createNote(input: {text: \"t\"}) { id } }", port: server.port, headers: own)
    let event = try await mixed.message("data")
    #expect(event["id"] == "long")
    mixed.abort()
    // The connection's token ends, that of one of its operations does not.
    let reverse = try await talk.open(server.port, authorization: ["host": "a", "Authorization": .string(short)])
    let long: JSONObject = ["authorization": ["Authorization": .string(Mint.token("ada"))]]
    reverse.send(talk.initialise(), talk.start("own", extensions: long), talk.start("bare"))
    let ended = try await reverse.message("error")
    #expect(ended["id"] == "bare")
    _ = try await HTTPRequest.graphql(
      "mutation { createNote(input: {text: \"t\"}) { id } }", port: server.port, headers: own)
    let later = try await reverse.message("data")
    #expect(later["id"] == "own")
    reverse.send(talk.start("after"))
    let refused = try await reverse.message("error")
    #expect(refused["id"] == "after")
    reverse.abort()
    await server.stop()
  }
}
