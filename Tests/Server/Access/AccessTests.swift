import MartletAccess
import MartletJSON
import MartletRuntime
import MartletServer
import MartletSockets
import Testing

/// Which clients may use a server, and what happens to all others.
@Suite(.timeLimit(.minutes(1))) struct AccessTests {
  private static let schema = "type Note @model { id: ID! text: String }"
  private static let query = "{ listNotes { items { id } } }"

  @Test func `a server without an access configuration does not start and says how to write one`() {
    let configuration = ServerConfiguration(schema: Self.schema)
    let error = #expect(throws: ServerError.self) { try GraphQLServer(configuration) }
    #expect(error?.code == .access)
    #expect(error?.description.contains("--dev") == true && error?.description.contains("sha256") == true)
  }

  @Test func `development binds loopback addresses only`() {
    var configuration = ServerConfiguration(schema: Self.schema)
    configuration.access = .development
    configuration.address = "0.0.0.0"
    let error = #expect(throws: ServerError.self) { try GraphQLServer(configuration) }
    #expect(error?.code == .access)
  }

  @Test func `a key opens HTTP as x-api-key and as bearer, and nothing else does`() async throws {
    try await Served.with(Self.schema, { $0.access = .keys(try Served.access("secret", "second")) }) { server in
      let port = server.port
      for headers in [[("x-api-key", "secret")], [("Authorization", "Bearer second")]] {
        let answer = try await HTTPRequest.graphql(Self.query, port: port, headers: headers)
        #expect(answer.status == 200 && answer.json["data"]?["listNotes"] != nil)
      }
      for headers in [[], [("x-api-key", "secre")], [("Authorization", "Bearer x")]] {
        let answer = try await HTTPRequest.graphql(Self.query, port: port, headers: headers)
        #expect(answer.status == 401, "\(headers)")
        #expect(answer.head.contains("WWW-Authenticate: Bearer"))
        #expect(answer.json["errors"]?[0]?["extensions"]?["code"] == "UNAUTHENTICATED")
      }
      #expect(try await HTTPRequest.send("GET", "/metrics", port: port).status == 401)
      #expect(try await HTTPRequest.send("GET", "/healthz", port: port).status == 200)
    }
  }

  @Test func `a key opens a socket in the handshake and in connection_init; without one it closes with 4403`()
    async throws
  {
    try await Served.with(Self.schema, { $0.access = .keys(try Served.access("secret")) }) { server in
      for payload in [#"{"x-api-key":"secret"}"#, #"{"Authorization":"Bearer secret"}"#] {
        let socket = try await RawSocket.open(port: server.port)
        socket.send(#"{"type":"connection_init","payload":\#(payload)}"#)
        #expect(try await socket.message()["type"] == "connection_ack")
        socket.abort()
      }
      let inHeader = try await RawSocket.open(port: server.port, headers: [("x-api-key", "secret")])
      inHeader.send(#"{"type":"connection_init"}"#)
      #expect(try await inHeader.message()["type"] == "connection_ack")
      inHeader.abort()
      let stranger = try await RawSocket.open(port: server.port)
      stranger.send(#"{"type":"connection_init","payload":{"x-api-key":"guess"}}"#)
      #expect(await stranger.closeCode() == 4403)
    }
  }

  @Test func `a key is refused from its end on, and a socket that it opened is closed then`() async throws {
    let now = WallClock.sinceEpoch().components.seconds
    let entries = [("old", now - 1), ("short", now + 2)].map { name, end in
      APIKey(name: name, digest: Digest.sha256(Array(name.utf8)), expires: .seconds(end)).entry.description
    }
    let access = try AccessFile(#"{"keys":[\#(entries.joined(separator: ","))]}"#)
    try await Served.with(Self.schema, { $0.access = .keys(access) }) { server in
      let old = try await HTTPRequest.graphql(Self.query, port: server.port, headers: [("x-api-key", "old")])
      #expect(old.status == 401)
      let socket = try await RawSocket.open(port: server.port, headers: [("x-api-key", "short")])
      socket.send(#"{"type":"connection_init"}"#)
      #expect(try await socket.message()["type"] == "connection_ack")
      #expect(await socket.closeCode() == 4403)
      let short = try await HTTPRequest.graphql(Self.query, port: server.port, headers: [("x-api-key", "short")])
      #expect(short.status == 401)
    }
  }

  @Test func `a key with a scope does no more than its entry says, on every field`() async throws {
    let keys = [
      APIKey(name: "reader", digest: [], scope: AccessScope(operations: AccessOperation.reads)),
      APIKey(name: "noter", digest: [], scope: AccessScope(models: ["Note"])),
    ].map { key in
      var key = key
      key.digest = Digest.sha256(Array(key.name.utf8))
      return key.entry.description
    }
    let access = try AccessFile(#"{"keys":[\#(keys.joined(separator: ","))]}"#)
    let schema =
      "type Note @model { id: ID! } type Other @model { id: ID! } type Query { own: String } type Mutation { set: String }"
    let setUp: (inout ServerConfiguration) -> Void = { configuration in
      configuration.access = .keys(access)
      configuration.resolvers = { resolvers in
        resolvers.compute("Query", "own") { _ in "own" as JSONValue }
        resolvers.compute("Mutation", "set") { _ in "set" as JSONValue }
      }
    }
    try await Served.with(schema, setUp) { server in
      let allowed: [(query: String, reader: Bool, noter: Bool)] = [
        ("{ listNotes { items { id } } }", true, true), ("{ listOthers { items { id } } }", true, false),
        ("mutation { createNote(input: {id: \"a\"}) { id } }", false, true),
        ("mutation { createOther(input: {id: \"a\"}) { id } }", false, false),
        ("{ own }", true, false), ("{ ...on Query { own } }", true, false), ("mutation { set }", false, false),
      ]
      for row in allowed {
        for (key, isAllowed) in [("reader", row.reader), ("noter", row.noter)] {
          let answer = try await HTTPRequest.graphql(row.query, port: server.port, headers: [("x-api-key", key)])
          let code = answer.json["errors"]?[0]?["extensions"]?["code"]
          #expect(code == (isAllowed ? nil : "FORBIDDEN"), "\(key): \(row.query): \(answer.text)")
        }
      }
    }
  }

  @Test func `other keys take effect at once`() async throws {
    try await Served.with(Self.schema, { $0.access = .keys(try Served.access("old")) }) { server in
      try server.reload(access: try Served.access("new"))
      for (key, status) in [("old", 401), ("new", 200)] {
        let answer = try await HTTPRequest.graphql(Self.query, port: server.port, headers: [("x-api-key", key)])
        #expect(answer.status == status)
      }
    }
  }

  @Test func `pages of others cannot use a development server`() async throws {
    try await Served.with(Self.schema) { server in
      let port = server.port
      let rows: [(host: String?, origin: String?, status: Int)] = [
        (nil, nil, 200), ("localhost:\(port)", "http://localhost:3000", 200), ("[::1]:\(port)", nil, 200),
        ("evil.example", nil, 403), ("127.0.0.1.evil.example", nil, 403), (nil, "https://evil.example", 403),
        (nil, "null", 403), (nil, "http://localhost.evil.example", 403),
      ]
      for row in rows {
        var headers = [("Content-Type", "application/json")]
        if let origin = row.origin { headers.append(("Origin", origin)) }
        let answer = try await HTTPRequest.send(
          "POST", "/graphql", port: port, host: row.host, headers: headers, body: #"{"query":"{ __typename }"}"#)
        #expect(answer.status == row.status, "\(row)")
      }
      await #expect(throws: (any Error).self) {
        _ = try await RawSocket.open(port: port, headers: [("Origin", "https://evil.example")])
      }
    }
  }

  @Test func `listed origins may use a server with keys, others may not`() async throws {
    let access = try Served.access("k", origins: #"["https://board.example"]"#)
    try await Served.with(Self.schema, { $0.access = .keys(access) }) { server in
      for (origin, status) in [("https://board.example", 200), ("https://board.example.evil", 403)] {
        let answer = try await HTTPRequest.graphql(
          Self.query, port: server.port, headers: [("x-api-key", "k"), ("Origin", origin)])
        #expect(answer.status == status)
      }
    }
  }

  @Test func `introspection is open in development and closed otherwise`() async throws {
    let question = "{ __schema { queryType { name } } }"
    try await Served.with(Self.schema) { server in
      let answer = try await HTTPRequest.graphql(question, port: server.port)
      #expect(answer.json["data"]?["__schema"]?["queryType"]?["name"] == "Query")
    }
    try await Served.with(Self.schema, { $0.access = .keys(try Served.access("k")) }) { server in
      let key = [("x-api-key", "k")]
      let answer = try await HTTPRequest.graphql(question, port: server.port, headers: key)
      #expect(answer.json["errors"]?.array?.isEmpty == false)
      #expect(answer.json["data"]?["__schema"] == nil)
      let typename = try await HTTPRequest.graphql("{ __typename }", port: server.port, headers: key)
      #expect(typename.json["data"]?["__typename"] == "Query")
    }
  }

  @Test func `introspection can be opened outside development, and closed in it`() async throws {
    let question = "{ __schema { queryType { name } } }"
    try await Served.with(
      Self.schema,
      {
        $0.access = .keys(try Served.access("k"))
        $0.allowsIntrospection = true
      }
    ) { server in
      let answer = try await HTTPRequest.graphql(question, port: server.port, headers: [("x-api-key", "k")])
      #expect(answer.json["data"]?["__schema"]?["queryType"]?["name"] == "Query")
      #expect(try await HTTPRequest.graphql(question, port: server.port).status == 401)
    }
    try await Served.with(Self.schema, { $0.allowsIntrospection = false }) { server in
      let answer = try await HTTPRequest.graphql(question, port: server.port)
      #expect(answer.json["data"]?["__schema"] == nil)
    }
  }
}
