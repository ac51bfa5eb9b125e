import MartletAccess
import MartletJSON
import MartletServer
import MartletWire
import Testing

/// Credentials in the query of `/PATH.json`, as the REST clients of the Realtime Database show them.
@Suite(.timeLimit(.minutes(1))) struct TreeCredentialTests {
  private static let rules = """
    {"rules": {
      "open": {".read": true, ".write": true},
      "users": {"$uid": {".read": "auth.uid == $uid", ".write": "auth.uid == $uid"}}
    }}
    """

  /// An access file with the key `k`, the tokens of `Mint`, guests, and these members.
  private static func file(_ more: String = "") throws -> AccessFile {
    let key = #"{"name":"k","sha256":"\#(Served.hexadecimal("k"))"}"#
    return try AccessFile(#"{"keys":[\#(key)],"tokens":[\#(Mint.entry)],"guests":true\#(more)}"#)
  }

  private static func with(
    _ more: String = "", _ adjust: (inout ServerConfiguration) throws -> Void = { _ in },
    _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    try await Served.with(
      TreeRESTTests.schema,
      {
        $0.treeRules = rules
        $0.access = .keys(try file(more))
        try adjust(&$0)
      }, body)
  }

  private static func status(
    _ target: String, as method: String = "GET", headers: [(String, String)] = [], port: Int
  ) async throws -> Int {
    try await HTTPRequest.send(
      method, target, port: port, headers: headers, body: ["GET", "DELETE"].contains(method) ? nil : #"{"a": 1}"#
    ).status
  }

  @Test func `a query holds no credentials unless that is configured`() async throws {
    try await Self.with { (server: GraphQLServer) async throws in
      let token = Mint.token("ada")
      for name in ["auth", "access_token"] {
        #expect(try await Self.status("/users/ada.json?\(name)=\(token)", port: server.port) == 401, "\(name)")
        // Its caller is a guest, as without it.
        #expect(try await Self.status("/open.json?\(name)=\(token)", port: server.port) == 200, "\(name)")
        #expect(try await Self.status("/open.json?\(name)=nonsense", port: server.port) == 200, "\(name)")
      }
    }
  }

  @Test(arguments: ["the access file", "the configuration"])
  func `where a query may hold credentials they open what the rules give their caller, once and at the tree alone`(
    place: String
  ) async throws {
    try await Self.with(
      place == "the access file" ? #", "queryCredentials": true"# : "",
      { $0.queryCredentials = place == "the configuration" }
    ) { (server: GraphQLServer) async throws in
      let (port, token) = (server.port, Mint.token("ada"))
      for name in ["auth", "access_token"] {
        for method in ["GET", "PUT", "PATCH", "POST", "DELETE"] {
          #expect(try await Self.status("/users/ada.json?\(name)=\(token)", as: method, port: port) == 200, "\(method)")
          #expect(try await Self.status("/users/bob.json?print=pretty&\(name)=\(token)", as: method, port: port) == 401)
        }
        #expect(try await Self.status("/users/k.json?\(name)=k", port: port) == 200)
        // What is shown and not accepted is refused, also where a guest may read.
        for wrong in ["nonsense", "", token + "x", Mint.token("ada", until: 1_000)] {
          #expect(try await Self.status("/open.json?\(name)=\(wrong)", port: port) == 401, "\(wrong)")
        }
      }
      // Two credentials may be two callers'.
      for query in ["auth=\(token)&auth=k", "auth=\(token)&access_token=\(token)"] {
        #expect(try await Self.status("/users/ada.json?\(query)", port: port) == 401, "\(query)")
      }
      for header in [("Authorization", "Bearer \(token)"), ("x-api-key", "k")] {
        #expect(try await Self.status("/users/ada.json?auth=\(token)", headers: [header], port: port) == 401)
      }
      // Other doors take none.
      let query = "/graphql?query=%7B__typename%7D&auth=nonsense"
      #expect(try await Self.status(query, port: port) == 200)
    }
  }

  @Test func `an event stream opened by a credential in the query ends with it, and a reload turns the setting`()
    async throws
  {
    try await Self.with(#", "queryCredentials": true"#) { (server: GraphQLServer) async throws in
      let (port, token) = (server.port, Mint.token("ada"))
      let head = HTTPRequestHead(
        method: "GET", target: "/users/ada.json?auth=\(token)",
        headers: HTTPHeaders([("Host", "127.0.0.1:\(port)"), ("Accept", "text/event-stream")]))
      let stream = try await StreamedResponse.send(head, body: nil, readingEvents: true, port: port)
      func event(_ name: String) async {
        let heard = await stream.heard { if case .event(let event) = $0 { event.name == name } else { false } }
        if case .event(let event)? = heard.last { #expect(event.name == name) } else { Issue.record("\(heard)") }
      }
      await event("put")
      try server.reload(access: try Served.access("k"))
      await event("auth_revoked")
      stream.abort()
      try server.reload(access: try Self.file())
      #expect(try await Self.status("/users/ada.json?auth=\(token)", port: port) == 401)
      try server.reload(access: try Self.file(#", "queryCredentials": true"#))
      #expect(try await Self.status("/users/ada.json?auth=\(token)", port: port) == 200)
    }
  }

  @Test func `a program that decides is shown what the query holds, where that is configured`() async throws {
    for isOn in [false, true] {
      try await Served.with(
        TreeRESTTests.schema,
        {
          $0.treeRules = Self.rules
          $0.access = .onConnect()
          $0.queryCredentials = isOn
          $0.onConnect = { request in
            guard request.payload["Authorization"] == "Bearer ticket" else { return .refuse() }
            return .accept(as: Identity(provider: .function, subject: "ada"))
          }
        }
      ) { (server: GraphQLServer) async throws in
        #expect(try await Self.status("/users/ada.json?auth=ticket", port: server.port) == (isOn ? 200 : 403))
      }
    }
  }

  @Test func `the emulator's credential works in a query in development, where that is configured`() async throws {
    for isOn in [false, true] {
      try await Served.with(
        TreeRESTTests.schema,
        {
          $0.treeRules = Self.rules
          $0.queryCredentials = isOn
        }
      ) { (server: GraphQLServer) async throws in
        #expect(try await Self.status("/users/ada.json?access_token=owner", port: server.port) == (isOn ? 200 : 401))
      }
    }
  }

  @Test func `logs of a run with credentials in queries have none of them`() async throws {
    let (log, audit) = (LogRecorder(), LogRecorder())
    try await Self.with(
      #", "queryCredentials": true"#,
      {
        $0.log = log.log
        $0.audit = audit.log
      }
    ) { (server: GraphQLServer) async throws in
      let token = Mint.token("ada")
      for credential in [token, "SECRETTICKET", Mint.token("ada", until: 1_000)] {
        for path in ["/users/ada.json", "/users/bob.json", "/a.b.json", "/nowhere", "/%.json"] {
          for method in ["GET", "PUT", "BREW"] {
            _ = try await Self.status("\(path)?auth=\(credential)", as: method, port: server.port)
          }
        }
      }
      let metrics = try await HTTPRequest.send("GET", "/metrics", port: server.port, headers: [("x-api-key", "k")])
      let lines = (log.entries + audit.entries).flatMap { [$0.message] + $0.metadata.map(\.value) } + [metrics.text]
      #expect(lines.count > 10)
      for line in lines {
        #expect(!line.contains("SECRETTICKET") && !line.contains(token.suffix(30)) && !line.contains("eyJ"), "\(line)")
      }
    }
  }
}
