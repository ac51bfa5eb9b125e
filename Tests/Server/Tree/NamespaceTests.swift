import Foundation
import MartletJSON
import MartletServer
import MartletStore
import Testing

/// Trees beside the first one: chosen by `ns`, declared by the operator only.
@Suite struct NamespaceTests {
  private static let open = #"{"rules": {".read": true, ".write": true}}"#
  private static let numbers = #"{"rules": {".read": true, "$any": {".write": "newData.isNumber()"}}}"#

  private func serve(
    _ folder: TemporaryFolder? = nil, _ adjust: (inout ServerConfiguration) -> Void = { _ in },
    _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    try await Served.with(
      TreeRESTTests.schema,
      {
        $0.treeRules = Self.open
        $0.treeName = "main"
        $0.treeNamespaces = [TreeNamespaceDeclaration("numbers", rules: Self.numbers)]
        $0.limits.tree.resumeGrace = .zero
        if let folder { $0.data = .folder(folder.path) }
        adjust(&$0)
      }, body)
  }

  private func send(
    _ method: String, _ target: String, _ body: String? = nil, _ server: GraphQLServer
  ) async throws -> HTTPRequest.Answer {
    try await HTTPRequest.send(method, target, port: server.port, headers: [], body: body)
  }

  @Test func `requests and sockets choose their tree by ns, under its own rules`() async throws {
    try await serve { server in
      #expect(try await send("PUT", "/a.json?ns=main", "1", server).status == 200)
      #expect(try await send("PUT", "/a.json?ns=numbers", "2", server).status == 200)
      #expect(try await send("PUT", "/a.json?ns=numbers", #""text""#, server).status == 401)
      #expect(try await send("GET", "/a.json", nil, server).json == 1)
      #expect(try await send("GET", "/a.json?ns=numbers", nil, server).json == 2)
      let (first, second) = (
        try await TreePeer(port: server.port, ns: "main"), try await TreePeer(port: server.port, ns: "numbers")
      )
      #expect(try await first.listen("/a") == 1)
      #expect(try await second.listen("/a") == 2)
      try await first.ok("p", ["p": "/b", "d": "text"])
      let denied = try await second.answer(second.send("p", ["p": "/b", "d": "text"]))
      #expect(denied["s"] == "permission_denied")
      // A write reaches the listeners of its own tree only.
      #expect(try await send("PUT", "/a.json?ns=numbers", "3", server).status == 200)
      #expect(try await second.push().body["d"] == 3)
      #expect(try await first.value("/a") == 1)
    }
  }

  @Test func `a name that was not declared is refused by requests and sockets, and makes nothing`() async throws {
    let folder = try TemporaryFolder()
    try await serve(folder) { server in
      for method in ["GET", "PUT", "PATCH", "POST", "DELETE"] {
        let answer = try await send(method, "/a.json?ns=other", method == "GET" ? nil : #"{"x": 1}"#, server)
        #expect(answer.status == 404)
        #expect(answer.json["error"] == #"There is no namespace "other"."#)
      }
      let socket = try await RawSocket.open(port: server.port, subprotocols: [], target: "/.ws?v=5&ns=other")
      let message = try await socket.message()
      #expect(message["d"]?["t"] == "s")
      #expect(message["d"]?["d"] == #"unknown_namespace: there is no namespace "other""#)
      #expect(await socket.closeCode() == 1008)
      let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(!files.contains { $0.hasPrefix("namespace") })
    }
  }

  @Test func `a tree's data is opened by its first request, and is there after a restart`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/namespace-numbers"
    try await serve(folder) { server in
      #expect(!FileManager.default.fileExists(atPath: path))
      async let one = send("PUT", "/n.json?ns=numbers", "1", server)
      async let two = send("GET", "/n.json?ns=numbers", nil, server)
      #expect(try await (one.status, two.status) == (200, 200))
      #expect(FileManager.default.fileExists(atPath: path))
      let client = try await TreePeer(port: server.port, ns: "numbers")
      try await client.ok("o", ["p": "/left", "d": 7])
    }
    try await serve(folder) { server in
      let client = try await TreePeer(port: server.port, ns: "numbers")
      // What a client left in this tree is made by the next process.
      if try await client.listen("/left").isNull { #expect(try await client.push().body["d"] == 7) }
      #expect(try await send("GET", "/n.json?ns=numbers", nil, server).json == 1)
      #expect(try await send("GET", "/n.json", nil, server).json == nil)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `what a client left in a tree that no request asks for is made by the next process`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/namespace-numbers"
    try await serve(folder) { server in
      let client = try await TreePeer(port: server.port, ns: "numbers")
      try await client.ok("o", ["p": "/left", "d": 7])
    }
    #expect(DeferredWrite.areLeft(in: path))
    try await serve(folder) { (server: GraphQLServer) async throws in
      while DeferredWrite.areLeft(in: path) { await Task.yield() }
      #expect(try await send("GET", "/left.json?ns=numbers", nil, server).json == 7)
    }
    #expect(!DeferredWrite.areLeft(in: path))
  }

  @Test func `rules of all trees are replaced together, or none of them`() async throws {
    try await serve { server in
      func reload(_ rules: String, _ spaces: [TreeNamespaceDeclaration]) async throws {
        try await server.reload(
          schema: TreeRESTTests.schema, access: nil, treeRules: rules, treeNamespaces: spaces)
      }
      let closed = #"{"rules": {".read": true}}"#
      for spaces in [
        [TreeNamespaceDeclaration("numbers", rules: "{")], [TreeNamespaceDeclaration("other", rules: closed)],
      ] {
        await #expect(throws: ServerError.self) { try await reload(closed, spaces) }
        #expect(try await send("PUT", "/a.json?ns=main", "1", server).status == 200)
      }
      try await reload(closed, [TreeNamespaceDeclaration("numbers", rules: closed)])
      for ns in ["main", "numbers"] {
        #expect(try await send("PUT", "/a.json?ns=\(ns)", "1", server).status == 401, "\(ns)")
      }
    }
  }

  @Test func `each tree has a term, revisions and write numbers of its own`() async throws {
    try await serve { server in
      var revisions: [String] = []
      for ns in ["main", "numbers"] {
        let client = try await TreePeer(port: server.port, ns: ns, "x=1&c=one")
        let request = client.send("p", ["p": "/n", "d": [".sv": ["increment": 1]], "x": ["n": 1]])
        let answer = try await client.answer(request)
        #expect(answer["d"] == 1)
        revisions.append(answer["v"]?.string ?? "")
      }
      #expect(Set(revisions.map { $0.prefix(8) }).count == 2)
    }
  }

  @Test func `a tree that is declared while the server runs is served at once and by later starts`() async throws {
    let folder = try TemporaryFolder()
    try await serve(folder) { server in
      #expect(try await send("GET", "/.json?ns=staging", nil, server).status == 404)
      try await server.trees.declare("staging", rules: Self.open)
      #expect(try await send("PUT", "/a.json?ns=staging", "true", server).status == 200)
    }
    try await serve(folder) { server in
      #expect(try await send("GET", "/a.json?ns=staging", nil, server).json == true)
      let client = try await TreePeer(port: server.port, ns: "staging")
      #expect(try await client.listen("/a") == true)
      try await server.trees.declare("staging", rules: #"{"rules": {".read": false}}"#)
      #expect(try await client.push().action == "c")
    }
  }

  @Test func `names and numbers beyond the limit are refused with the reason`() async throws {
    try await serve(nil, { $0.limits.tree.namespaces = 2 }) { server in
      for name in ["", "a/b", "..", "é", String(repeating: "n", count: 65), "main"] {
        await #expect(throws: ServerError.self) { try await server.trees.declare(name, rules: Self.open) }
      }
      await #expect(throws: ServerError.self) { try await server.trees.declare("bad", rules: "{") }
      try await server.trees.declare("second", rules: Self.open)
      let error = await #expect(throws: ServerError.self) {
        try await server.trees.declare("third", rules: Self.open)
      }
      #expect(error?.description.contains("tree.namespaces (2)") == true)
      #expect(try await send("GET", "/a.json?ns=third", nil, server).status == 404)
    }
  }

  @Test func `more namespaces than the memory holds are refused with the reason`() async throws {
    try await serve(nil, { $0.limits.tree.namespaceBytes = 2 * NamespaceMemory.smallestShare }) { server in
      try await server.trees.declare("second", rules: Self.open)
      let error = await #expect(throws: ServerError.self) {
        try await server.trees.declare("third", rules: Self.open)
      }
      #expect(error?.description.contains("the 2 that the limit tree.namespaceBytes (2097152) holds") == true)
    }
  }

  @Test(arguments: [1_048_576, 20_000_000, 134_217_728, 1 << 40])
  func `page caches and recent changes of all namespaces fit their memory`(bytes: Int) {
    var limits = ServerLimits().tree
    limits.namespaceBytes = bytes
    for namespaces in [1, 3, 100, 5_000] {
      limits.namespaces = namespaces
      let memory = NamespaceMemory(limits)
      #expect((1...namespaces).contains(memory.most))
      let each = NamespaceMemory.fixedBytes + 2 * Int(memory.cacheKiB) * 1_024 + memory.ringBytes
      #expect(each * memory.most <= bytes && memory.ringBytes >= 131_072)
    }
  }

  @Test func `without other trees every name stands for the first one`() async throws {
    try await Served.with(TreeRESTTests.schema, { $0.treeRules = Self.open }) { (server: GraphQLServer) async throws in
      #expect(try await send("PUT", "/a.json?ns=anything", "1", server).status == 200)
      #expect(try await send("GET", "/a.json", nil, server).json == 1)
    }
  }
}
