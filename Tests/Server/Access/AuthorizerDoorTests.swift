import MartletAccess
import MartletGraphQLWire
import MartletJSON
import MartletRuntime
import MartletServer
import Testing

/// A custom authorizer, asked by HTTP, at every door.
@Suite(.timeLimit(.minutes(1))) struct AuthorizerDoorTests {
  private static let schema = """
    type Note @model @auth(rules: [{allow: custom, operations: [read]}, {allow: owner, provider: function}]) {
      id: ID! text: String
    }
    type Query { caller: String }
    """

  /// An authorizer: its answers by credential, and what it was asked. Credentials without an answer hang.
  private final class Authorizer: Sendable {
    let answers: Lock<[String: (status: Int, body: String)]>
    let asked = Lock<[String]>([])

    init(_ answers: [String: (status: Int, body: String)]) { self.answers = Lock(answers) }

    func with(_ body: (String) async throws -> Void) async throws {
      try await Served.with(
        "type Query { a: String }",
        { configuration in
          configuration.resolvers = { $0.compute("Query", "a") { _ in JSONValue.null } }
          configuration.endpoints = [
            try ServerEndpoint("/authorize", methods: ["POST"], access: .open) { [self] request, response in
              let text = (try? JSONValue(parsing: request.body))?["authorizationToken"]?.string ?? ""
              asked.withLock { $0.append(text) }
              guard let answer = answers.withLock({ $0[text] }) else {
                // Until the server that asks gives up, which cancels this.
                for await _ in AsyncStream<Never>.makeStream().stream {}
                return
              }
              await response.send(
                answer.status, headers: [("Location", "/authorize")], body: Array(answer.body.utf8))
            }
          ]
        }
      ) { try await body("http://127.0.0.1:\($0.port)/authorize") }
    }
  }

  private static func with(
    _ authorizer: Authorizer, timeout: Int = 5, recorder: LogRecorder = LogRecorder(), guests: Bool = false,
    _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    try await authorizer.with { address in
      let file = try AccessFile(
        #"{"tokens":[\#(Mint.entry)],"guests":\#(guests),"authorizer":{"url":"\#(address)","timeout":\#(timeout)}}"#)
      try await Served.with(
        schema,
        { configuration in
          configuration.access = .keys(file)
          configuration.log = recorder.log
          configuration.treeRules =
            #"{"rules":{".read":"auth.uid == 'ada'",".write":"auth.uid == 'ada'"}}"#
          configuration.resolvers = { resolvers in
            resolvers.compute("Query", "caller") { request in
              "\(request.identity.provider.rawValue) \(request.identity.subject ?? "-")"
            }
          }
        }, body)
    }
  }

  private static func status(_ token: String, _ port: Int) async throws -> Int {
    try await HTTPRequest.graphql("{ caller }", port: port, headers: [("Authorization", "Bearer \(token)")]).status
  }

  private static let ada = #"{"isAuthorized":true,"subject":"ada","groups":["staff"]}"#

  @Test func `a credential that is neither a key nor a token is judged by the authorizer, once while its answer holds`()
    async throws
  {
    let authorizer = Authorizer([
      "ada": (200, Self.ada), "a.b.c": (200, Self.ada), "once": (200, #"{"isAuthorized":true,"ttlOverride":0}"#),
    ])
    try await Self.with(authorizer) { server in
      for token in ["ada", "ada", "a.b.c", "once", "once"] {
        let answer = try await HTTPRequest.graphql(
          "{ caller }", port: server.port, headers: [("Authorization", "Bearer \(token)")])
        #expect(answer.json["data"]?["caller"] == (token == "once" ? "function -" : "function ada"))
      }
      #expect(authorizer.asked.withLock { $0 } == ["ada", "a.b.c", "once", "once"])
      // A token of a configured issuer is judged by its keys alone, also when they refuse it.
      #expect(try await Self.status(Mint.token("eve"), server.port) == 200)
      #expect(try await Self.status(Mint.token("eve", until: 1_000), server.port) == 401)
      #expect(authorizer.asked.withLock { $0.count } == 4)
    }
  }

  @Test(arguments: Talk.all)
  func `rules for custom callers apply to whom the authorizer accepts, in every dialect`(talk: Talk) async throws {
    let authorizer = Authorizer(["ada": (200, Self.ada), "bob": (401, "")])
    try await Self.with(authorizer) { server in
      let socket = try await talk.open(server.port, authorization: ["Authorization": "ada"])
      socket.send(talk.initialise(["Authorization": "ada"]))
      _ = try await socket.message(talk.dialect == .graphqlTransportWS ? "connection_ack" : "ka")
      socket.send(talk.start("1"))
      switch talk.dialect {
      case .graphqlTransportWS: _ = try await socket.message("ready")
      case .appSync: _ = try await socket.message("start_ack")
      case .graphqlWS:
        socket.send(talk.initialise())
        _ = try await socket.message("connection_ack")
      }
      _ = try await server.transaction { try $0.create("Note", ["text": "seen", "owner": "bob"]) }
      #expect(try await socket.message(talk.event)["payload"]?["data"]?["onCreateNote"]?["text"] == "seen")
      socket.abort()
      let refused = try await talk.open(server.port, authorization: ["Authorization": "bob"])
      refused.send(talk.initialise(["Authorization": "bob"]))
      if talk.dialect != .graphqlTransportWS { #expect(try await refused.message()["type"] == "connection_error") }
      let codes: [Dialect: UInt16] = [.graphqlTransportWS: 4403, .graphqlWS: 1011, .appSync: 1008]
      #expect(await refused.closeCode() == codes[talk.dialect], "\(talk.dialect)")
    }
  }

  @Test func `hanging, redirecting and garbage-answering authorizers refuse, are counted, and disturb no caller`()
    async throws
  {
    let authorizer = Authorizer([
      "ada": (200, Self.ada), "moved": (302, Self.ada), "broken": (500, ""), "garbage": (200, "<html>ok</html>"),
      "no": (200, #"{"isAuthorized":false}"#), "past": (200, #"{"isAuthorized":true,"expires":1000}"#),
      "large": (200, Self.ada + String(repeating: " ", count: 100_000)),
    ])
    let recorder = LogRecorder()
    try await Self.with(authorizer, timeout: 1, recorder: recorder) { server in
      async let hanging = Self.status("hang", server.port)
      for token in ["moved", "broken", "garbage", "no", "past", "large"] {
        #expect(try await Self.status(token, server.port) == 401, "\(token)")
        #expect(try await Self.status("ada", server.port) == 200)
      }
      #expect(try await hanging == 401)
      let own = [("Authorization", "Bearer ada")]
      let metrics = try await HTTPRequest.send("GET", "/metrics", port: server.port, headers: own).text
      let expected = [
        "status": 2, "malformed": 1, "refused": 2, "too-large": 1, "timeout": 1,
      ]
      for (reason, count) in expected {
        let line = "martlet_credentials_refused_by_reason_total{reason=\"authorizer-\(reason)\"} \(count)\n"
        #expect(metrics.contains(line), "\(reason)")
      }
      #expect(recorder.count(of: "The custom authorizer gave no usable answer.") == 5)
      let output = metrics + recorder.entries.map { "\($0.message) \($0.metadata.map(\.value))" }.joined()
      #expect(!output.contains("garbage") && !output.contains("<html>"))
    }
  }

  @Test func `another authorizer put in force ends what the old one accepted`() async throws {
    let authorizer = Authorizer(["ada": (200, Self.ada)])
    try await Self.with(authorizer) { server in
      let socket = try await RawSocket.open(port: server.port)
      socket.send(#"{"type":"connection_init","payload":{"authToken":"ada"}}"#)
      _ = try await socket.message("connection_ack")
      try server.reload(access: try AccessFile(#"{"tokens":[\#(Mint.entry)]}"#))
      #expect(await socket.closing() == RawSocket.Closing(4403, "The credentials were withdrawn."))
      #expect(try await Self.status("ada", server.port) == 401)
    }
  }

  @Test func `no more than 64 KiB is kept of what a client starts before its credential is judged`() async throws {
    try await Self.with(Authorizer([:])) { server in
      let socket = try await RawSocket.open(port: server.port, subprotocols: ["graphql-ws"])
      let filler = String(repeating: "x", count: 40_000)
      func start(_ id: String) -> String {
        #"{"id":"\#(id)","type":"start","payload":{"query":"{ caller } #\#(filler)"}}"#
      }
      socket.send(
        #"{"type":"connection_init","payload":{"Authorization":"Bearer hang"}}"#, start("1"), start("2"))
      let refusal = try await socket.message()
      #expect(refusal["type"] == "error" && refusal["id"] == "2", "\(refusal)")
      socket.abort()
    }
  }

  @Test func `a credential on the tree's socket waits for the authorizer, and what follows it is for its caller`()
    async throws
  {
    let authorizer = Authorizer(["ada": (200, Self.ada), "bob": (401, "")])
    try await Self.with(authorizer, guests: true) { server in
      let socket = try await RawSocket.open(port: server.port, subprotocols: [], target: "/.ws?v=5&ns=test")
      _ = try await socket.message()
      func request(_ number: Int, _ action: String, _ body: JSONValue) -> String {
        let message: JSONValue = ["t": "d", "d": ["r": .int(Int64(number)), "a": .string(action), "b": body]]
        return String(decoding: message.serialized(), as: UTF8.self)
      }
      // Sent together: the write and the second credential wait for the first.
      socket.send(
        request(1, "p", ["p": "/x", "d": 0]), request(2, "auth", ["cred": "ada"]),
        request(3, "p", ["p": "/x", "d": 1]), request(4, "auth", ["cred": "bob"]), request(5, "g", ["p": "/x"]),
        request(6, "unauth", [:]), request(7, "g", ["p": "/x"]))
      var answers: [Int64: JSONValue] = [:]
      while answers.count < 7 {
        let data = try await socket.message()["d"] ?? .null
        if let number = data["r"]?.int { answers[number] = data["b"] ?? .null }
      }
      #expect(answers[1]?["s"] == "permission_denied")
      #expect(answers[2]?["s"] == "ok" && answers[3]?["s"] == "ok")
      #expect(answers[4]?["s"] == "invalid_token")
      #expect(answers[5]?["d"] == 1, "a refused credential leaves the one before")
      #expect(answers[7]?["s"] == "permission_denied")
      socket.abort()
    }
  }

  @Test(arguments: [
    (#"{}"#, "has no \"url\""), (#"[]"#, "is not an object"), (#"{"url":"http://login.example/"}"#, "must be https"),
    (#"{"url":"https://a.example","timeout":0}"#, "\"timeout\" as whole seconds from 1 to 60"),
    (#"{"url":"https://a.example","cache":1.5}"#, "\"cache\""), (#"{"url":"https://a.example","ttl":1}"#, "\"ttl\""),
    (#"{"url":"https://u@a.example"}"#, "not an https URL"),
  ])
  func `a malformed entry is refused by name`(entry: String, message: String) throws {
    let error = try #require(throws: AccessFile.Malformed.self) { try AccessFile(#"{"authorizer":\#(entry)}"#) }
    #expect(error.description.contains(message), "\(error)")
    #expect(error.description.hasPrefix("\"authorizer\""))
  }
}
