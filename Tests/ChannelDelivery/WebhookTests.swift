import Foundation
import MartletJSON
import MartletServer
import MartletSignatures
import Testing

/// Webhooks on nodes of the tree and on GraphQL subscriptions.
@Suite(.timeLimit(.minutes(1))) struct WebhookTests {
  @Test func `a change of a node is posted with its id, context and signature`() async throws {
    let receiver = try Receiver()
    try await Served.with(Served.configuration(receiver)) { server in
      let made = try await Served.subscribe(
        #"{"id": "rooms", "webhook": "hook", "node": "/rooms", "events": "childEvent", "context": {"of": "ada"}}"#,
        server)
      #expect(made["id"] == "rooms")
      await Served.put("/rooms/kitchen.json", #"{"lamp": true}"#, server)
      await Served.put("/elsewhere.json", "1", server)
      await Served.put("/rooms/kitchen/lamp.json", "false", server)
      await Served.put("/rooms.json", "null", server)
      let requests = await receiver.requests(3)
      #expect(requests.map { $0.json["event"] } == ["childAddition", "childChange", "childRemoval"])
      #expect(requests.map { $0.json["value"] } == [["lamp": true], ["lamp": false], .null])
      for request in requests {
        #expect(request.line == "POST /hook HTTP/1.1")
        #expect(request.fields["content-type"] == "application/json; charset=utf-8")
        #expect(request.json["context"] == ["of": "ada"])
        #expect(request.json["path"] == "/rooms/kitchen")
        #expect(request.json["key"] == "kitchen")
        #expect(request.json["id"]?.string == request.id)
        let content =
          "\(request.id).\(request.fields["webhook-timestamp"] ?? "")." + String(decoding: request.body, as: UTF8.self)
        let key = Array(base64("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let code = try #require(MessageCode.sha256(of: Array(content.utf8), by: key))
        #expect(request.fields["webhook-signature"] == "v1,\(base64(code))")
      }
      #expect(Set(requests.map(\.id)).count == 3)
    }
  }

  @Test func `a burst of writes arrives whole and in order, one request at a time`() async throws {
    let receiver = try Receiver()
    let configuration = Served.configuration(receiver) { $0.limits.channels.queuedEvents = 3 }
    try await Served.with(configuration) { server in
      try await Served.subscribe(#"{"id": "n", "webhook": "hook", "node": "/n"}"#, server)
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<40 { group.addTask { await Served.put("/n/k\(number).json", "\(number)", server) } }
      }
      let requests = await receiver.requests(40)
      #expect(Set(requests.map(\.id)).count == 40)
      #expect(requests.map { $0.json["value"]?.object?.count } == (1...40).map { $0 })
      #expect(receiver.mostActive == 1)
    }
  }

  @Test func `events of a GraphQL subscription are posted`() async throws {
    let receiver = try Receiver()
    try await Served.with(Served.configuration(receiver)) { server in
      try await Served.subscribe(
        #"{"id": "todos", "webhook": "hook", "query": "subscription { onCreateTodo { id text } }"}"#, server)
      for number in 1...3 {
        try await server.transaction { try $0.create("Todo", ["id": .string("t\(number)"), "text": "x"]) }
      }
      let requests = await receiver.requests(3)
      #expect(requests.map { $0.json["event"] } == ["next", "next", "next"])
      #expect(
        requests.map { $0.json["payload"]?["data"]?["onCreateTodo"]?["id"] } == ["t1", "t2", "t3"])
    }
  }

  @Test func `what a receiver did not take is delivered after a restart, in order and with the same ids`() async throws
  {
    let receiver = try Receiver { request in request.json["value"] == 3 ? .status(500) : .status(200) }
    let folder = try TemporaryFolder()
    let configuration = Served.configuration(receiver, folder) {
      // However long the server takes to stop, the third one is not given up.
      $0.limits.channels.attempts = 1_000_000
    }
    try await Served.with(configuration) { server in
      try await Served.subscribe(#"{"id": "n", "webhook": "hook", "node": "/n"}"#, server)
      for number in 1...5 { await Served.put("/n.json", "\(number)", server) }
      // The third one has been tried twice.
      _ = await receiver.requests(4)
    }
    let first = receiver.requests
    receiver.answer { _ in .status(200) }
    try await Served.with(configuration) { server in
      await Served.put("/n.json", "6", server)
      let all = await receiver.requests(first.count + 4)
      let second = all.dropFirst(first.count)
      #expect(second.map { $0.json["value"] } == [3, 4, 5, 6])
      #expect(second.first?.id == first.last?.id)
      #expect(first.prefix(2).map { $0.json["value"] } == [1, 2])
    }
  }

  @Test func `children and GraphQL events that happen while nothing is delivered are delivered later`() async throws {
    let receiver = try Receiver()
    let folder = try TemporaryFolder()
    func configuration(enabled: Bool) -> ServerConfiguration {
      Served.configuration(receiver, folder) { configuration in
        configuration.channels?.webhooks[0].isEnabled = enabled
        configuration.channels?.subscriptions = [
          ["id": "kids", "webhook": "hook", "node": "/rooms", "events": "childEvent"],
          ["id": "todos", "webhook": "hook", "query": "subscription { onCreateTodo { id } }"],
        ]
      }
    }
    try await Served.with(configuration(enabled: true)) { server in
      _ = await Served.status("kids", server) { $0["state"] == "active" }
      _ = await Served.status("todos", server) { $0["state"] == "active" }
      await Served.put("/rooms/a.json", "1", server)
      _ = await receiver.requests(1)
      _ = await Served.status("kids", server) { $0["waiting"] == 0 }
    }
    try await Served.with(configuration(enabled: false)) { server in
      _ = await Served.status("kids", server) { $0["state"] == "suspended" }
      await Served.put("/rooms/a.json", "2", server)
      await Served.put("/rooms/b.json", "1", server)
      await Served.put("/rooms/a.json", "null", server)
      try await server.transaction { try $0.create("Todo", ["id": "t", "text": "x"]) }
    }
    try await Served.with(configuration(enabled: true)) { server in
      let later = await receiver.requests(5).dropFirst()
      let kids = later.filter { $0.json["subscription"] == "kids" }
      #expect(kids.map { $0.json["event"] } == ["childChange", "childAddition", "childRemoval"])
      #expect(later.contains { $0.json["payload"]?["data"]?["onCreateTodo"]?["id"] == "t" })
    }
  }

  @Test func `what the log no longer has is a gap event, after which delivery continues`() async throws {
    let receiver = try Receiver()
    let folder = try TemporaryFolder()
    func configuration(enabled: Bool) -> ServerConfiguration {
      Served.configuration(receiver, folder) { configuration in
        configuration.channels?.webhooks[0].isEnabled = enabled
        configuration.channels?.subscriptions = [["id": "n", "webhook": "hook", "node": "/n"]]
        if !enabled { configuration.channels = nil }
        configuration.limits.store.retentionBytes = 20_000
      }
    }
    try await Served.with(configuration(enabled: true)) { server in
      _ = await Served.status("n", server) { $0["state"] == "active" }
      await Served.put("/n.json", "0", server)
      _ = await receiver.requests(1)
      _ = await Served.status("n", server) { $0["waiting"] == 0 }
    }
    try await Served.with(configuration(enabled: false)) { server in
      let text = String(repeating: "x", count: 2_000)
      for _ in 0..<40 { await Served.put("/other.json", "\"\(text)\"", server) }
    }
    try await Served.with(configuration(enabled: true)) { server in
      let gap = await receiver.requests(2)[1]
      #expect(gap.json["event"] == "gap")
      #expect(gap.json["reason"] == "retention")
      await Served.put("/n.json", "9", server)
      #expect(await receiver.requests(3)[2].json["value"] == 9)
    }
  }
}

func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
func base64(_ text: String) -> [UInt8] { Array(Data(base64Encoded: text) ?? Data()) }
