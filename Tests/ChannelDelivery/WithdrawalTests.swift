import Foundation
import MartletJSON
import MartletServer
import Testing

/// Subscriptions whose owners' credentials, or whose webhooks, are withdrawn and given back.
@Suite(.timeLimit(.minutes(1))) struct WithdrawalTests {
  private static func configuration(
    _ receiver: Receiver, _ folder: TemporaryFolder? = nil, keys: AccessFile? = nil,
    _ adjust: (inout ServerConfiguration) throws -> Void = { _ in }
  ) throws -> ServerConfiguration {
    try Served.configuration(receiver, folder) { configuration in
      configuration.access = .keys(try keys ?? Keys.access("ops", "ada", "bob"))
      configuration.channels?.administrators = ["ops"]
      configuration.channels?.webhooks[0].isOpenToCallers = true
      try adjust(&configuration)
    }
  }

  private static func put(_ path: String, _ json: String, _ server: GraphQLServer) async {
    #expect(await Call.send("PUT", path, json, port: server.port, key: "ops").status == 200)
  }

  private static func state(
    _ id: String, _ state: JSONValue, _ server: GraphQLServer
  ) async -> JSONValue {
    while true {
      let status = await Call.send("GET", "/channels/\(id)", port: server.port, key: "ops").json
      if status["state"] == state { return status }
      await Task.yield()
    }
  }

  @Test func `a key that is withdrawn suspends its subscriptions, and loses nothing when it is given back`()
    async throws
  {
    let receiver = try Receiver()
    try await Served.with(Self.configuration(receiver)) { server in
      let children = #""webhook": "hook", "node": "/n", "events": "childEvent""#
      try await Served.subscribe(#"{"id": "a", \#(children)}"#, server, key: "ada")
      try await Served.subscribe(#"{"id": "b", \#(children)}"#, server, key: "bob")
      try await Served.subscribe(
        #"{"id": "q", "webhook": "hook", "query": "subscription { onCreateTodo { id } }"}"#, server, key: "ada")
      await Self.put("/n/x.json", "1", server)
      _ = await receiver.requests(2)
      try server.reload(access: Keys.access("ops", "bob"))
      let suspended = await Self.state("a", "suspended", server)
      #expect(suspended["reason"] == "its owner's key was withdrawn")
      #expect(suspended["owner"] == nil)
      _ = await Self.state("q", "suspended", server)
      #expect(await Self.state("b", "active", server)["reason"] == nil)
      await Self.put("/n/x.json", "2", server)
      await Self.put("/n/y.json", "1", server)
      await Self.put("/n/x.json", "null", server)
      try await server.transaction { try $0.create("Todo", ["id": "t", "text": "x"]) }
      while receiver.requests.count(where: { $0.json["subscription"] == "b" }) < 4 { await Task.yield() }
      #expect(Set(receiver.requests.filter { $0.json["subscription"] == "a" }.map(\.id)).count == 1)
      try server.reload(access: Keys.access("ops", "ada", "bob"))
      _ = await Self.state("a", "active", server)
      // One whose answer was under way when the key was withdrawn comes twice, with one id.
      while Set(receiver.requests.map(\.id)).count < 9 { await Task.yield() }
      var ids: Set<String> = []
      let all = receiver.requests.filter { ids.insert($0.id).inserted }
      func events(_ id: JSONValue) -> [JSONValue?] {
        all.filter { $0.json["subscription"] == id }.map { $0.json["event"] }
      }
      #expect(events("b") == ["childAddition", "childChange", "childAddition", "childRemoval"])
      #expect(events("a") == events("b"))
      #expect(events("q") == ["next"])
    }
  }

  @Test func `an attempt under way is given up, and its event comes again with the same id`() async throws {
    let receiver = try Receiver { _ in .silence }
    try await Served.with(Self.configuration(receiver)) { server in
      try await Served.subscribe(#"{"id": "a", "webhook": "hook", "node": "/n"}"#, server, key: "ada")
      await Self.put("/n.json", "1", server)
      let first = await receiver.requests(1)[0]
      try server.reload(access: Keys.access("ops"))
      _ = await Self.state("a", "suspended", server)
      receiver.answer { _ in .status(200) }
      try server.reload(access: Keys.access("ops", "ada"))
      #expect(await receiver.requests(2)[1].id == first.id)
      await Self.put("/n.json", "2", server)
      #expect(await receiver.requests(3)[2].json["value"] == 2)
    }
  }

  @Test func `a key that is withdrawn before a start suspends, and what happened meanwhile follows later`() async throws
  {
    let receiver = try Receiver()
    let folder = try TemporaryFolder()
    try await Served.with(Self.configuration(receiver, folder)) { server in
      try await Served.subscribe(#"{"id": "a", "webhook": "hook", "node": "/n"}"#, server, key: "ada")
      await Self.put("/n.json", "1", server)
      _ = await receiver.requests(1)
      while await Self.state("a", "active", server)["waiting"] != 0 { await Task.yield() }
    }
    try await Served.with(Self.configuration(receiver, folder, keys: Keys.access("ops"))) { server in
      _ = await Self.state("a", "suspended", server)
      await Self.put("/n.json", "2", server)
    }
    try await Served.with(Self.configuration(receiver, folder)) { server in
      while receiver.requests.last?.json["value"] != 2 { await Task.yield() }
      #expect(Set(receiver.requests.map(\.id)).count == 2)
      // It can be cancelled by its owner again.
      #expect(await Call.send("DELETE", "/channels/a", port: server.port, key: "ada").status == 200)
    }
  }

  @Test func `an expired or restricted key suspends its subscriptions, an administrator's key those that it made`()
    async throws
  {
    let receiver = try Receiver()
    try await Served.with(Self.configuration(receiver)) { server in
      try await Served.subscribe(#"{"id": "a", "webhook": "hook", "node": "/n"}"#, server, key: "ada")
      try await Served.subscribe(#"{"id": "b", "webhook": "hook", "node": "/n"}"#, server, key: "bob")
      try await Served.subscribe(#"{"id": "o", "webhook": "hook", "node": "/n"}"#, server, key: "ops")
      // The key's end is in the next second.
      let soon = Int(Date().timeIntervalSince1970) + 1
      let file = """
        {"keys": [{"name": "ops", "sha256": "\(Keys.digests["ops"] ?? "")"},
         {"name": "ada", "sha256": "\(Keys.digests["ada"] ?? "")", "expires": \(soon)},
         {"name": "bob", "sha256": "\(Keys.digests["bob"] ?? "")", "operations": ["read"]}]}
        """
      try server.reload(access: AccessFile(file))
      #expect(await Self.state("b", "suspended", server)["reason"] == "its owner's key has lost rights")
      #expect(await Self.state("a", "suspended", server)["reason"] == "its owner's key has expired")
      let made = await Self.state("o", "active", server)
      #expect(made["maker"] == nil)
      try server.reload(access: Keys.access("ada", "bob"))
      // It continues when the key is given back.
      await Call.untilRefused("/channels/o", port: server.port, key: "ops")
      _ = await Call.send("PUT", "/n.json", "1", port: server.port, key: "ada")
      _ = await receiver.requests(2)
      #expect(receiver.requests.allSatisfy { $0.json["subscription"] != "o" })
      try server.reload(access: Keys.access("ops", "ada", "bob"))
      #expect(await receiver.requests(3)[2].json["subscription"] == "o")
    }
  }

  @Test func `a webhook that is closed or removed suspends its subscriptions at the next start`() async throws {
    let receiver = try Receiver()
    let folder = try TemporaryFolder()
    try await Served.with(Self.configuration(receiver, folder)) { server in
      try await Served.subscribe(#"{"id": "a", "webhook": "hook", "node": "/n"}"#, server, key: "ada")
      try await Served.subscribe(#"{"id": "o", "webhook": "hook", "node": "/n"}"#, server, key: "ops")
    }
    let closed = try Self.configuration(receiver, folder) { $0.channels?.webhooks[0].isOpenToCallers = false }
    try await Served.with(closed) { server in
      #expect(
        await Self.state("a", "suspended", server)["reason"] == "the webhook \"hook\" is no longer open to callers")
      _ = await Self.state("o", "active", server)
    }
    let removed = try Self.configuration(receiver, folder) { $0.channels?.webhooks = [] }
    try await Served.with(removed) { server in
      #expect(await Self.state("o", "suspended", server)["reason"] == "the webhook \"hook\" is not configured")
      await Self.put("/n.json", "1", server)
    }
    try await Served.with(Self.configuration(receiver, folder)) { _ in
      let all = await receiver.requests(2)
      #expect(Set(all.map { $0.json["subscription"]?.string }) == ["a", "o"])
    }
  }
}

extension Call {
  /// Returns when a key is no longer accepted.
  static func untilRefused(_ path: String, port: Int, key: String) async {
    while await send("GET", path, port: port, key: key).status != 401 { await Task.yield() }
  }
}
