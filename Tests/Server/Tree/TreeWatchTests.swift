import MartletAccess
import MartletJSON
import MartletServer
import Testing

/// Watches over the tree's WebSocket: the changes of a node without its values.
@Suite(.timeLimit(.minutes(1))) struct TreeWatchTests {
  private static let rules = """
    {"rules": {
      "open": {".read": true, ".write": true},
      "users": {"$uid": {".read": "auth.uid == $uid", ".write": true}},
      "models": {".read": true}
    }}
    """

  private typealias Push = TreePeer.Push

  private static func access() throws -> AccessFile {
    try AccessFile(#"{"tokens":[\#(Mint.entry)],"guests":true}"#)
  }

  private static func serve(
    _ adjust: (inout ServerConfiguration) throws -> Void = { _ in }, _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    try await Served.with(
      TreeRESTTests.schema,
      {
        $0.treeRules = rules
        try adjust(&$0)
      }, body)
  }

  private func client(_ server: GraphQLServer, _ name: String) async throws -> TreePeer {
    try await TreePeer(port: server.port, "x=1&c=\(name)")
  }

  /// Watches a node that is new to the client; returns the revision.
  private func watch(_ path: String, _ client: TreePeer) async throws -> String {
    let request = client.send("w", ["p": .string(path)])
    var first = try await client.push()
    while first.body["t"] == "v" { first = try await client.push() }
    #expect(first.action == "w")
    #expect(first.body["p"]?.string == String(path.dropFirst()))
    #expect(first.body["s"] == nil)
    let answer = try await client.answer(request)
    #expect(answer["s"] == "ok")
    #expect(answer["v"] == first.body["v"])
    return answer["v"]?.string ?? ""
  }

  /// The places of the next change.
  private func places(_ client: TreePeer) async throws -> [String?]? {
    while true {
      let push = try await client.push()
      if push.action == "w" { return push.body["s"]?.array?.map(\.string) }
      #expect(push.body["t"] == "v", "\(push)")
    }
  }

  @Test func `changes at, below and above a watched node are sent with their places, and without a value`() async throws
  {
    try await Self.serve { server in
      let (watcher, writer) = (try await client(server, "one"), try await TreePeer(port: server.port))
      try await writer.ok("p", ["p": "/open/a", "d": ["x": "secret"]])
      _ = try await watch("/open/a", watcher)
      try await writer.ok("p", ["p": "/open/a/y/z", "d": "secret"])
      #expect(try await places(watcher) == ["y/z"])
      try await writer.ok("m", ["p": "/open", "d": ["a/x": nil, "a/w": 2, "b": 3]])
      #expect(try await places(watcher).map(Set.init) == ["x", "w"])
      try await writer.ok("p", ["p": "/open/b", "d": 4])
      var many = JSONObject()
      for number in 0..<40 { many["k\(number)"] = .int(Int64(number)) }
      try await writer.ok("m", ["p": "/open/a", "d": .object(many)])
      #expect(try await places(watcher) == nil)
      let long = "/open/a/" + String(repeating: "k", count: 600)
      try await writer.ok("p", ["p": .string(long), "d": 1])
      #expect(try await places(watcher) == nil)
      try await writer.ok("p", ["p": "/open", "d": ["a": 1]])
      #expect(try await places(watcher) == nil)
      try await writer.ok("p", ["p": "/open/a", "d": nil])
      #expect(try await places(watcher) == nil)
    }
  }

  @Test func `a client's own write comes with the revision of its answer, before it`() async throws {
    try await Self.serve { server in
      let client = try await client(server, "one")
      _ = try await watch("/open/a", client)
      let write = client.send("p", ["p": "/open/a/x", "d": 1, "x": ["n": 1, "k": 0]])
      var change = try await client.push()
      while change.action != "w" { change = try await client.push() }
      var message = try await client.socket.message()["d"] ?? .null
      while message["r"] == nil { message = try await client.socket.message()["d"] ?? .null }
      #expect(message["r"]?.int == Int64(write))
      #expect(message["b"]?["v"] == change.body["v"])
      #expect(change.body["v"]?.string != nil)
    }
  }

  @Test func `a watch and a listener of one node are two listeners, and end apart`() async throws {
    try await Self.serve({ $0.limits.tree.listens = 2 }) { server in
      let (client, writer) = (try await client(server, "one"), try await TreePeer(port: server.port))
      _ = try await watch("/open/a", client)
      let listen = client.send("q", ["p": "/open/a", "h": ""])
      var message = try await client.socket.message()["d"] ?? .null
      while message["r"]?.int != Int64(listen) { message = try await client.socket.message()["d"] ?? .null }
      let third = client.send("w", ["p": "/open/b"])
      message = try await client.socket.message()["d"] ?? .null
      while message["r"]?.int != Int64(third) { message = try await client.socket.message()["d"] ?? .null }
      #expect(message["b"]?["s"] == "limit_exceeded")
      let end = client.send("nw", ["p": "/open/a"])
      message = try await client.socket.message()["d"] ?? .null
      while message["r"]?.int != Int64(end) { message = try await client.socket.message()["d"] ?? .null }
      try await writer.ok("p", ["p": "/open/a", "d": 5])
      message = try await client.socket.message()["d"] ?? .null
      while message["a"] == nil { message = try await client.socket.message()["d"] ?? .null }
      #expect(message["a"] == "d")
    }
  }

  @Test func `a watch that resumes gets one change when there was one, none when there was none, or a gap`()
    async throws
  {
    try await Self.serve({ $0.limits.tree.resumeChanges = 3 }) { server in
      let writer = try await TreePeer(port: server.port)
      var revision = try await watch("/open/a", client(server, "one"))
      func resume() async throws -> [JSONValue] {
        let client = try await client(server, "one")
        let request = client.send("w", ["p": "/open/a", "x": ["v": .string(revision)]])
        var pushes: [JSONValue] = []
        while true {
          let data = try await client.socket.message()["d"] ?? .null
          if data["a"] == "w" { pushes.append(data["b"] ?? .null) }
          guard data["r"]?.int == Int64(request) else { continue }
          #expect(data["b"]?["s"] == "ok")
          revision = data["b"]?["v"]?.string ?? ""
          return pushes
        }
      }
      #expect(try await resume() == [])
      try await writer.ok("p", ["p": "/open/b", "d": 1])
      #expect(try await resume() == [])
      try await writer.ok("p", ["p": "/open/a/x", "d": 1])
      try await writer.ok("p", ["p": "/open/a/y", "d": 1])
      let changed = try await resume()
      #expect(changed.count == 1)
      #expect(changed.first?["s"]?.array?.compactMap(\.string).sorted() == ["x", "y"])
      for number in 0..<5 { try await writer.ok("p", ["p": "/open/a/x", "d": .int(Int64(number))]) }
      let lost = try await resume()
      #expect(lost.count == 2)
      #expect(lost.first?["g"]?["s"] == "too-many-changes")
      #expect(lost.last?["s"] == nil)
    }
  }

  @Test(arguments: ["rules", "sign-out", "access"])
  func `a watch ends when its caller may no longer read, and one that may not begins none`(cause: String) async throws {
    try await Self.serve({ $0.access = .keys(try Self.access()) }) { server in
      let client = try await client(server, "one")
      try await client.ok("auth", ["cred": .string(Mint.token("ada"))])
      let refused = try await client.answer(client.send("w", ["p": "/users/bob"]))
      #expect(refused["s"] == "permission_denied")
      _ = try await watch("/users/ada", client)
      _ = try await watch("/open/a", client)
      switch cause {
      case "rules": try await server.reload(treeRules: #"{"rules": {"open": {".read": true}}}"#)
      case "sign-out": client.send("unauth", [:])
      default:
        try server.reload(
          access: .init(#"{"keys":[{"name":"k","sha256":"\#(Served.hexadecimal("k"))"}],"guests":true}"#))
      }
      var ended: JSONValue = .null
      while ended["c"] == nil {
        let data = try await client.socket.message()["d"] ?? .null
        if data["a"] == "w" { ended = data["b"] ?? .null }
      }
      #expect(ended["p"] == "users/ada")
      #expect(ended["c"]?.string?.hasPrefix("permission_denied") == true, "\(ended)")
    }
  }

  @Test func `records of a model can be watched, and a node with more leaves than may be sent`() async throws {
    try await Self.serve({ $0.limits.tree.nodeLeaves = 8 }) { server in
      let (client, writer) = (try await client(server, "one"), try await TreePeer(port: server.port))
      for number in 0..<20 { try await writer.ok("p", ["p": .string("/open/a/k\(number)"), "d": 1]) }
      _ = try await watch("/open/a", client)
      for number in 0..<20 {
        try await writer.ok("p", ["p": .string("/open/a/k\(number)"), "d": 2])
        #expect(try await places(client) == ["k\(number)"])
      }
      _ = try await watch("/models/Note", client)
      _ = try await server.transaction { try $0.create("Note", ["id": "n"]) }
      #expect(try await places(client) == ["n"])
    }
  }
}
