import MartletJSON
import MartletServer
import Testing

/// `treeChanged(path:)`: the tree through a GraphQL subscription.
@Suite(.timeLimit(.minutes(1))) struct TreeSubscriptionTests {
  private static let rules = """
    {"rules": {".write": true, "open": {".read": true}, "mine": {".read": "auth.uid == 'ada'"}}}
    """

  private func serve(_ body: (GraphQLServer) async throws -> Void) async throws {
    try await Served.with(
      "type Note @model @auth(rules: [{allow: private}]) { id: ID! }",
      { configuration in
        configuration.treeRules = Self.rules
        configuration.access = .onConnect()
        configuration.onConnect = RuleFixture.question
      }, body)
  }

  private static func document(_ path: String) -> String {
    "subscription { treeChanged(path: \"\(path)\") { path value } }"
  }

  private func put(_ target: String, _ body: String, _ server: GraphQLServer) async throws {
    let answer = try await HTTPRequest.send("PUT", target, port: server.port, headers: [], body: body)
    #expect(answer.status == 200, "\(answer.text)")
  }

  private func next(_ socket: RawSocket) async throws -> JSONValue? {
    try await socket.message("next")["payload"]?["data"]?["treeChanged"]
  }

  @Test func `writes at, below and above the path are events with the place and the value, others are none`()
    async throws
  {
    try await serve { server in
      let socket = try await RuleFixture.socket(as: "ada", server.port)
      socket.subscribe("1", Self.document("/open/a"))
      _ = try await socket.message("ready")
      try await put("/open/a/x.json", #"{"y": 1}"#, server)
      #expect(try await next(socket) == ["path": "/open/a/x", "value": #"{"y":1}"#])
      try await put("/open/b.json", "2", server)
      try await put("/open/a.json", #""text""#, server)
      #expect(try await next(socket) == ["path": "/open/a", "value": #""text""#])
      try await put("/open.json", #"{"a": {"z": true}, "c": 3}"#, server)
      #expect(try await next(socket) == ["path": "/open/a", "value": #"{"z":true}"#])
      try await put("/.json", #"{"other": 1}"#, server)
      #expect(try await next(socket) == ["path": "/open/a", "value": .null])
      // Clients see the field in the schema.
      let fields = try await RuleFixture.post("{ __type(name: \"TreeChange\") { name } }", as: "ada", server.port)
      #expect(fields["errors"] != nil || fields["data"]?["__type"]?["name"] == "TreeChange")
    }
  }

  @Test func `every transport carries treeChanged`() async throws {
    try await Served.with(
      "type Note @model { id: ID! }", { $0.treeRules = #"{"rules": {".read": true, ".write": true}}"# }
    ) { server in
      var sockets: [(Talk, RawSocket)] = []
      for talk in Talk.all {
        let socket = try await talk.acknowledged(server.port)
        socket.send(talk.start("1", Self.document("/open")))
        sockets.append((talk, socket))
      }
      var streams: [StreamedResponse] = []
      for accept in ["text/event-stream", "multipart/mixed;subscriptionSpec=1.0"] {
        streams.append(try await StreamedResponse.open(Self.document("/open"), accept: accept, port: server.port))
      }
      try await GraphQLWSSocketTests.subscriptions(sockets.count + streams.count, server)
      try await put("/open/a.json", #"{"x": [1]}"#, server)
      let change: JSONValue = ["treeChanged": ["path": "/open/a", "value": #"{"x":{"0":1}}"#]]
      for (talk, socket) in sockets {
        #expect(try await socket.message(talk.event)["payload"]?["data"] == change, "\(talk.testDescription)")
      }
      for stream in streams {
        let heard = await stream.heard { if case .result = $0 { true } else { false } }
        guard case .result(let result)? = heard.last else { return #expect(Bool(false), "\(heard)") }
        #expect(result["data"] == change)
        stream.abort()
      }
    }
  }

  @Test func `a caller that may not read the path is refused, and a path that is none`() async throws {
    try await serve { server in
      let (ada, eve) = (
        try await RuleFixture.socket(as: "ada", server.port), try await RuleFixture.socket(as: "eve", server.port)
      )
      ada.subscribe("1", Self.document("/mine"))
      _ = try await ada.message("ready")
      for (path, code) in [("/mine", "FORBIDDEN"), ("/elsewhere", "FORBIDDEN"), ("/a.b", "BAD_USER_INPUT")] {
        eve.subscribe(path, Self.document(path))
        let error = try await eve.message("error")
        #expect(error["payload"]?[0]?["extensions"]?["code"]?.string == code, "\(error)")
      }
      eve.subscribe("records", Self.document("/models/Note"))
      #expect(try await eve.message("error")["payload"]?[0]?["extensions"]?["code"] == "BAD_USER_INPUT")
      try await put("/mine/x.json", "1", server)
      #expect(try await next(ada) == ["path": "/mine/x", "value": "1"])
    }
  }

  @Test func `a subscription resumes after its cursor, without a lost or repeated event`() async throws {
    try await serve { server in
      let first = try await RuleFixture.socket(as: "ada", server.port)
      first.subscribe("1", Self.document("/open"))
      let view = try await first.message("ready")["view"]?.string
      try await put("/open/a.json", "1", server)
      let event = try await first.message("next")
      let cursor = try #require(event["cursor"]?.string)
      first.abort()
      try await put("/open/a.json", "2", server)
      try await put("/other.json", "3", server)
      try await put("/open/b.json", "4", server)
      let ready = try await RuleFixture.socket(as: "ada", server.port)
      ready.subscribe("1", Self.document("/open"), resume: cursor, view: view)
      var values: [JSONValue] = []
      while values.count < 2 {
        let message = try await ready.message("next")
        values.append(message["payload"]?["data"]?["treeChanged"]?["value"] ?? .null)
      }
      #expect(values == ["2", "4"])
    }
  }

  @Test func `other rules end the subscriptions that they no longer allow, and no others`() async throws {
    try await serve { server in
      let (ada, eve) = (
        try await RuleFixture.socket(as: "ada", server.port), try await RuleFixture.socket(as: "eve", server.port)
      )
      for socket in [ada, eve] {
        socket.subscribe("1", Self.document("/open"))
        _ = try await socket.message("ready")
      }
      try await server.reload(treeRules: #"{"rules": {".write": true, "open": {".read": "auth.uid == 'ada'"}}}"#)
      let error = try await eve.message("error")
      #expect(error["payload"]?[0]?["extensions"]?["code"] == "ACCESS_REVOKED")
      try await put("/open/a.json", "1", server)
      #expect(try await next(ada) == ["path": "/open/a", "value": "1"])
    }
  }
}
