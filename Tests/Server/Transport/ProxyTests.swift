import MartletJSON
import MartletServer
import MartletSockets
import Testing

/// A server behind proxies, and its port for operators.
@Suite(.timeLimit(.minutes(1))) struct ProxyTests {
  private static let schema = "type Note @model { id: ID! text: String }"

  /// For the client 100.64.2.9; every byte is ASCII, so that it is text.
  private static let header =
    "\r\n\r\n\0\r\nQUIT\n" + "\u{21}\u{11}\0\u{0C}d@\u{02}\u{09}\u{0A}\0\0\u{01}\u{10}\0\u{01}\u{1B}"

  @Test func `a connection of a trusted proxy is its client's, in pieces and with the request behind it`() async throws
  {
    let recorder = LogRecorder()
    let access = try Served.access("ada")
    try await Served.with(
      Self.schema,
      { configuration in
        configuration.access = .keys(access)
        configuration.trustedProxies = ["127.0.0.0/8"]
        configuration.expectsProxyProtocol = true
        configuration.audit = recorder.log
      }
    ) { server in
      let request =
        "GET /graphql?query=%7B__typename%7D HTTP/1.1\r\nHost: a\r\nx-api-key: ada\r\nConnection: close\r\n\r\n"
      for _ in 0..<2 {
        let answer = try await HTTPRequest.raw(Self.header + request, port: server.port)
        #expect(answer.status == 200, "\(answer.head)")
      }
      let admitted = recorder.entries.filter { $0.message == "A caller was admitted." }
      #expect(admitted.count == 2)
      for entry in admitted { #expect(entry.metadata.contains { $0.key == .client && $0.value == "100.64.2.9" }) }
      // Without a header there is no answer.
      let bare = try await HTTPRequest.raw(request, port: server.port)
      #expect(bare.head == "")
    }
  }

  @Test func `connections of others than the trusted proxies are refused where a header is expected`() async throws {
    try await Served.with(
      Self.schema,
      {
        $0.trustedProxies = ["192.0.2.0/24"]
        $0.expectsProxyProtocol = true
      }
    ) { server in
      let refused = try await HTTPRequest.raw(Self.header, port: server.port)
      #expect(refused.head == "")
    }
  }

  @Test
  func
    `what a trusted proxy sends malformed or contradictory is refused, counted once each, and disturbs no other client`()
    async throws
  {
    let forwarded: [[(String, String)]] = [
      [("X-Forwarded-For", "not an address")], [("X-Forwarded-For", "")], [("X-Forwarded-For", "1.1.1.1,,2.2.2.2")],
      [("X-Forwarded-For", "1.1.1.1"), ("X-Forwarded-Proto", "gopher")], [("X-Forwarded-For", "1.1.1.1:port")],
      [("X-Forwarded-For", "::1::")], [("X-Forwarded-For", "999.1.1.1")], [("X-Forwarded-For", "1.1.1.1;x=y")],
      [("X-Forwarded-For", String(repeating: "1.1.1.1,", count: 500) + "x")],
      [("Forwarded", "for=")], [("Forwarded", "for=\"1.1.1.1")], [("Forwarded", "for=1.1.1.1;for=2.2.2.2")],
      [("Forwarded", "for=[::1;proto=https")], [("Forwarded", "for=1.1.1.1;proto=\"java script\"")],
      [("Forwarded", "for")], [("Forwarded", "for=1.1.1.1"), ("X-Forwarded-For", "2.2.2.2")],
    ]
    let recorder = LogRecorder()
    let access = try Served.access("ada")
    try await Served.with(
      Self.schema,
      { configuration in
        configuration.access = .keys(access)
        configuration.trustedProxies = ["127.0.0.0/8"]
        configuration.log = recorder.log
      }
    ) { server in
      let own = ("x-api-key", "ada")
      let bystander = try await StreamedResponse.open(
        Talk.subscription, accept: "text/event-stream", headers: [own], port: server.port)
      #expect(await bystander.heard { $0 == .heartbeat }.last == .heartbeat)
      let handshake = [
        ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="), ("Sec-WebSocket-Protocol", "graphql-transport-ws"),
      ]
      for fields in forwarded {
        for more in [[own], handshake] {
          let answer = try await HTTPRequest.send(
            "GET", "/graphql?query=%7B__typename%7D", port: server.port, headers: fields + more)
          #expect(answer.status == 400, "\(fields): \(answer.status)")
        }
      }
      #expect(recorder.count(of: LogRecorder.violation) == 2 * forwarded.count)
      // What a client could put there is in no log.
      #expect(!"\(recorder.entries)".contains("java script"))
      let fine = try await HTTPRequest.send(
        "GET", "/graphql?query=%7B__typename%7D", port: server.port,
        headers: [own, ("Forwarded", "for=192.0.2.7;proto=https;host=a.example")])
      #expect(fine.status == 200)
      try await server.transaction { _ = try $0.create("Note", ["id": "1", "text": "on"]) }
      let event = StreamedResponse.Heard.result(["data": ["onCreateNote": ["text": "on"]]])
      #expect(await bystander.heard { $0 == event }.last == event)
      bystander.abort()
    }
  }

  @Test(arguments: [
    "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n", "GET / HTTP/1.1\r\n\r\n", "\r\n\r\n\0\r\nQUIT\n\u{11}\u{11}\0\0",
    "\r\n\r\n\0\r\nQUIT\n\u{31}\u{11}\0\0", "\r\n\r\n\0\r\nQUIT\n\u{22}\u{11}\0\u{0C}",
    "\r\n\r\n\0\r\nQUIT\n\u{21}\u{11}\0\u{01}x",
    "\r\n\r\n\0\r\nQUIT\n\u{21}\u{21}\0\u{0C}d@\u{02}\u{09}\u{0A}\0\0\u{01}\u{10}\0\u{01}\u{1B}",
    "\r\n\r\n\0\r\nQUIT\n\u{21}\u{11}\u{7F}\u{7F}", "\u{16}\u{03}\u{01}\u{02}\0\u{01}",
  ])
  func `bytes that are not a header of the PROXY protocol get no answer, and the next connection is served`(
    bytes: String
  ) async throws {
    try await Served.with(
      Self.schema,
      {
        $0.trustedProxies = ["127.0.0.0/8"]
        $0.expectsProxyProtocol = true
      }
    ) { server in
      let request = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
      let refused = try await HTTPRequest.raw(bytes + request, port: server.port)
      #expect(refused.head == "", "\(refused.head)")
      #expect(try await HTTPRequest.raw(Self.header + request, port: server.port).status == 200)
    }
  }

  @Test(arguments: [
    (["10.1.0.0/8"], false, "after its prefix"), (["proxy"], false, "'proxy'"), ([], true, "PROXY protocol"),
  ])
  func `proxies that make no sense are refused by name`(ranges: [String], expects: Bool, message: String) throws {
    var configuration = ServerConfiguration(schema: Self.schema)
    configuration.access = .development
    configuration.trustedProxies = ranges
    configuration.expectsProxyProtocol = expects
    let error = try #require(throws: ServerError.self) { try GraphQLServer(configuration) }
    #expect(error.description.contains(message), "\(error)")
  }

  @Test func `health and figures have a port of their own, and the server's port has them no longer`() async throws {
    let access = try Served.access("ada")
    try await Served.with(
      Self.schema,
      { configuration in
        configuration.access = .keys(access)
        configuration.adminPort = 0
      }
    ) { server in
      let own = [("x-api-key", "ada")]
      for path in ["/healthz", "/readyz", "/metrics"] {
        #expect(try await HTTPRequest.send("GET", path, port: server.adminPort).status == 200, "\(path)")
        #expect(try await HTTPRequest.send("GET", path, port: server.port, headers: own).status == 404, "\(path)")
      }
      #expect(try await HTTPRequest.send("GET", "/graphql", port: server.adminPort, headers: own).status == 404)
      #expect(try await HTTPRequest.graphql("{ __typename }", port: server.port, headers: own).status == 200)
      let figures = try await HTTPRequest.send("GET", "/metrics", port: server.adminPort).text
      #expect(figures.contains("martlet_operations_started_total 1\n"))
    }
  }
}
