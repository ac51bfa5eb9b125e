import Foundation
import MartletJSON
import MartletServer
import Testing

/// Who may subscribe what, for how long, and what is refused.
@Suite(.timeLimit(.minutes(1))) struct SubscriptionTests {
  @Test(arguments: [
    ("[]", 400), ("{", 400), (#"{"webhook": "hook"}"#, 400), (#"{"webhook": "other", "node": "/n"}"#, 400),
    (#"{"webhook": "hook", "node": "/a#b"}"#, 400), (#"{"webhook": "hook", "node": "/n", "events": "moved"}"#, 400),
    (#"{"webhook": "hook", "node": "/n", "duration": -1}"#, 400),
    (#"{"webhook": "hook", "node": "/n", "owner": {"provider": "system"}}"#, 400),
    (#"{"webhook": "hook", "node": "/n", "expires": 1}"#, 400),
    (#"{"webhook": "hook", "query": "query { listTodos { items { id } } }"}"#, 403),
    (#"{"webhook": "hook", "query": "subscription { onNothing }"}"#, 403),
    (#"{"webhook": "hook", "query": "subscription { treeChanged(path: \"/n\") { path value } }"}"#, 403),
    (#"{"webhook": "hook", "node": "/n", "url": "http://127.0.0.1/"}"#, 400),
    (#"{"webhook": "hook", "node": "/n", "id": "taken"}"#, 409),
  ])
  func `a subscription that cannot be used is refused and leaves nothing`(text: String, status: Int) async throws {
    try await Served.with(Served.configuration(try Receiver())) { server in
      try await Served.subscribe(#"{"id": "taken", "webhook": "hook", "node": "/n"}"#, server)
      let answer = await Call.send("POST", "/channels", text, port: server.port)
      #expect(answer.status == status, "\(answer)")
      let message = answer.json["errors"]?[0]?["message"]?.string ?? ""
      #expect(message.hasSuffix(".") && !message.hasSuffix(".."), "\(message)")
      let list = await Call.send("GET", "/channels", port: server.port)
      #expect(list.json["subscriptions"]?.array?.count == 1)
    }
  }

  @Test func `more subscriptions than the limit, and longer ones, are refused`() async throws {
    let configuration = Served.configuration(try Receiver()) {
      $0.limits.channels.subscriptions = 1
      $0.limits.channels.definitionBytes = 200
    }
    try await Served.with(configuration) { server in
      try await Served.subscribe(#"{"webhook": "hook", "node": "/n"}"#, server)
      let second = await Call.send("POST", "/channels", #"{"webhook": "hook", "node": "/m"}"#, port: server.port)
      #expect(second.status == 429)
      let long = String(repeating: "x", count: 300)
      let large = await Call.send("POST", "/channels", "{\"context\": \"\(long)\"}", port: server.port)
      #expect(large.status == 413)
    }
  }

  @Test func `a node with more leaves than the limit is refused, and one that grows beyond it ends`() async throws {
    let receiver = try Receiver()
    let configuration = Served.configuration(receiver) { $0.limits.channels.nodeLeaves = 8 }
    try await Served.with(configuration) { server in
      await Served.put("/large.json", "[1,2,3,4,5,6,7,8,9,10]", server)
      let refused = await Call.send("POST", "/channels", #"{"webhook": "hook", "node": "/large"}"#, port: server.port)
      #expect(refused.status == 403)
      #expect(refused.json["errors"]?[0]?["message"]?.string?.contains("channels.nodeLeaves") == true)
      try await Served.subscribe(#"{"id": "n", "webhook": "hook", "node": "/n"}"#, server)
      // Values that are overwritten do not count.
      for number in 0..<30 { await Served.put("/n/a.json", "\(number)", server) }
      _ = await receiver.requests(30)
      #expect(await Served.status("n", server)["state"] == "active")
      await Served.put("/n.json", "[1,2,3,4,5,6,7,8,9,10]", server)
      let state = await Served.status("n", server) { $0["state"] == "failed" }
      #expect(state["reason"]?.string?.contains("channels.nodeLeaves") == true)
    }
  }

  @Test func `a subscription is kept over a restart, ends when it is cancelled, and expires`() async throws {
    let receiver = try Receiver()
    let folder = try TemporaryFolder()
    let configuration = try Served.configuration(receiver, folder)
    try await Served.with(configuration) { server in
      try await Served.subscribe(#"{"id": "kept", "webhook": "hook", "node": "/n"}"#, server)
      try await Served.subscribe(#"{"id": "gone", "webhook": "hook", "node": "/n"}"#, server)
      try await Served.subscribe(#"{"id": "short", "webhook": "hook", "node": "/n", "duration": 1}"#, server)
      #expect(await Call.send("DELETE", "/channels/gone", port: server.port).status == 200)
      #expect(await Call.send("DELETE", "/channels/gone", port: server.port).status == 404)
      #expect(await Served.status("short", server) { $0["errors"] != nil }["errors"] != nil)
    }
    try await Served.with(configuration) { server in
      _ = await Served.status("kept", server) { $0["state"] == "active" }
      let list = await Call.send("GET", "/channels", port: server.port).json
      #expect(list["subscriptions"]?.array?.map { $0["id"] } == ["kept"])
    }
  }

  @Test func `administrators manage all subscriptions, others their own, under their rights`() async throws {
    let receiver = try Receiver()
    let configuration = try Served.configuration(receiver) { configuration in
      configuration.access = .keys(try Keys.access("ops", "ada", "bob"))
      configuration.treeRules =
        #"{"rules": {"open": {".read": true}, ".write": true, "ada": {".read": "auth.uid === 'ada'"}}}"#
      configuration.channels?.administrators = ["ops"]
      configuration.channels?.webhooks[0].isOpenToCallers = true
      var closed = Webhook("closed", url: receiver.url, secret: Served.secret)
      closed.isEnabled = false
      configuration.channels?.webhooks.append(closed)
    }
    try await Served.with(configuration) { server in
      func subscribe(_ text: String, _ key: String?) async -> Int {
        await Call.send("POST", "/channels", text, port: server.port, key: key).status
      }
      #expect(await subscribe(#"{"webhook": "hook", "node": "/open"}"#, nil) == 401)
      #expect(await subscribe(#"{"id": "a", "webhook": "hook", "node": "/ada"}"#, "ada") == 201)
      #expect(await subscribe(#"{"webhook": "hook", "node": "/ada"}"#, "bob") == 403)
      #expect(await subscribe(#"{"webhook": "closed", "node": "/open"}"#, "ada") == 403)
      #expect(await subscribe(#"{"id": "all", "webhook": "closed", "node": "/"}"#, "ops") == 201)
      func seen(_ key: String) async -> [JSONValue?]? {
        await Call.send("GET", "/channels", port: server.port, key: key).json["subscriptions"]?.array?.map { $0["id"] }
      }
      #expect(await seen("ops") == ["a", "all"])
      #expect(await seen("ada") == ["a"])
      #expect(await seen("bob") == [])
      #expect(await Call.send("DELETE", "/channels/a", port: server.port, key: "bob").status == 404)
      // Rules that take the right away end the subscription.
      try await server.reload(treeRules: #"{"rules": {".read": false, ".write": true}}"#)
      while await Call.send("GET", "/channels/a", port: server.port, key: "ops").json["state"] != "failed" {
        await Task.yield()
      }
      // It has not ended: its webhook is not enabled.
      let closed = await Call.send("GET", "/channels/all", port: server.port, key: "ops").json
      #expect(closed["state"] == "suspended")
      #expect(closed["reason"] == "its target is not enabled")
    }
  }

  @Test(arguments: [
    ("{", "not JSON"), ("[]", "not a JSON object"), (#"{"hooks": []}"#, "\"hooks\""),
    (#"{"webhooks": [{"name": "a b", "url": "https://x.example/", "secret": "0123456789abcdef"}]}"#, "letters"),
    (#"{"webhooks": [{"name": "a", "url": "file:///etc/passwd", "secret": "0123456789abcdef"}]}"#, "https://"),
    (#"{"webhooks": [{"name": "a", "url": "https://x.example/", "secret": "short"}]}"#, "16"),
    (#"{"webhooks": [{"name": "a", "url": "https://x.example/"}]}"#, "secrets"),
    (
      #"{"webhooks": [{"name": "a", "url": "https://x.example/", "secret": "0123456789abcdef", "headers": {"a b": "c"}}]}"#,
      "header"
    ),
    (#"{"allowedAddresses": ["10.0.0.1/8"]}"#, "prefix"),
    (#"{"subscriptions": [{"id": "s", "webhook": "none", "node": "/n"}]}"#, "none"),
  ])
  func `a channels file that cannot be used is refused with the place`(text: String, word: String) throws {
    let error = #expect(throws: ServerError.self) {
      var configuration = ServerConfiguration(schema: Served.schema)
      configuration.access = .development
      configuration.channels = try ChannelConfiguration(text)
      _ = try GraphQLServer(configuration)
    }
    #expect(error?.code == .channels)
    #expect(error?.description.contains(word) == true, "\(String(describing: error))")
  }
}

/// An access file with one key for each name; the key is the name itself.
enum Keys {
  static let digests = [
    "ops": "a92c36e66a25ee99ff862faa8e87987be6c7cd13c3ee661c400a45b0f1e3b132",
    "ada": "fdee430d40bd57deeac186cd9790033d0f06f909a8806e7ce6e717ab7c7d5029",
    "bob": "81b637d8fcd2c6da6359e6963113a1170de795e4b725b84d1e0b4cfd9ec58ce9",
  ]

  static func access(_ names: String...) throws -> AccessFile {
    let entries = names.map { #"{"name":"\#($0)","sha256":"\#(digests[$0] ?? "")"}"# }
    return try AccessFile(#"{"keys":[\#(entries.joined(separator: ","))]}"#)
  }
}
