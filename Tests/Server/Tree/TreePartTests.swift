import MartletJSON
import MartletServer
import Testing

/// Values that are sent in parts.
@Suite struct TreePartTests {
  private static let rules = #"{"rules": {"open": {".read": true, ".write": true}}}"#

  private func serve(
    _ adjust: @escaping (inout ServerConfiguration) -> Void = { _ in }, _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    try await Served.with(
      TreeRESTTests.schema,
      {
        $0.treeRules = Self.rules
        $0.limits.tree.partBytes = 100
        adjust(&$0)
      }, body)
  }

  /// Joins the parts of a listen as the protocol says.
  private struct Joined {
    var value: JSONValue = .null
    var parts = 0
    var changes = 0

    mutating func take(_ push: TreePeer.Push, of path: String) {
      switch push.action {
      case "part":
        if push.body["n"] == 0 { value = .null }
        parts += 1
        value = Self.join(value, push.body["d"] ?? .null)
      case "d":
        changes += 1
        let keys = (push.body["p"]?.string ?? "").split(separator: "/").dropFirst(path.split(separator: "/").count)
        value = Self.set(value, keys[...], push.body["d"] ?? .null)
      default: Issue.record("\(push)")
      }
    }

    private static func join(_ old: JSONValue, _ part: JSONValue) -> JSONValue {
      guard let added = part.object else { return part == .null ? old : part }
      var object = old.object ?? [:]
      for (key, child) in added { object[key] = join(object[key] ?? .null, child) }
      return .object(object)
    }

    private static func set(_ old: JSONValue, _ keys: ArraySlice<Substring>, _ new: JSONValue) -> JSONValue {
      guard let key = keys.first.map(String.init) else { return new }
      var object = old.object ?? [:]
      let child = set(object[key] ?? .null, keys.dropFirst(), new)
      object[key] = child == .null ? nil : child
      return object.isEmpty ? .null : .object(object)
    }
  }

  /// Listens, and joins what comes until the answer.
  private func load(_ client: TreePeer, _ path: String) async throws -> Joined {
    let request = client.send("q", ["p": .string(path), "h": ""])
    var joined = Joined()
    while true {
      let data = try await client.socket.message()["d"] ?? .null
      if data["r"]?.int == Int64(request) {
        #expect(data["b"]?["s"] == "ok")
        #expect(data["b"]?["v"]?.string != nil)
        return joined
      }
      // Positions are controls.
      if let action = data["a"]?.string { joined.take(TreePeer.Push(action, data["b"] ?? .null), of: path) }
    }
  }

  private static func large(_ count: Int) -> JSONValue {
    var object = JSONObject()
    for number in 0..<count {
      object["k\(number)"] = [
        ".priority": .int(Int64(number % 3)), "a": .string("text \(number)"),
        "b": ["c": .int(Int64(number)), "d": true],
      ]
    }
    return ["inner": .object(object), "last": 1]
  }

  @Test func `a large value comes in parts, priorities and single large children included, and is the value`()
    async throws
  {
    try await serve { server in
      let writer = try await TreePeer(port: server.port)
      let value = Self.large(60)
      try await writer.ok("p", ["p": "/open/a", "d": value])
      let client = try await TreePeer(port: server.port, "x=1&c=one")
      let joined = try await load(client, "/open/a")
      #expect(joined.value == value)
      #expect(joined.parts > 20)
      // Afterwards changes come as they are.
      try await writer.ok("p", ["p": "/open/a/inner/k3/a", "d": nil])
      var push = try await client.push()
      while push.action.isEmpty { push = try await client.push() }
      #expect(push == TreePeer.Push("d", ["p": "open/a/inner/k3/a", "d": nil]))
    }
  }

  @Test func `a client of version 5 gets one message, as does one that has a value`() async throws {
    try await serve { server in
      let writer = try await TreePeer(port: server.port)
      let value = Self.large(20)
      try await writer.ok("p", ["p": "/open/a", "d": value])
      #expect(try await writer.listen("/open/a") == value)
      let client = try await TreePeer(port: server.port, "x=1&c=one")
      let request = client.send("q", ["p": "/open/a", "h": "another"])
      #expect(try await client.push() == TreePeer.Push("d", ["p": "open/a", "d": value]))
      #expect(try await client.answer(request)["s"] == "ok")
    }
  }

  @Test func `a small value comes whole`() async throws {
    try await serve { server in
      let client = try await TreePeer(port: server.port, "x=1&c=one")
      try await client.ok("p", ["p": "/open/a", "d": ["x": 1]])
      #expect(try await client.listen("/open/a") == ["x": 1])
    }
  }

  @Test func `a node that is too large is refused before a part of it is sent`() async throws {
    try await serve({ $0.limits.tree.nodeLeaves = 30 }) { server in
      let writer = try await TreePeer(port: server.port)
      try await writer.ok("p", ["p": "/open/a", "d": Self.large(20)])
      let client = try await TreePeer(port: server.port, "x=1&c=one")
      let request = client.send("q", ["p": "/open/a", "h": ""])
      #expect(try await client.answer(request)["s"] == "too_big")
      // A node of one part counts as well.
      var many = JSONObject()
      for number in 0..<31 { many["\(number)"] = 1 }
      try await writer.ok("p", ["p": "/open/b", "d": .object(many)])
      let small = client.send("q", ["p": "/open/b", "h": ""])
      #expect(try await client.answer(small)["s"] == "too_big")
    }
  }

  @Test func `writes before, inside and after what has been sent are joined`() async throws {
    try await serve({ $0.limits.tree.partBytes = 512 }) { server in
      let writer = try await TreePeer(port: server.port)
      var object = JSONObject()
      for number in 0..<4_000 { object["k\(10_000 + number)"] = .string(String(repeating: "x", count: 90)) }
      try await writer.ok("p", ["p": "/open/a", "d": .object(object)])
      let client = try await TreePeer(port: server.port, "x=1&c=one")
      let request = client.send("q", ["p": "/open/a", "h": ""])
      let writes: [(String, JSONValue)] = [
        ("k10000", .null), ("k13999", "changed"), ("k12000", .null), ("z", 1), ("k10001", "new"),
      ]
      for (key, value) in writes {
        try await writer.ok("p", ["p": .string("/open/a/" + key), "d": value])
        object[key] = value == .null ? nil : value
      }
      var joined = Joined()
      var isAnswered = false
      // A write may be shown after the answer, as a change.
      while !isAnswered || joined.value != .object(object) {
        let data = try await client.socket.message()["d"] ?? .null
        if data["r"]?.int == Int64(request) { isAnswered = true }
        if let action = data["a"]?.string { joined.take(TreePeer.Push(action, data["b"] ?? .null), of: "/open/a") }
      }
      #expect(joined.parts > 500)
    }
  }

  @Test func `a write above the node while it is loaded is the value in the end`() async throws {
    try await serve { server in
      let writer = try await TreePeer(port: server.port)
      try await writer.ok("p", ["p": "/open/a", "d": Self.large(200)])
      let client = try await TreePeer(port: server.port, "x=1&c=one")
      let request = client.send("q", ["p": "/open/a", "h": ""])
      try await writer.ok("p", ["p": "/open", "d": ["a": ["inner": ["k7": "only"]], "b": 2]])
      var joined = Joined()
      while joined.value != ["inner": ["k7": "only"]] {
        let data = try await client.socket.message()["d"] ?? .null
        if let action = data["a"]?.string { joined.take(TreePeer.Push(action, data["b"] ?? .null), of: "/open/a") }
        if data["r"]?.int == Int64(request), data["b"]?["s"] != "ok" { break }
      }
      #expect(try await writer.value("/open/a") == joined.value)
    }
  }

  /// Two pushes of one transaction, of which the bound lets one through, although the client reads.
  @Test(arguments: ["", "x=1&c=one"]) func `what is left out of a turn reaches a client that has never been slow`(
    query: String
  ) async throws {
    try await serve({ $0.limits.tree.pendingBytes = 1 }) { server in
      let client = try await TreePeer(port: server.port, query)
      for path in ["/open/a", "/open/b"] as [JSONValue] {
        let request = client.send("q", ["p": path, "h": ""])
        while try await client.socket.message()["d"]?["r"]?.int != Int64(request) {}
      }
      let writer = try await TreePeer(port: server.port)
      try await writer.ok("m", ["p": "/open", "d": ["a": 1, "b": 2]])
      var shown: [String: JSONValue] = [:]
      while shown != ["open/a": 1, "open/b": 2] {
        let data = try await client.socket.message()["d"] ?? .null
        if data["a"] == "d", let path = data["b"]?["p"]?.string { shown[path] = data["b"]?["d"] }
      }
    }
  }
}
