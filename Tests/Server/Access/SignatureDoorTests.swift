import MartletGraphQLWire
import MartletJSON
import MartletRuntime
import MartletServer
import MartletVocabulary
import MartletWire
import Testing

/// Requests that are signed by configured access keys, as AppSync's IAM mode has it.
@Suite(.timeLimit(.minutes(1))) struct SignatureDoorTests {
  private static let schema = """
    type Note @model @auth(rules: [{allow: private, provider: iam}]) { id: ID! text: String }
    type Query { caller: String }
    """
  private static let keys = RequestSigner.Keys(accessKeyID: "AKIDBOARD", secretAccessKey: "0123456789abcdef")
  private static let file =
    #"{"keys":[{"name":"board","sha256":"\#(Served.hexadecimal("board"))"}],"#
    + #""signing":[{"accessKeyID":"AKIDBOARD","secretAccessKey":"0123456789abcdef","region":"eu-central-1","groups":["staff"]}]}"#
  /// What the calendar of a counted server says, which stands still.
  private static let now: Int64 = 1_700_000_000_000

  private static func with(_ body: (CountedServer) async throws -> Void) async throws {
    let file = try AccessFile(file)
    let server = try CountedServer(schema: schema) { configuration in
      configuration.access = .keys(file)
      configuration.resolvers = { resolvers in
        resolvers.compute("Query", "caller") { request in
          "\(request.identity.provider.rawValue) \(request.identity.subject ?? "-") \(request.identity.groups)"
        }
      }
    }
    do {
      try await body(server)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  private static func signed(
    _ target: String, _ body: String, keys: RequestSigner.Keys = keys, region: String = "eu-central-1",
    at moment: Int64 = now
  ) -> [RequestSigner.Field] {
    RequestSigner(keys, region: region, service: "appsync").signed(
      "POST", target, [(name: "host", value: "api.example"), (name: "content-type", value: "application/json")],
      body: Array(body.utf8), at: moment)
  }

  private static func post(
    _ fields: [RequestSigner.Field], _ body: String, _ port: Int, target: String = "/graphql"
  ) async throws -> HTTPRequest.Answer {
    try await HTTPRequest.send(
      "POST", target, port: port, host: "api.example",
      headers: fields.filter { $0.name != "host" }.map { ($0.name, $0.value) }, body: body)
  }

  @Test func `a signed request is its key's, and any change of it is refused`() async throws {
    try await Self.with { server in
      let body = #"{"query":"{ caller }"}"#
      let good = try await Self.post(Self.signed("/graphql", body), body, server.port)
      #expect(good.json["data"]?["caller"] == #"iam AKIDBOARD ["staff"]"#, "\(good.text)")
      let other = RequestSigner.Keys(accessKeyID: "AKIDBOARD", secretAccessKey: "0123456789abcdeX")
      let stranger = RequestSigner.Keys(accessKeyID: "AKIDOTHER", secretAccessKey: "0123456789abcdef")
      let refused = [
        try await Self.post(Self.signed("/graphql", body), #"{"query":"{ caller } "}"#, server.port),
        try await Self.post(Self.signed("/graphql", body, keys: other), body, server.port),
        try await Self.post(Self.signed("/graphql", body, keys: stranger), body, server.port),
        try await Self.post(Self.signed("/graphql", body, region: "us-east-1"), body, server.port),
        try await Self.post(Self.signed("/graphql", body, at: Self.now - 600_000), body, server.port),
        try await Self.post(Self.signed("/graphql", body), body, server.port, target: "/graphql/stream"),
        try await Self.post([("Authorization", "AWS4-HMAC-SHA256 x")], body, server.port),
      ]
      for (position, answer) in refused.enumerated() { #expect(answer.status == 401, "\(position): \(answer.text)") }
      let metrics = try await HTTPRequest.send(
        "GET", "/metrics", port: server.port, headers: [("x-api-key", "board")]
      ).text
      for (reason, count) in ["wrong": 3, "scope": 1, "skewed": 1, "malformed": 1] {
        #expect(metrics.contains("by_reason_total{reason=\"signature-\(reason)\"} \(count)\n"), "\(reason)")
      }
      #expect(!metrics.contains("AKID"))
    }
  }

  @Test
  func `handshake and each subscription of AppSync's protocol are signed by themselves, and may be mixed with keys`()
    async throws
  {
    try await Self.with { server in
      func signer(_ keys: RequestSigner.Keys) -> AppSyncRealtime.Signer {
        AppSyncRealtime.Signer(
          keys, region: "eu-central-1", host: "api.example", target: "/graphql", calendar: Self.now, at: .zero)
      }
      let talk = Talk(dialect: .appSync)
      func start(_ id: String, _ data: String, _ authorization: JSONObject) -> String {
        let payload: JSONValue = ["data": .string(data), "extensions": ["authorization": .object(authorization)]]
        let message: JSONValue = ["id": .string(id), "type": "start", "payload": payload]
        return String(decoding: message.serialized(), as: UTF8.self)
      }
      let data = #"{"query":"subscription { onCreateNote { text } }","variables":{}}"#
      let socket = try await talk.open(server.port, authorization: signer(Self.keys).connection(at: .zero))
      socket.send(talk.initialise())
      _ = try await socket.message("ka")
      socket.send(start("1", data, signer(Self.keys).subscription(Array(data.utf8), at: .zero)))
      _ = try await socket.message("start_ack")
      // The signature of another text, the handshake's own, and a key that the rules do not mean.
      socket.send(start("2", data, signer(Self.keys).subscription(Array("{}".utf8), at: .zero)))
      #expect(try await socket.message("error")["id"] == "2")
      socket.send(start("3", data, signer(Self.keys).connection(at: .zero)))
      #expect(try await socket.message("error")["id"] == "3")
      socket.send(start("4", data, ["x-api-key": "board"]))
      #expect(try await socket.message("error")["id"] == "4")
      let body = #"{"query":"mutation { createNote(input: {text: \"t\"}) { id } }"}"#
      #expect(try await Self.post(Self.signed("/graphql", body), body, server.port).status == 200)
      #expect(try await socket.message("data")["id"] == "1")
      socket.abort()
      // A handshake that is not signed by the key.
      let other = RequestSigner.Keys(accessKeyID: "AKIDBOARD", secretAccessKey: "0123456789abcdeX")
      let refused = try await talk.open(server.port, authorization: signer(other).connection(at: .zero))
      refused.send(talk.initialise())
      #expect(try await refused.message()["type"] == "connection_error")
      #expect(await refused.closeCode() == 1008)
      // As header fields of the upgrade.
      let headers = AppSyncRealtime.Signer(
        Self.keys, region: "eu-central-1", host: "127.0.0.1:\(server.port)", target: "/graphql", calendar: Self.now,
        at: .zero
      ).connection(at: .zero)
      let fields = headers.compactMap { name, value in name == "host" ? nil : value.string.map { (name, $0) } }
      let headed = try await RawSocket.open(
        port: server.port, subprotocols: ["graphql-ws"], headers: fields,
        target: "/graphql/realtime")
      headed.send(talk.initialise())
      _ = try await headed.message("ka")
      headed.abort()
    }
  }

  @Test func `a key that is taken from the file ends what it signed`() async throws {
    let file = try AccessFile(Self.file)
    try await Served.with(
      "type Note @model { id: ID! text: String }", { $0.access = .keys(file) }
    ) { server in
      let now = WallClock.sinceEpoch().components.seconds * 1_000
      let signer = AppSyncRealtime.Signer(
        Self.keys, region: "eu-central-1", host: "a", target: "/graphql", calendar: now, at: .zero)
      let talk = Talk(dialect: .appSync)
      let socket = try await talk.open(server.port, authorization: signer.connection(at: .zero))
      socket.send(talk.initialise())
      _ = try await socket.message("ka")
      try server.reload(access: try Served.access("board"))
      #expect(await socket.closeCode() == 1008)
    }
  }

  @Test(arguments: [
    (#"{"signing":{}}"#, "\"signing\" must be a list"), (#"{"signing":[{"accessKeyID":"a"}]}"#, "signing[0] needs"),
    (#"{"signing":[{"accessKeyID":"a","secretAccessKey":"short"}]}"#, "16 bytes"),
    (#"{"signing":[{"accessKeyID":"a","secretAccessKey":"0123456789abcdef","scope":1}]}"#, "\"scope\""),
    (
      #"{"signing":[{"accessKeyID":"a","secretAccessKey":"0123456789abcdef"},"#
        + #"{"accessKeyID":"a","secretAccessKey":"0123456789abcdee"}]}"#, "two keys are called \"a\""
    ),
  ])
  func `malformed entries are refused by name, without their secrets`(text: String, message: String) throws {
    let error = try #require(throws: AccessFile.Malformed.self) { try AccessFile(text) }
    #expect(error.description.contains(message), "\(error)")
    #expect(!error.description.contains("0123456789"))
  }
}
