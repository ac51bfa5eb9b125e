import MartletJSON
import MartletRuntime
import MartletServer
import MartletWire
import Testing

/// The caller's identity, from every door to the program's own code.
@Suite(.timeLimit(.minutes(1))) struct IdentityTests {
  private static let schema = """
    type Note @model { id: ID! text: String mine: String }
    type Query { caller: String computed: String people: [Person] }
    type Person { name: String caller: String }
    type Subscription { ticks: Tick heard(room: String): Message }
    type Tick { caller: String opened: String }
    type Message { room: String caller: String }
    """

  private static func text(_ identity: Identity) -> String {
    "\(identity.provider.rawValue) \(identity.subject ?? "-") \(identity.groups.joined(separator: ","))"
  }

  private static func with(
    _ adjust: @escaping (inout ServerConfiguration) throws -> Void, _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    try await Served.with(
      schema,
      { configuration in
        configuration.topics = ["heard": "messages"]
        configuration.resolvers = { resolvers in
          resolvers.resolve("Query", "caller") { Self.text($0.identity) }
          resolvers.compute("Query", "computed") { Self.text($0.identity) }
          resolvers.compute("Query", "people") { _ in [["name": "a"], ["name": "b"]] as JSONValue }
          resolvers.batch("Person", "caller") { request in request.sources.map { _ in Self.text(request.identity) } }
          resolvers.stream("Subscription", "ticks") { request in
            let opened = Self.text(request.identity)
            return AsyncStream<JSONValue> { continuation in
              continuation.yield(["opened": .string(opened)])
              continuation.finish()
            }
          }
          resolvers.resolve("Tick", "caller") { Self.text($0.identity) }
          resolvers.resolve("Message", "caller") { Self.text($0.identity) }
        }
        try adjust(&configuration)
      }, body)
  }

  /// The program names every caller by the first word of its credentials and groups it by the others.
  private static let question: ConnectionQuestion = { request in
    let shown = (request.payload["Authorization"] ?? request.payload["authToken"])?.string ?? ""
    let words = shown.split(separator: " ").map(String.init)
    guard let name = words.first else { return .refuse("Sign in first") }
    return .accept(as: Identity(provider: .function, subject: name, groups: Array(words.dropFirst())))
  }

  private static let query = "{ caller computed people { caller } }"

  private static func expected(_ text: String) -> JSONValue {
    [
      "caller": .string(text), "computed": .string(text),
      "people": [["caller": .string(text)], ["caller": .string(text)]],
    ]
  }

  @Test func `the program takes the place of API keys, and its identity reaches resolvers by HTTP`() async throws {
    try await Self.with({
      $0.access = .onConnect()
      $0.onConnect = Self.question
    }) { server in
      let ada = [("Authorization", "ada editors staff")]
      let single = try await HTTPRequest.graphql(Self.query, port: server.port, headers: ada)
      #expect(single.json["data"] == Self.expected("function ada editors,staff"), "\(single.text)")
      let batch = try await HTTPRequest.send(
        "POST", "/graphql", port: server.port, headers: [("Content-Type", "application/json")] + ada,
        body: #"[{"query":"{ caller }"},{"query":"{ computed }"}]"#)
      #expect(batch.json[0]?["data"]?["caller"] == "function ada editors,staff")
      #expect(batch.json[1]?["data"]?["computed"] == "function ada editors,staff")
      let nobody = try await HTTPRequest.graphql(Self.query, port: server.port)
      #expect(nobody.status == 403 && nobody.json["errors"]?[0]?["message"] == "Sign in first")
      #expect(try await HTTPRequest.send("GET", "/metrics", port: server.port).status == 403)
      #expect(try await HTTPRequest.send("GET", "/metrics", port: server.port, headers: ada).status == 200)
    }
  }

  @Test func `the identity reaches resolvers and source streams on a socket and on an event stream`() async throws {
    try await Self.with({
      $0.access = .onConnect()
      $0.onConnect = Self.question
    }) { server in
      let socket = try await RawSocket.open(port: server.port)
      socket.send(#"{"type":"connection_init","payload":{"authToken":"bob"}}"#)
      _ = try await socket.message("connection_ack")
      socket.subscribe("1", Self.query)
      #expect(try await socket.message("next")["payload"]?["data"] == Self.expected("function bob "))
      socket.subscribe("2", "subscription { ticks { opened caller } }")
      let tick: JSONValue = ["ticks": ["opened": "function bob ", "caller": "function bob "]]
      #expect(try await socket.message("next")["payload"]?["data"] == tick)
      socket.abort()
      let stream = try await StreamedResponse.open(
        "subscription { ticks { opened caller } }", accept: "text/event-stream", headers: [("Authorization", "eve x")],
        port: server.port)
      let heard = await stream.heard { if case .result = $0 { true } else { $0 == .ended } }
      let result: JSONValue = ["data": ["ticks": ["opened": "function eve x", "caller": "function eve x"]]]
      #expect(heard.last == .result(result), "\(heard)")
      stream.abort()
    }
  }

  @Test func `equal subscriptions of two callers do not share what resolvers made for one of them`() async throws {
    try await Self.with({
      $0.access = .onConnect()
      $0.onConnect = Self.question
    }) { server in
      var sockets: [(String, RawSocket)] = []
      for name in ["ada", "bob"] {
        let socket = try await RawSocket.open(port: server.port)
        socket.send(#"{"type":"connection_init","payload":{"authToken":"\#(name)","martlet":{"cursors":true}}}"#)
        _ = try await socket.message("connection_ack")
        socket.subscribe("1", "subscription { heard { room caller } }")
        _ = try await socket.message("ready")
        sockets.append((name, socket))
      }
      try await server.publish(topic: "messages", payload: ["room": "kitchen"])
      for (name, socket) in sockets {
        let data = try await socket.message("next")["payload"]?["data"]
        #expect(data == ["heard": ["room": "kitchen", "caller": .string("function \(name) ")]])
        socket.abort()
      }
    }
  }

  @Test func `without a program the identity is the API key's, and the system's in development`() async throws {
    try await Self.with({ $0.access = .keys(try Served.access("secret")) }) { server in
      let answer = try await HTTPRequest.graphql(Self.query, port: server.port, headers: [("x-api-key", "secret")])
      #expect(answer.json["data"] == Self.expected("apiKey secret "))
    }
    try await Self.with({ _ in }) { server in
      let answer = try await HTTPRequest.graphql(Self.query, port: server.port)
      #expect(answer.json["data"] == Self.expected("system - "))
    }
  }

  @Test func `an identity that has expired is refused, and one that expires ends its stream`() async throws {
    let now = WallClock.sinceEpoch()
    try await Self.with({
      $0.onConnect = { request in
        var identity = Identity(provider: .function, subject: "ada")
        identity.expires = request.payload["authToken"] == "old" ? now - .seconds(1) : now + .seconds(1)
        return .accept(as: identity)
      }
    }) { server in
      let old = try await HTTPRequest.graphql("{ caller }", port: server.port, headers: [("authToken", "old")])
      #expect(old.status == 403 && old.text.contains("expired"))
      let stream = try await StreamedResponse.open(
        "subscription { heard { room } }", accept: "text/event-stream", headers: [("authToken", "new")],
        port: server.port)
      let heard = await stream.heard { $0 == .ended }
      #expect("\(heard)".contains("UNAUTHENTICATED"), "\(heard)")
    }
  }

  @Test func `access by onConnect without one is refused at the start`() {
    var configuration = ServerConfiguration(schema: "type Note @model { id: ID! }")
    configuration.access = .onConnect()
    let missing = #expect(throws: ServerError.self) { try GraphQLServer(configuration) }
    #expect(missing?.code == .access && missing?.description.contains("onConnect") == true)
  }
}
