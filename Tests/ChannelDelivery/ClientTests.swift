import MartletDatasync
import MartletJSON
import MartletServer
import Testing

/// Webhooks and push as the Datasync client subscribes them.
@Suite(.timeLimit(.minutes(1))) struct ClientTests {
  private static func service(
    _ server: GraphQLServer, key: String? = nil, _ adjust: (inout DatasyncConfiguration) -> Void = { _ in }
  ) -> DatasyncService {
    var configuration = DatasyncConfiguration(url: "ws://127.0.0.1:\(server.port)")
    if let key { configuration.connection.credentials = { _ in .bearer(key) } }
    adjust(&configuration)
    return MartletApplication(configuration: configuration).datasyncService
  }

  @Test func `a node is subscribed through a webhook, listed, and cancelled`() async throws {
    let receiver = try Receiver()
    let configuration = try Served.configuration(receiver) { configuration in
      configuration.access = .keys(try Keys.access("ada", "bob"))
      configuration.channels?.webhooks[0].isOpenToCallers = true
    }
    try await Served.with(configuration) { server in
      let service = Self.service(server, key: "ada")
      let manager = service.createManager()
      let contacts = try manager.nodeThrows(for: "contacts")
      let made = try await contacts.subscribeThroughWebhook(
        "hook", context: ["of": "ada"], descriptor: .childEvent, id: "mine")
      #expect(made.id == "mine")
      #expect(made.target == .webhook("hook"))
      #expect(made.path == "/contacts")
      #expect(made.state == .active)
      try await contacts.subscribeThroughWebhook(
        "hook", descriptor: .value(change: true, withoutData: true), id: "bare")
      try await (contacts / "eve")?.set(["name": "Eve"]).acknowledged()
      let requests = await receiver.requests(2).sorted { $0.id < $1.id }
      #expect(requests.map { $0.json["event"] } == ["valueChange", "childAddition"])
      #expect(requests[0].json["value"] == nil)
      #expect(requests[1].json["value"] == ["name": "Eve"])
      #expect(requests[1].json["context"] == ["of": "ada"])
      let bob = Self.service(server, key: "bob")
      #expect(try await bob.channels().isEmpty)
      #expect(try await service.channels().map(\.id) == ["bare", "mine"])
      let foreign = try bob.createManager().nodeThrows(for: "contacts")
      #expect(try await foreign.cancelThroughWebhook("hook") == 0)
      #expect(try await contacts.cancelThroughWebhook("hook") == 2)
      #expect(try await service.channels().isEmpty)
      let gone = await #expect(throws: DatasyncError.self) { try await service.cancel(made) }
      #expect(gone?.code == .refused)
    }
  }

  @Test func `a device is registered, subscribed, given another token and removed`() async throws {
    let receiver = try PushServed.receiver()
    try await Served.with(PushServed.configuration(receiver)) { server in
      let service = Self.service(server)
      let node = try service.createManager().nodeThrows(for: "n")
      try await service.registerDevice("phone", platform: .fcm, token: "first")
      var notification = DatasyncPushNotification(title: "News")
      notification.timeToLive = .seconds(90)
      notification.isUrgent = false
      let made = try await node.subscribeThroughPushNotification(
        "phone", context: 7, descriptor: .valueChange, notification: notification)
      #expect(made.target == .device("phone"))
      try await node.set(1).acknowledged()
      let message = try #require(await receiver.messages(1)[0].json["message"])
      #expect(message["token"] == "first")
      #expect(message["notification"] == ["title": "News"])
      #expect(message["android"] == ["priority": "NORMAL", "ttl": "90s"])
      #expect(receiver.messages[0].pushed["context"] == 7)
      try await service.changeToken(ofDevice: "phone", to: "second")
      try await node.set(2).acknowledged()
      #expect(await receiver.messages(2)[1].json["message"]?["token"] == "second")
      #expect(try await service.devices().map(\.id) == ["phone"])
      #expect(try await service.channels().first?.deadLetters == 0)
      try await service.removeDevice("phone")
      #expect(try await service.devices().isEmpty)
      #expect(try await node.cancelThroughPushNotification("phone") == 0)
    }
  }

  @Test func `the list says how each subscription stands`() async throws {
    let receiver = try PushServed.receiver { request in
      request.line.contains("/3/device/") ? .status(400, body: #"{"reason": "BadDeviceToken"}"#) : .status(200)
    }
    let configuration = try PushServed.configuration(receiver) { $0.limits.channels.attempts = 1_000_000 }
    try await Served.with(configuration) { server in
      let service = Self.service(server)
      let node = try service.createManager().nodeThrows(for: "n")
      try await service.registerDevice("phone", platform: .apns, token: "00ff")
      try await node.subscribeThroughPushNotification("phone", descriptor: .valueChange, id: "push")
      try await node.subscribeThroughWebhook("hook", descriptor: .valueChange, id: "hook")
      func wait(_ id: String, _ states: Set<DatasyncChannel.State>) async throws -> DatasyncChannel {
        while true {
          if let channel = try await service.channels().first(where: { $0.id == id }), states.contains(channel.state) {
            return channel
          }
        }
      }
      _ = try await wait("hook", [.active, .starting])
      try await node.set(1).acknowledged()
      let suspended = try await wait("push", [.suspended])
      #expect(suspended.reason == "APNs answered 400 BadDeviceToken")
      // The stand-in for push services refuses what a webhook gets.
      let retrying = try await wait("hook", [.retrying])
      #expect(retrying.reason == "the receiver answered 404")
      #expect(retrying.waitingEvents == 1)
      #expect(try await service.channels().allSatisfy { $0.state != .failed })
    }
  }

  @Test func `refusals are typed, and say what the server said`() async throws {
    let receiver = try Receiver()
    let configuration = try Served.configuration(receiver) { configuration in
      configuration.access = .keys(try Keys.access("ada"))
    }
    try await Served.with(configuration) { server in
      func code(
        _ service: DatasyncService, _ webhook: String, _ descriptor: DatasyncEventType
      ) async -> DatasyncError.Code? {
        guard let node = service.createManager() / "n" else { return nil }
        let error = await #expect(throws: DatasyncError.self) {
          try await node.subscribeThroughWebhook(webhook, descriptor: descriptor)
        }
        return error?.code
      }
      let ada = Self.service(server, key: "ada")
      #expect(await code(ada, "none", .valueChange) == .invalid)
      #expect(await code(ada, "hook", .valueChange) == .denied)
      #expect(await code(ada, "hook", .childAcknowledgement) == .invalid)
      #expect(await code(ada, "hook", .child(addition: true, rejection: true)) == .invalid)
      #expect(await code(Self.service(server, key: "wrong"), "hook", .valueChange) == .denied)
      let other = Self.service(server, key: "ada") { $0.namespace = "staging" }
      #expect(await code(other, "hook", .valueChange) == .invalid)
      let nowhere = MartletApplication(configuration: DatasyncConfiguration(url: "ws://127.0.0.1:1")).datasyncService
      #expect(await code(nowhere, "hook", .valueChange) == .unavailable)
      ada.shutDown()
      #expect(await code(ada, "hook", .valueChange) == .shutDown)
    }
  }

  @Test func `credentials that are refused are asked for once more`() async throws {
    let receiver = try Receiver()
    let configuration = try Served.configuration(receiver) { configuration in
      configuration.access = .keys(try Keys.access("ada"))
    }
    try await Served.with(configuration) { server in
      let asked = Collected()
      let service = Self.service(server) { configuration in
        configuration.connection.credentials = { reason in
          asked.add("\(reason)")
          return .bearer(reason.isRefusal ? "ada" : "old")
        }
      }
      let channels = try await service.channels()
      #expect(channels.isEmpty)
      #expect(asked.all == ["request", "refused(code: 401)"])
    }
  }
}
