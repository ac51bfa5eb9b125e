import MartletJSON
import MartletServer
import Testing

/// Writes for the end of a session whose caller's credentials have ended: the rules are asked again, as for a guest.
@Suite(.timeLimit(.minutes(1))) struct LeftStandingTests {
  private static let rules = """
    {"rules": {".read": true, "left": {".write": "auth.uid == 'ada'"}, "open": {".write": true}}}
    """

  /// Keys with their names and texts.
  private static func keys(_ keys: (name: String, text: String)...) throws -> AccessFile {
    let entries = keys.map { #"{"name":"\#($0.name)","sha256":"\#(Served.hexadecimal($0.text))"}"# }
    return try AccessFile(#"{"keys":[\#(entries.joined(separator: ","))],"guests":true}"#)
  }

  private func serve(
    _ access: AccessFile, _ folder: TemporaryFolder? = nil, grace: Duration = .seconds(3_600),
    _ log: LogRecorder = LogRecorder(),
    _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    try await Served.with(
      TreeRESTTests.schema,
      {
        $0.treeRules = Self.rules
        $0.access = .keys(access)
        $0.limits.tree.resumeGrace = grace
        $0.log = log.log
        if let folder { $0.data = .folder(folder.path) }
      }, body)
  }

  /// Leaves a write that only ada may make, and one that anyone may, after it.
  private func leave(_ port: Int, key: String = "ada") async throws -> TreePeer {
    let client = try await TreePeer(port: port)
    try await client.ok("auth", ["cred": .string(key)])
    try await client.ok("o", ["p": "/left", "d": "gone"])
    try await client.ok("o", ["p": "/open/end", "d": true])
    return client
  }

  private static func refusals(_ log: LogRecorder) -> [Log.Entry] {
    log.entries.filter { $0.message == "A write that was left for the end of a session is refused." }
  }

  /// Waits until what was left has been made; whether that holds for what only ada may write.
  private func isMade(_ port: Int, _ end: () -> Void = {}) async throws -> Bool {
    let staying = try await TreePeer(port: port)
    let first = try await staying.listen("/open/end")
    end()
    if first.isNull { #expect(try await staying.push().body["d"] == true) }
    return try await staying.value("/left") == "gone"
  }

  @Test func `what was left with a key that is withdrawn is made as a guest: refused by the rules, and logged`()
    async throws
  {
    let log = LogRecorder()
    try await serve(try Self.keys(("ada", "ada"), ("bob", "bob")), nil, log) { (server: GraphQLServer) async throws in
      let client = try await leave(server.port)
      try server.reload(access: try Self.keys(("bob", "bob")))
      #expect(try await client.push().action == "ac")
      #expect(try await !isMade(server.port) { client.socket.abort() })
    }
    let refusal = try #require(Self.refusals(log).first)
    #expect(Self.refusals(log).count == 1)
    #expect(refusal.level == .warning)
    #expect(refusal.metadata.contains { $0.key == .path && $0.value == "/left" })
    #expect(refusal.metadata.contains { $0.key == .reason && $0.value.hasPrefix("permission_denied") })
  }

  @Test func `a user that shows other credentials makes again what it left with those that have ended`() async throws {
    let log = LogRecorder()
    try await serve(try Self.keys(("ada", "old")), nil, log) { (server: GraphQLServer) async throws in
      let client = try await leave(server.port, key: "old")
      try server.reload(access: try Self.keys(("ada", "new"), ("bob", "bob")))
      #expect(try await client.push().action == "ac")
      // Another user's credentials give back nothing.
      try await client.ok("auth", ["cred": "bob"])
      try await client.ok("auth", ["cred": "new"])
      #expect(try await isMade(server.port) { client.socket.abort() })
    }
    #expect(Self.refusals(log).isEmpty)
  }

  @Test func `credentials of another user do not make what was left with those that have ended`() async throws {
    try await serve(try Self.keys(("ada", "ada"), ("bob", "bob"))) { (server: GraphQLServer) async throws in
      let client = try await leave(server.port)
      try server.reload(access: try Self.keys(("bob", "bob")))
      #expect(try await client.push().action == "ac")
      try await client.ok("auth", ["cred": "bob"])
      #expect(try await !isMade(server.port) { client.socket.abort() })
    }
  }

  @Test func `a user that has only left its session is still the one that has left the write`() async throws {
    try await serve(try Self.keys(("ada", "ada"))) { (server: GraphQLServer) async throws in
      let client = try await leave(server.port)
      try await client.ok("unauth", [:])
      #expect(try await isMade(server.port) { client.socket.abort() })
    }
  }

  @Test(arguments: [true, false])
  func `a key that is withdrawn while the server is stopped makes nothing`(isWithdrawn: Bool) async throws {
    let folder = try TemporaryFolder()
    let both = try Self.keys(("ada", "ada"), ("bob", "bob"))
    try await serve(both, folder) { (server: GraphQLServer) async throws in _ = try await leave(server.port) }
    let log = LogRecorder()
    let after = isWithdrawn ? try Self.keys(("bob", "bob")) : both
    try await serve(after, folder, grace: .zero, log) { (server: GraphQLServer) async throws in
      #expect(try await isMade(server.port) == !isWithdrawn)
    }
    #expect(Self.refusals(log).count == (isWithdrawn ? 1 : 0))
  }

  @Test func `that credentials have ended is in the log: the next process knows it`() async throws {
    let folder = try TemporaryFolder()
    try await serve(try Self.keys(("ada", "ada")), folder) { (server: GraphQLServer) async throws in
      let client = try await leave(server.port)
      try server.reload(access: try Self.keys(("bob", "bob")))
      #expect(try await client.push().action == "ac")
      // Behind it in the order of the writer.
      try await client.ok("p", ["p": "/open/more", "d": 1])
    }
    // The name stands for another key now.
    try await serve(try Self.keys(("ada", "ada")), folder, grace: .zero) { (server: GraphQLServer) async throws in
      #expect(try await !isMade(server.port))
    }
  }

  @Test func `a client that comes back with its key and leaves its writes again writes nothing to the log`()
    async throws
  {
    try await serve(try Self.keys(("ada", "ada"))) { (server: GraphQLServer) async throws in
      let first = try await leave(server.port)
      let head = try #require(try await Metrics.read(server, key: "ada")["martlet_log_head_offset"])
      let again = try await TreePeer(port: server.port, "ls=\(first.session)")
      try await again.ok("auth", ["cred": "ada"])
      try await again.ok("o", ["p": "/left", "d": "gone"])
      try await again.ok("o", ["p": "/open/end", "d": true])
      #expect(try await Metrics.read(server, key: "ada")["martlet_log_head_offset"] == head)
      first.socket.abort()
      #expect(try await isMade(server.port) { again.socket.abort() })
    }
  }

  @Test func `a client that leaves a write again with other credentials makes it with those`() async throws {
    try await serve(try Self.keys(("ada", "old"))) { (server: GraphQLServer) async throws in
      let first = try await leave(server.port, key: "old")
      try server.reload(access: try Self.keys(("ada", "new")))
      #expect(try await first.push().action == "ac")
      let again = try await TreePeer(port: server.port, "ls=\(first.session)")
      try await again.ok("auth", ["cred": "new"])
      try await again.ok("o", ["p": "/left", "d": "gone"])
      first.socket.abort()
      #expect(try await isMade(server.port) { again.socket.abort() })
    }
  }
}
