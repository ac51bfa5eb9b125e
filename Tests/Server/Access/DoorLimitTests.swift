import MartletJSON
import MartletRuntime
import MartletServer
import Testing

/// The limits of callers at the doors beside GraphQL over HTTP: sockets, the tree, and endpoints of the program's own.
@Suite(.timeLimit(.minutes(1))) struct DoorLimitTests {
  private static let schema = """
    type Note @model { id: ID! text: String }
    type Query { one: Int }
    """

  private static func configure(
    _ configuration: inout ServerConfiguration, _ limits: (inout ServerLimits.Callers) -> Void
  ) throws {
    configuration.access = .keys(try Served.access("ada", "bob"))
    configuration.treeRules = #"{"rules": {".read": true, ".write": true}}"#
    configuration.endpoints = [
      try ServerEndpoint("/hello") { _, response in await response.send(200) },
      try ServerEndpoint("/login", methods: ["POST"], access: .open) { _, response in await response.send(200) },
    ]
    configuration.resolvers = { $0.compute("Query", "one") { _ in 1 } }
    limits(&configuration.limits.callers)
  }

  /// A server whose clock the test moves.
  private static func clocked(_ limits: (inout ServerLimits.Callers) -> Void) throws -> CountedServer {
    var failure: (any Error)?
    let server = try CountedServer(schema: schema, isClocked: true) { configuration in
      do { try configure(&configuration, limits) } catch { failure = error }
    }
    if let failure { throw failure }
    return server
  }

  private static func with(
    _ limits: (inout ServerLimits.Callers) -> Void, _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    try await Served.with(schema, { try configure(&$0, limits) }, body)
  }

  private static func tree(_ port: Int, _ key: String) async throws -> TreePeer {
    let peer = try await TreePeer(port: port)
    try await peer.ok("auth", ["cred": .string(key)])
    return peer
  }

  @Test func `after a refusal on a socket its next message is taken when the pause is over, and another's at once`()
    async throws
  {
    let server = try Self.clocked {
      $0.operationsPerSecondPerIdentity = 1
      $0.burst = .milliseconds(1)
      $0.refusedPause = .seconds(1)
    }
    func open(_ key: String) async throws -> RawSocket {
      let socket = try await RawSocket.open(port: server.port, headers: [("x-api-key", key)])
      socket.send(#"{"type":"connection_init"}"#)
      _ = try await socket.message("connection_ack")
      return socket
    }
    let (ada, bob) = (try await open("ada"), try await open("bob"))
    let before = await server.counts()
    // The clock stands still: the first is executed, the second refused, and the others wait in their order. A refusal
    // may come before the result of what was asked before it.
    for id in ["1", "2", "3", "4"] { ada.subscribe(id, "{ one }") }
    func both() async throws -> [String: JSONValue] {
      var seen: [String: JSONValue] = [:]
      while seen.count < 2 {
        let message = try await ada.message()
        if let type = message["type"]?.string, type == "next" || type == "error" { seen[type] = message }
      }
      return seen
    }
    let first = try await both()
    #expect(first["next"]?["id"] == "1")
    let refused = first["error"] ?? .null
    #expect(refused["id"] == "2")
    #expect(refused["payload"]?[0]?["extensions"]?["code"] == "RATE_LIMITED")
    #expect((refused["payload"]?[0]?["extensions"]?["retryAfterMs"]?.int).map { (1...1_000).contains($0) } == true)
    bob.subscribe("1", "{ one }")
    #expect(try await bob.message("next")["id"] == "1")
    await server.advance(.milliseconds(999))
    #expect(await (server.counts() - before)[.operations] == 3)
    // The rate allows one again.
    await server.advance(.milliseconds(1))
    let second = try await both()
    #expect(second["next"]?["id"] == "3" && second["error"]?["id"] == "4")
    #expect(await (server.counts() - before)[.operations] == 5)
    ada.abort()
    bob.abort()
    await server.advance(.seconds(2))
    await server.stop()
  }

  @Test func `requests to the tree and to the program's endpoints are counted with the others of their caller`()
    async throws
  {
    let doors: [(method: String, path: String, body: String?)] = [
      ("GET", "/a.json", nil), ("PUT", "/a.json", "1"), ("GET", "/hello", nil),
      ("GET", "/graphql?query=%7Bone%7D", nil),
    ]
    for first in doors {
      let server = try Self.clocked {
        $0.operationsPerSecondPerIdentity = 1
        $0.burst = .milliseconds(1)
        $0.refusedPause = .zero
      }
      func ask(_ key: String, _ door: (method: String, path: String, body: String?)) async throws -> HTTPRequest.Answer
      {
        try await HTTPRequest.send(
          door.method, door.path, port: server.port, headers: [("x-api-key", key)], body: door.body)
      }
      #expect(try await ask("ada", first).status == 200, "\(first.path)")
      for second in doors {
        let refused = try await ask("ada", second)
        #expect(refused.status == 429, "\(first.path), then \(second.path)")
        #expect(refused.head.contains("Retry-After: 1\r\n"), "\(refused.head)")
        let extensions = refused.json["errors"]?[0]?["extensions"]
        #expect(extensions?["code"] == "RATE_LIMITED")
        #expect(extensions?["limit"] == "callers.operationsPerSecondPerIdentity")
      }
      #expect(try await ask("bob", first).status == 200)
      await server.advance(.seconds(1))
      #expect(try await ask("ada", first).status == 200)
      await server.stop()
    }
  }

  @Test func `an open endpoint is counted for its client's address, and pages for operators are not`() async throws {
    let server = try Self.clocked {
      $0.operationsPerSecondPerAddress = 1
      $0.burst = .milliseconds(1)
      $0.refusedPause = .zero
    }
    let port = server.port
    #expect(try await HTTPRequest.send("POST", "/login", port: port).status == 200)
    #expect(try await HTTPRequest.send("POST", "/login", port: port).status == 429)
    for _ in 0..<3 {
      #expect(try await HTTPRequest.send("GET", "/healthz", port: port).status == 200)
      #expect(
        try await HTTPRequest.send("GET", "/metrics", port: port, headers: [("x-api-key", "ada")]).status == 200)
    }
    await server.stop()
  }

  @Test func `strangers that sign in again and again are refused by the limit of their address`() async throws {
    let secret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"
    let access = try AccessFile(#"{"signIn": {"secret": "\#(secret)", "anonymous": true}}"#)
    let server = try CountedServer(schema: Self.schema, isClocked: true) { configuration in
      configuration.access = .keys(access)
      configuration.resolvers = { $0.compute("Query", "one") { _ in 1 } }
      configuration.limits.callers.operationsPerSecondPerAddress = 1
      configuration.limits.callers.burst = .seconds(2)
      configuration.limits.callers.refusedPause = .zero
    }
    func signIn(_ body: String = #"{"anonymous": true}"#) async throws -> HTTPRequest.Answer {
      try await HTTPRequest.send("POST", "/signIn", port: server.port, body: body)
    }
    let users = try await [signIn().json["localId"], signIn().json["localId"]]
    #expect(users[0] != nil && users[1] != nil && users[0] != users[1])
    // Custom tokens and what is not JSON are counted with the others, before anything is made of them.
    for body in [#"{"anonymous": true}"#, #"{"token": "a.b.c"}"#, "{"] {
      let refused = try await signIn(body)
      #expect(refused.status == 429 && refused.head.contains("Retry-After: 1\r\n"), "\(refused.head)")
      #expect(refused.json["errors"]?[0]?["extensions"]?["limit"] == "callers.operationsPerSecondPerAddress")
      #expect(refused.json["idToken"] == nil)
    }
    await server.advance(.seconds(1))
    #expect(try await signIn().status == 200)
    #expect(try await signIn().status == 429)
    await server.stop()
  }

  @Test func `messages of the tree's socket beyond the rate wait, are answered in their order, and none is lost`()
    async throws
  {
    let server = try Self.clocked {
      $0.operationsPerSecondPerIdentity = 1
      $0.burst = .seconds(2)
    }
    let ada = try await Self.tree(server.port, "ada")
    let bob = try await Self.tree(server.port, "bob")
    // Two at once, as the burst allows; the others one a second.
    let numbers = (1...5).map { ada.send("p", ["p": .string("/a/x\($0)"), "d": .int(Int64($0))]) }
    for number in numbers.prefix(2) { #expect(try await ada.answer(number)["s"] == "ok") }
    #expect(try await bob.value("/a") == ["x1": 1, "x2": 2])
    for (position, number) in numbers.enumerated().dropFirst(2) {
      await server.advance(.seconds(1))
      #expect(try await ada.answer(number)["s"] == "ok", "\(position)")
    }
    await server.advance(.seconds(2))
    #expect(try await bob.value("/a") == ["x1": 1, "x2": 2, "x3": 3, "x4": 4, "x5": 5])
    // A client that leaves while its messages wait leaves nothing behind.
    for number in 6...9 { ada.send("p", ["p": .string("/a/\(number)"), "d": true]) }
    ada.socket.abort()
    bob.socket.abort()
    // It is read again when its pause is over.
    await server.advance(.seconds(10))
    await server.stop()
  }

  @Test func `listeners and sockets of the tree are counted with the others of their caller, and freed when they end`()
    async throws
  {
    try await Self.with {
      $0.connectionsPerIdentity = 2
      $0.subscriptionsPerIdentity = 1
    } _: { server in
      let first = try await Self.tree(server.port, "ada")
      let other = try await Self.tree(server.port, "ada")
      let third = try await TreePeer(port: server.port)
      third.send("auth", ["cred": "ada"])
      #expect(await third.socket.closeCode() == 4429)
      let socket = try await RawSocket.open(port: server.port, headers: [("x-api-key", "ada")])
      socket.send(#"{"type":"connection_init"}"#)
      #expect(await socket.closeCode() == 4429)

      _ = try await first.listen("/a")
      let refused = try await other.answer(other.send("q", ["p": "/b", "h": ""]))
      #expect(refused["s"] == "limit_exceeded")
      #expect(refused["d"] == "More than the limit callers.subscriptionsPerIdentity allows.")
      let stream = try await HTTPRequest.send(
        "GET", "/b.json", port: server.port, headers: [("x-api-key", "ada"), ("Accept", "text/event-stream")])
      #expect(stream.status == 429)
      #expect(stream.json["errors"]?[0]?["extensions"]?["code"] == "LIMIT_EXCEEDED")
      // What has ended makes room, and another caller has a count of its own.
      try await first.ok("n", ["p": "/a"])
      _ = try await other.listen("/b")
      let bob = try await Self.tree(server.port, "bob")
      _ = try await bob.listen("/b")
      first.socket.abort()
      other.socket.abort()
      // The server learns of their end when it reads it.
      var open: TreePeer?
      while open == nil {
        let peer = try await TreePeer(port: server.port)
        let number = peer.send("auth", ["cred": "ada"])
        if try await peer.answered(number) { open = peer } else { peer.socket.abort() }
      }
      _ = try await open?.listen("/c")
      open?.socket.abort()
      bob.socket.abort()
    }
  }
}
