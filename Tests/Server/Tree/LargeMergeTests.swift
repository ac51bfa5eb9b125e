import MartletJSON
import MartletServer
import Testing

/// A merge is one write of the tree, as a set is: the number of its paths has a limit of its own.
@Suite(.timeLimit(.minutes(1))) struct LargeMergeTests {
  private static let rules = """
    {"rules": {
      "open": {".read": true, ".write": true, "$key": {"no": {".validate": false}}}
    }}
    """

  private func serve(
    _ adjust: @escaping (inout ServerLimits) -> Void, _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    try await Served.with(
      TreeRESTTests.schema,
      {
        $0.treeRules = Self.rules
        adjust(&$0.limits)
      }, body)
  }

  private static func object(_ count: Int, _ name: (Int) -> String = { "k\($0)" }) -> JSONValue {
    .object(JSONObject(distinct: (0..<count).map { (name($0), JSONValue.int(Int64($0))) }))
  }

  private static func send(_ method: String, _ body: JSONValue?, port: Int) async throws -> HTTPRequest.Answer {
    try await HTTPRequest.send(
      method, "/open.json", port: port, headers: [], body: body.map { String(decoding: $0.serialized(), as: UTF8.self) }
    )
  }

  @Test func `a merge with more paths than a transaction may make changes is made whole, and shown in one message`()
    async throws
  {
    try await serve({ $0.store.transactionChanges = 3 }) { server in
      let (writing, reading) = (try await TreePeer(port: server.port), try await TreePeer(port: server.port))
      #expect(try await reading.listen("/open").isNull)
      try await writing.ok("m", ["p": "/open", "d": Self.object(20)])
      let push = try await reading.push()
      #expect(push.action == "m")
      #expect(push.body["d"] == Self.object(20))
      // Deep paths, and deletions among them.
      let deep: JSONValue = ["k0": nil, "k1": nil, "a/b": 1, "a/c": 2, "d/e/f": 3, "k2/x": 4]
      #expect(try await Self.send("PATCH", deep, port: server.port).status == 200)
      let value = try await Self.send("GET", nil, port: server.port).json
      #expect(value.object?.count == 20)
      #expect(value["a"] == ["b": 1, "c": 2])
      #expect(value["k2"] == ["x": 4])
      // Left for the end of a session, behind another that is made with it.
      try await writing.ok("om", ["p": "/open", "d": Self.object(10) { "left\($0)" }])
      _ = try await reading.push()
      writing.socket.abort()
      #expect(try await reading.push().body["d"] == Self.object(10) { "left\($0)" })
    }
  }

  @Test func `the limits of a server that was not configured let a merge of 12,000 children through`() async throws {
    // A build with a sanitizer reads the whole more slowly than reads may take.
    try await serve({ $0.store.readTime = .seconds(50) }) { server in
      let client = try await TreePeer(port: server.port)
      try await client.ok("m", ["p": "/open", "d": Self.object(12_000)])
      #expect(try await Self.send("PATCH", Self.object(12_000) { "r\($0)" }, port: server.port).status == 200)
      #expect(try await Self.send("GET", nil, port: server.port).json.object?.count == 24_000)
    }
  }

  @Test func `a merge with too many paths is refused whole, with the node and the limit`() async throws {
    try await serve({ $0.tree.mergePaths = 50 }) { server in
      let client = try await TreePeer(port: server.port)
      try await client.ok("m", ["p": "/open", "d": Self.object(50)])
      let refused = try await client.answer(client.send("m", ["p": "/open", "d": Self.object(51) { "x\($0)" }]))
      #expect(refused["s"] == "invalid_data")
      let text = "/open: the merge has more paths than the limit mergePaths (50)"
      #expect(refused["d"]?.string == text)
      let reply = try await Self.send("PATCH", Self.object(51) { "y\($0)" }, port: server.port)
      #expect(reply.status == 400)
      #expect(reply.json["error"]?.string == "Invalid data; \(text)")
      #expect(try await client.value("/open") == Self.object(50))
    }
  }

  @Test func `one path that the rules refuse refuses the whole of a large merge`() async throws {
    try await serve({ $0.store.transactionChanges = 3 }) { server in
      let client = try await TreePeer(port: server.port)
      var merge = Self.object(40).object ?? JSONObject()
      merge["k41/no"] = 1
      let refused = try await client.answer(client.send("m", ["p": "/open", "d": .object(merge)]))
      #expect(refused["s"] == "permission_denied")
      #expect(try await client.value("/open") == [:])
    }
  }
}
