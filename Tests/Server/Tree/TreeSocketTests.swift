import MartletJSON
import MartletJSONTree
import MartletRuntime
import MartletServer
import MartletTreeWire
import Testing

/// The tree over its WebSocket, in the messages that clients of the Realtime Database send.
@Suite struct TreeSocketTests {
  private static let rules = """
    {"rules": {
      "open": {".read": true, ".write": true, "number": {".validate": "newData.isNumber()"}},
      "private": {".read": "auth.uid == 'ada'", ".write": "auth.uid == 'ada'"}
    }}
    """

  private typealias Client = TreePeer
  private typealias Push = TreePeer.Push

  private func serve(_ body: (GraphQLServer) async throws -> Void) async throws {
    try await Served.with(TreeRESTTests.schema, { $0.treeRules = Self.rules }, body)
  }

  @Test func `a listener gets the value before the answer, and writes before their acknowledgement`() async throws {
    try await serve { server in
      let (one, two) = (try await Client(port: server.port), try await Client(port: server.port))
      try await one.ok("p", ["p": "/open/a", "d": ["x": 1]])
      let listen = two.send("q", ["p": "/open/a", "h": ""])
      #expect(try await two.push() == Push("d", ["p": "open/a", "d": ["x": 1]]))
      #expect(try await two.answer(listen)["s"] == "ok")
      try await one.ok("p", ["p": "/open/a/y/z", "d": true])
      #expect(try await two.push() == Push("d", ["p": "open/a/y/z", "d": true]))
      let own = two.send("m", ["p": "/open", "d": ["a/x": nil, "a/w": 2, "b": 3]])
      #expect(try await two.push() == Push("m", ["p": "open/a", "d": ["x": nil, "w": 2]]))
      #expect(try await two.answer(own)["s"] == "ok")
      try await two.ok("n", ["p": "/open/a"])
      try await one.ok("p", ["p": "/open/a", "d": nil])
      // Nothing comes any longer: the next message is the answer.
      let get = two.send("g", ["p": "/open"])
      #expect(try await two.answer(get)["d"] == ["b": 3])
    }
  }

  @Test func `a listen that ends before its value is read is answered, and so is one that is asked for twice`()
    async throws
  {
    try await serve { server in
      let client = try await Client(port: server.port)
      // The server reads both messages before it has read the value.
      let listen = client.send("q", ["p": "/open/a", "h": ""])
      let end = client.send("n", ["p": "/open/a"])
      let answers = [try await client.answer(listen)["s"], try await client.answer(end)["s"]]
      #expect(answers == ["ok", "ok"])
      let (first, second) = (client.send("q", ["p": "/open/b", "h": ""]), client.send("q", ["p": "/open/b", "h": ""]))
      #expect(try await client.answer(first)["s"] == "ok")
      #expect(try await client.push() == Push("d", ["p": "open/b", "d": .null]))
      #expect(try await client.answer(second)["s"] == "ok")
    }
  }

  /// The reader is one, so that a read that does not wait for the write has been answered before the other client's.
  @Test func `a read gets what its client wrote before it, also while the writer is busy`() async throws {
    try await Served.with(
      TreeRESTTests.schema,
      {
        $0.treeRules = Self.rules
        $0.limits.store.readers = 1
      }
    ) { server in
      let (one, two) = (try await Client(port: server.port), try await Client(port: server.port))
      try await one.ok("p", ["p": "/open/a", "d": 1])
      let (begun, begins) = AsyncStream<Void>.makeStream()
      let free = Bell()
      async let held: Void = server.transaction { _ in
        begins.finish()
        free.wait()
      }
      defer { free.ring() }
      for await _ in begun {}
      let write = one.send("p", ["p": "/open/a", "d": 2])
      let read = one.send("g", ["p": "/open/a"])
      #expect(try await one.answer(one.send("s", ["c": [:]]))["s"] == "ok")
      // It does not wait for a write that was sent after it, nor for one of another client.
      let later = two.send("g", ["p": "/open/a"])
      let last = two.send("p", ["p": "/open/a", "d": 3])
      #expect(try await two.answer(later)["d"] == 1)
      free.ring()
      try? await held
      #expect(try await one.answer(write)["s"] == "ok")
      #expect(try await one.answer(read)["d"]?.int ?? 0 >= 2)
      #expect(try await two.answer(last)["s"] == "ok")
    }
  }

  @Test func `nothing large is kept for a client without credentials, however it is cut; a key lifts the bound`()
    async throws
  {
    try await Served.with(
      TreeRESTTests.schema,
      {
        $0.treeRules = Self.rules
        $0.access = .keys(try Served.access("k"))
      }
    ) { server in
      let text = String(repeating: "x", count: 70_000)
      let stranger = try await Client(port: server.port)
      stranger.send("p", ["p": "/open/a", "d": .string(text)])
      #expect(await stranger.socket.closeCode() == 1008)
      let pieces = try await Client(port: server.port)
      pieces.socket.send("6")
      for _ in 0..<6 { pieces.socket.send(String(repeating: "x", count: 12_000)) }
      #expect(await pieces.socket.closeCode() == 1008)
      let caller = try await Client(port: server.port)
      try await caller.ok("auth", ["cred": "k"])
      try await caller.ok("p", ["p": "/open/a", "d": .string(text)])
      // As a guest again it is bounded again.
      try await caller.ok("unauth", [:])
      caller.send("p", ["p": "/open/a", "d": .string(text)])
      #expect(await caller.socket.closeCode() == 1008)
    }
  }

  @Test(arguments: [
    ("x=1&c=one", true), ("x=1", false), ("x=1&c=", false), ("x=1&c=" + String(repeating: "n", count: 65), false),
  ])
  func `writes are numbered for a client whose name can be used, and the greeting says so`(
    query: String, isNumbered: Bool
  ) async throws {
    try await serve { server in
      let socket = try await RawSocket.open(port: server.port, subprotocols: [], target: "/.ws?v=5&ns=test&\(query)")
      let offered: JSONValue = ["resume": true, "writes": .bool(isNumbered), "watch": true]
      #expect(try await socket.message()["d"]?["d"]?["x"] == offered)
    }
  }

  @Test func `a listener that has the value gets none`() async throws {
    try await serve { server in
      let client = try await Client(port: server.port)
      try await client.ok("p", ["p": "/open/a", "d": "same"])
      let first = client.send("q", ["p": "/open/a", "h": ""])
      _ = try await client.push()
      _ = try await client.answer(first)
      try await client.ok("n", ["p": "/open/a"])
      // SHA-1 of "string:same", in base64.
      let second = client.send("q", ["p": "/open/a", "h": .string(Self.hash)])
      #expect(try await client.answer(second)["s"] == "ok")
    }
  }

  @Test func `a client that has most of a large node is sent the range that differs`() async throws {
    try await serve { server in
      let client = try await Client(port: server.port)
      let names = (0..<200).map { "key\(1_000 + $0)" }
      var node = JSONObject()
      for name in names { node[name] = .string("the value of \(name)") }
      try await client.ok("p", ["p": "/open/big", "d": .object(node)])
      let known = CompoundHash(try TreeReader().read(.object(node)))
      #expect(known.paths.count > 3)
      try await client.ok("p", ["p": "/open/big/key1100", "d": "another"])
      let ranges: JSONValue = [
        "ps": .array(known.paths.map { .string($0.description) }), "hs": .array(known.hashes.map { .string($0) }),
      ]
      let listen = client.send("q", ["p": "/open/big", "h": "other", "ch": ranges])
      let push = try await client.push()
      #expect(push.action == "rm")
      let sent = try #require(push.body["d"]?.array)
      #expect(sent.count == 1)
      #expect(sent.first?["m"]?["key1100"] == "another")
      #expect(push.body.serialized().count < 2_000)
      #expect(try await client.answer(listen)["s"] == "ok")
    }
  }

  private static let hash = "wOm5fG8t0RXk3peHwsWHwDuqWgM="

  @Test func `a window is kept by single children, not sent again`() async throws {
    try await serve { server in
      let client = try await Client(port: server.port)
      try await client.ok("p", ["p": "/open/list", "d": ["a": 1, "b": 2, "c": 3]])
      let listen = client.send("q", ["p": "/open/list", "q": ["i": ".key", "l": 2, "vf": "r"], "t": 7, "h": ""])
      #expect(try await client.push() == Push("d", ["p": "open/list", "d": ["b": 2, "c": 3], "t": 7]))
      #expect(try await client.answer(listen)["s"] == "ok")
      try await client.ok("p", ["p": "/open/list/a", "d": 9])
      let write = client.send("p", ["p": "/open/list/d", "d": 4])
      #expect(try await client.push() == Push("m", ["p": "open/list", "d": ["b": nil, "d": 4], "t": 7]))
      #expect(try await client.answer(write)["s"] == "ok")
    }
  }

  @Test func `refusals name the rule, and change nothing`() async throws {
    try await serve { server in
      let client = try await Client(port: server.port)
      let write = try await client.answer(client.send("p", ["p": "/open/number", "d": "text"]))
      #expect(write["s"] == "permission_denied")
      #expect(write["d"] == "/open/number: /open/number/.validate is false")
      let listen = try await client.answer(client.send("q", ["p": "/private", "h": ""]))
      #expect(listen["s"] == "permission_denied")
      let stale = try await client.answer(client.send("p", ["p": "/open/x", "d": 1, "h": "other"]))
      #expect(stale["s"] == "datastale")
      try await client.ok("p", ["p": "/open/x", "d": 1, "h": ""])
      let bad = try await client.answer(client.send("p", ["p": "/open/x", "d": ["a.b": 1]]))
      #expect(bad["s"] == "invalid_data")
      #expect(try await client.answer(client.send("g", ["p": "/open"]))["d"] == ["x": 1])
    }
  }

  @Test func `deferred writes run in their order when the connection ends, cancelled ones do not`() async throws {
    try await serve { server in
      let (leaving, staying) = (try await Client(port: server.port), try await Client(port: server.port))
      try await leaving.ok("o", ["p": "/open/online", "d": false])
      try await leaving.ok("om", ["p": "/open", "d": ["last/at": [".sv": "timestamp"], "online": "left"]])
      try await leaving.ok("o", ["p": "/open/never", "d": 1])
      try await leaving.ok("oc", ["p": "/open/never", "d": nil])
      let listen = staying.send("q", ["p": "/open/online", "h": ""])
      _ = try await staying.push()
      _ = try await staying.answer(listen)
      leaving.socket.abort()
      #expect(try await staying.push() == Push("d", ["p": "open/online", "d": false]))
      #expect(try await staying.push() == Push("d", ["p": "open/online", "d": "left"]))
      let all = try await staying.answer(staying.send("g", ["p": "/open"]))["d"] ?? .null
      #expect(all["never"] == nil)
      #expect(all["last"]?["at"]?.int ?? 0 > 1_000_000_000_000)
    }
  }

  @Test func `other rules end the listeners that may no longer read, and no others`() async throws {
    try await serve { server in
      let client = try await Client(port: server.port)
      for path in ["/open/a", "/open/b"] {
        let listen = client.send("q", ["p": .string(path), "h": ""])
        _ = try await client.push()
        _ = try await client.answer(listen)
      }
      try await server.reload(treeRules: #"{"rules": {"open": {"b": {".read": true}, ".write": true}}}"#)
      #expect(try await client.push() == Push("c", ["p": "open/a"]))
      try await client.ok("p", ["p": "/open/a", "d": 1])
      let write = client.send("p", ["p": "/open/b", "d": 2])
      #expect(try await client.push() == Push("d", ["p": "open/b", "d": 2]))
      #expect(try await client.answer(write)["s"] == "ok")
      await #expect(throws: ServerError.self) { try await server.reload(treeRules: "{") }
    }
  }

  @Test func `in development the emulator's credential is an administrator until it is taken back`() async throws {
    try await serve { server in
      let client = try await Client(port: server.port)
      let wrong = try await client.answer(client.send("auth", ["cred": "someone"]))
      #expect(wrong["s"] == "invalid_token")
      try await client.ok("gauth", ["cred": "owner"])
      try await client.ok("p", ["p": "/private", "d": 1])
      let listen = client.send("q", ["p": "/private", "h": ""])
      _ = try await client.push()
      _ = try await client.answer(listen)
      client.send("unauth", [:])
      // The answer and the end of the listener arrive in either order.
      let messages = [try await client.push(), try await client.push()]
      #expect(messages.contains { $0 == Push("c", ["p": "private"]) })
    }
  }

  @Test func `an administrator that asks for a user's rights has no others, and no other caller may choose`()
    async throws
  {
    try await serve { server in
      func status(_ credential: String, _ override: String) async throws -> Int {
        try await HTTPRequest.send(
          "GET", "/private.json?auth_variable_override=\(override)", port: server.port,
          headers: [("Authorization", "Bearer \(credential)")]
        ).status
      }
      let (ada, eve) = ("%7B%22uid%22%3A%22ada%22%7D", "%7B%22uid%22%3A%22eve%22%7D")
      #expect(try await status("owner", ada) == 200)
      for override in [eve, "null", "nonsense", "5"] { #expect(try await status("owner", override) == 401) }
      #expect(try await status("guest", ada) == 401)
      let client = try await Client(port: server.port)
      for (more, allowed) in [
        ([:], true), (["authvar": ["uid": "ada"]], true), (["authvar": ["uid": "eve"]], false),
        (["noauth": true], false), (["authvar": "ada"], false),
      ] as [(JSONObject, Bool)] {
        var body = more
        body["cred"] = "owner"
        try await client.ok("gauth", .object(body))
        let get = try await client.answer(client.send("g", ["p": "/private"]))
        #expect((get["s"] == "ok") == allowed, "\(more)")
      }
    }
  }

  /// As over REST, which refuses such a request by its head: what the rules allow all callers is for guests alone.
  @Test(arguments: [false, true])
  func `a client without credentials is a guest where guests are admitted, and elsewhere nothing`(
    guests: Bool
  ) async throws {
    let key = #"{"name":"k","sha256":"\#(Served.hexadecimal("k"))"}"#
    func file(_ guests: Bool) throws -> AccessFile { try AccessFile(#"{"keys":[\#(key)],"guests":\#(guests)}"#) }
    try await Served.with(
      TreeRESTTests.schema,
      {
        $0.treeRules = Self.rules
        $0.access = .keys(try file(guests))
      }
    ) { (server: GraphQLServer) async throws in
      let client = try await Client(port: server.port)
      let expected: JSONValue = guests ? "ok" : "permission_denied"
      for (action, body) in [
        ("p", ["p": "/open/a", "d": 1]), ("m", ["p": "/open", "d": ["b": 1]]), ("g", ["p": "/open"]),
        ("o", ["p": "/open/c", "d": 1]), ("om", ["p": "/open", "d": ["d": 1]]), ("oc", ["p": "/open"]),
      ] as [(String, JSONValue)] {
        #expect(try await client.answer(client.send(action, body))["s"] == expected, "\(action)")
      }
      let listen = client.send("q", ["p": "/open/x", "h": ""])
      if guests { _ = try await client.push() }
      #expect(try await client.answer(listen)["s"] == expected)
      try await client.ok("n", ["p": "/open/x"])
      try await client.ok("auth", ["cred": "k"])
      #expect(try await client.listen("/open/a") == (guests ? 1 : nil))
      // Taking the credential back ends what only a caller with credentials may have.
      let unauth = client.send("unauth", [:])
      if !guests { #expect(try await client.push() == Push("c", ["p": "open/a"])) }
      #expect(try await client.answer(unauth)["s"] == "ok")
    }
  }

  @Test func `a withdrawn key makes its client a guest, whose listeners end as the rules say`() async throws {
    try await Served.with(
      TreeRESTTests.schema,
      {
        $0.treeRules = Self.rules
        $0.access = .keys(try Served.access("ada"))
      }
    ) { (server: GraphQLServer) async throws in
      let client = try await Client(port: server.port)
      try await client.ok("auth", ["cred": "ada"])
      let listen = client.send("q", ["p": "/private", "h": ""])
      _ = try await client.push()
      _ = try await client.answer(listen)
      try server.reload(access: try Served.access("other"))
      let revoked = try await client.push()
      #expect(revoked.action == "ac")
      #expect(revoked.body["d"] == "The credentials were withdrawn.")
      #expect(try await client.push() == Push("c", ["p": "private"]))
      let write = try await client.answer(client.send("p", ["p": "/private", "d": 1]))
      #expect(write["s"] == "permission_denied")
    }
  }

  @Test func `a server that stops closes the tree's sockets at once`() async throws {
    let socket = Lock<RawSocket?>(nil)
    try await serve { server in
      let client = try await Client(port: server.port)
      try await client.ok("p", ["p": "/open/a", "d": 1])
      socket.withLock { $0 = client.socket }
    }
    let code = await socket.withLock { $0 }?.closeCode()
    #expect(code == 1001)
  }

  @Test func `a client that does not read holds up no other, and is sent the newest value when it reads again`()
    async throws
  {
    try await Served.with(
      TreeRESTTests.schema,
      {
        $0.treeRules = Self.rules
        $0.limits.tree.pendingBytes = 65_536
      }
    ) { (server: GraphQLServer) async throws in
      let (slow, writer) = (try await Client(port: server.port), try await Client(port: server.port))
      _ = try await slow.listen("/open/big")
      slow.socket.keepText()
      slow.socket.setReading(false)
      // More than the buffers of both ends of a connection take.
      let text = String(repeating: "x", count: 15_000)
      let writes = (0..<1_000).map { writer.send("p", ["p": "/open/big/v", "d": .string(text + "\($0)")]) }
      for write in writes { #expect(try await writer.answer(write)["s"] == "ok") }
      slow.socket.setReading(true)
      var messages = 0
      while true {
        messages += 1
        guard case .string(let message) = try await slow.socket.message() else { break }
        // Whole values may come before the last one, as far as the buffers of the connection took them.
        if message.contains(#"x999""#) { break }
      }
      #expect(messages < 1_000)
    }
  }

  @Test func `garbage ends the connection that sent it and no other`() async throws {
    try await serve { server in
      let (bad, good) = (try await Client(port: server.port), try await Client(port: server.port))
      bad.socket.send("{nonsense")
      let closing = await bad.socket.closing()
      #expect(closing.code == 1008)
      #expect(closing.reason.hasPrefix("malformedJSON: "), "\(closing.reason)")
      let odd = try await Client(port: server.port)
      odd.socket.send(#"{"t":"d","d":{"r":1,"a":"m","b":{"p":"/open","d":5}}}"#)
      // Where the request can be read, it alone is refused.
      #expect(try await odd.answer(1) == ["s": "invalid_data", "d": "/open: d is not an object"])
      odd.socket.send(#"{"t":"d","d":{"r":2,"a":"m","b":{"p":5,"d":{}}}}"#)
      #expect(try await odd.answer(2) == ["s": "invalid_request", "d": "p is not a text"])
      odd.socket.send(#"{"t":"d","d":{"a":"m","b":{"p":"/open","d":{}}}}"#)
      #expect(
        await odd.socket.closing() == RawSocket.Closing(1008, "malformedMessage: r of a request is not a whole number"))
      let binary = try await Client(port: server.port)
      binary.socket.sendBinary([0])
      #expect(await binary.socket.closeCode() == 1003)
      try await good.ok("p", ["p": "/open/a", "d": 1])
      let invalid = try await good.answer(good.send("q", ["p": "/a.b", "h": ""]))
      #expect(invalid["s"] == "invalid_path")
    }
  }

  @Test func `a node that becomes too large ends its listener, with the reason for clients that can read it`()
    async throws
  {
    try await Served.with(
      TreeRESTTests.schema,
      {
        $0.treeRules = Self.rules
        $0.limits.tree.nodeLeaves = 8
      }
    ) { (server: GraphQLServer) async throws in
      let (plain, extended) = (
        try await Client(port: server.port), try await Client(port: server.port, "x=1&c=one")
      )
      let writer = try await Client(port: server.port)
      _ = try await plain.listen("/open")
      _ = try await extended.listen("/open")
      for number in 0..<9 { try await writer.ok("p", ["p": .string("/open/k\(number)"), "d": 1]) }
      // The ninth leaf is within the eighth that is not counted again; the tenth is not.
      try await writer.ok("p", ["p": "/open/k9", "d": 1])
      func end(_ client: Client) async throws -> Push {
        while true {
          let push = try await client.push()
          if push.action == "c" { return push }
        }
      }
      #expect(try await end(plain) == Push("c", ["p": "open"]))
      let reason = try await end(extended).body["x"]?.string ?? ""
      #expect(reason.hasPrefix("too_big: "))
      let again = try await writer.answer(writer.send("q", ["p": "/open", "h": ""]))
      #expect(again["s"] == "too_big")
    }
  }

  @Test func `a window in an order without a declared index is answered with a warning`() async throws {
    let rules = #"{"rules": {".read": true, ".write": true, "list": {".indexOn": ["age", ".value"]}}}"#
    try await Served.with(TreeRESTTests.schema, { $0.treeRules = rules }) { (server: GraphQLServer) async throws in
      let client = try await Client(port: server.port)
      let warning: JSONValue = ["w": ["no_index"]]
      let cases: [(String, JSONValue)] = [
        ("age", [:]), (".value", [:]), (".key", [:]), ("name", warning),
      ]
      for (tag, (index, expected)) in cases.enumerated() {
        let query: JSONValue = ["i": .string(index), "l": 2, "vf": "l"]
        let listen = client.send("q", ["p": "/list", "q": query, "t": .int(Int64(tag)), "h": ""])
        _ = try await client.push()
        #expect(try await client.answer(listen)["d"] ?? [:] == expected, "\(index)")
      }
    }
  }
}
