import Foundation
import MartletJSON
import MartletRuntime
import MartletServer
import Testing

/// Push to devices, with local services that check requests as the real ones document them.
@Suite(.timeLimit(.minutes(1))) struct PushDeliveryTests {
  private static let phone = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"

  // MARK: FCM

  @Test func `FCM gets one access token for a signed assertion, and messages with the event`() async throws {
    let receiver = try PushServed.receiver()
    try await Served.with(PushServed.configuration(receiver)) { server in
      await PushServed.register(#"{"id": "phone", "platform": "fcm", "token": "fcm:token-1"}"#, server)
      let shown = #""push": {"title": "News", "body": "Look", "collapseKey": "news", "timeToLive": 60}"#
      try await Served.subscribe(#"{"id": "n", "device": "phone", "node": "/n", \#(shown)}"#, server)
      await Served.put("/n.json", "1", server)
      await Served.put("/n.json", "2", server)
      let requests = await receiver.requests(3)
      #expect(requests.map(\.isMessage) == [false, true, true])
      let form = String(decoding: requests[0].body, as: UTF8.self)
      let assertion = try #require(form.components(separatedBy: "assertion=").last)
      let (header, claims) = try PushKeys.verified(assertion, by: PushKeys.shared().rsaPublic, isRSA: true)
      #expect(header == ["alg": "RS256", "typ": "JWT", "kid": "k1"])
      #expect(claims["iss"] == "push@shop-1.example")
      #expect(claims["scope"] == "https://www.googleapis.com/auth/firebase.messaging")
      #expect(claims["aud"] == .string("http://127.0.0.1:\(receiver.port)/token"))
      #expect((claims["exp"]?.int ?? 0) - (claims["iat"]?.int ?? 0) == 3_600)
      for (request, value) in zip(requests.dropFirst(), [1, 2] as [JSONValue]) {
        let message = request.json["message"]
        #expect(message?["token"] == "fcm:token-1")
        #expect(message?["notification"] == ["title": "News", "body": "Look"])
        #expect(message?["android"] == ["priority": "HIGH", "ttl": "60s", "collapse_key": "news"])
        #expect(message?["apns"]?["headers"]?["apns-push-type"] == "alert")
        #expect(request.pushed["value"] == value)
        #expect(request.pushed["event"] == "valueChange")
      }
      let state = await Served.status("n", server) { $0["waiting"] == 0 }
      #expect(state["deadLetters"] == 0)
    }
  }

  @Test func `an access token that FCM no longer accepts is replaced, and the message sent again`() async throws {
    let hasRefused = Lock(false)
    let receiver = try PushServed.receiver { _ in
      let isFirst = hasRefused.withLock { refused in
        defer { refused = true }
        return !refused
      }
      return isFirst ? .status(401, body: #"{"error": {"status": "UNAUTHENTICATED"}}"#) : .status(200)
    }
    try await Served.with(PushServed.configuration(receiver)) { server in
      await PushServed.register(#"{"id": "phone", "platform": "fcm", "token": "t"}"#, server)
      try await Served.subscribe(#"{"id": "n", "device": "phone", "node": "/n"}"#, server)
      await Served.put("/n.json", "1", server)
      let requests = await receiver.requests(4)
      #expect(requests.map(\.isMessage) == [false, true, false, true])
      #expect(requests[1].pushed == requests[3].pushed)
    }
  }

  // MARK: Devices

  @Test func `a token that is no longer registered removes the device and its subscriptions, also for later starts`()
    async throws
  {
    let receiver = try PushServed.receiver { _ in
      .status(404, body: #"{"error": {"status": "NOT_FOUND", "details": [{"errorCode": "UNREGISTERED"}]}}"#)
    }
    let folder = try TemporaryFolder()
    let configuration = try PushServed.configuration(receiver, folder)
    try await Served.with(configuration) { server in
      await PushServed.register(#"{"id": "phone", "platform": "fcm", "token": "old"}"#, server)
      await PushServed.register(#"{"id": "other", "platform": "fcm", "token": "new"}"#, server)
      try await Served.subscribe(#"{"id": "n", "device": "phone", "node": "/n"}"#, server)
      await Served.put("/n.json", "1", server)
      _ = await Served.status("n", server) { $0["errors"] != nil }
      #expect(await PushServed.devices(server) == ["other"])
    }
    try await Served.with(configuration) { server in
      #expect(await Call.send("GET", "/channels", port: server.port).json == ["subscriptions": []])
      #expect(await PushServed.devices(server) == ["other"])
    }
  }

  @Test func `subscriptions follow the change of a device's token, also after a restart`() async throws {
    let receiver = try PushServed.receiver()
    let folder = try TemporaryFolder()
    let configuration = try PushServed.configuration(receiver, folder)
    try await Served.with(configuration) { server in
      await PushServed.register(#"{"id": "phone", "platform": "fcm", "token": "first"}"#, server)
      try await Served.subscribe(#"{"id": "n", "device": "phone", "node": "/n"}"#, server)
      await Served.put("/n.json", "1", server)
      #expect(await receiver.messages(1)[0].json["message"]?["token"] == "first")
      let changed = await Call.send("PUT", "/channels/devices/phone", #"{"token": "second"}"#, port: server.port)
      #expect(changed.status == 200)
      await PushServed.register(#"{"id": "phone", "platform": "fcm", "token": "third"}"#, server, status: 200)
      _ = await Served.status("n", server) { $0["waiting"] == 0 }
    }
    try await Served.with(configuration) { server in
      await Served.put("/n.json", "2", server)
      while receiver.messages.last?.json["message"]?["token"] != "third" { await Task.yield() }
      #expect(await Call.send("DELETE", "/channels/devices/phone", port: server.port).status == 200)
      #expect(await Call.send("GET", "/channels", port: server.port).json == ["subscriptions": []])
      #expect(await Call.send("GET", "/channels/devices/phone", port: server.port).status == 404)
    }
  }

  @Test
  func `a token that a service does not know suspends the subscription, and nothing is lost until it has another`()
    async throws
  {
    let receiver = try PushServed.receiver { request in
      request.line.contains("/3/device/bad") ? .status(400, body: #"{"reason": "BadDeviceToken"}"#) : .status(200)
    }
    try await Served.with(PushServed.configuration(receiver)) { server in
      await PushServed.register(#"{"id": "phone", "platform": "apns", "token": "bad0"}"#, server)
      try await Served.subscribe(#"{"id": "n", "device": "phone", "node": "/n"}"#, server)
      await Served.put("/n.json", "1", server)
      let state = await Served.status("n", server) { $0["state"] == "suspended" }
      #expect(state["reason"] == "APNs answered 400 BadDeviceToken")
      #expect(state["deadLetters"] == 0)
      await Served.put("/n.json", "2", server)
      await Served.put("/n.json", "3", server)
      #expect(receiver.messages.count == 1)
      // An operator may have it tried once more.
      #expect(await Call.send("POST", "/channels/n/retry", port: server.port).status == 200)
      _ = await receiver.messages(2)
      _ = await Served.status("n", server) { $0["state"] == "suspended" }
      _ = await Call.send("PUT", "/channels/devices/phone", #"{"token": "\#(Self.phone)"}"#, port: server.port)
      let messages = await receiver.messages(5)
      #expect(messages.suffix(3).map { $0.pushed["value"] } == [1, 2, 3])
      #expect(messages[4].line == "POST /3/device/\(Self.phone) HTTP/1.1")
      _ = await Served.status("n", server) { $0["state"] == "active" && $0["waiting"] == 0 }
    }
  }

  @Test(arguments: ["bob-phone", "ada-phone"])
  func `a token that another caller registers leaves the first one's device, so that its events go elsewhere`(
    id: String
  ) async throws {
    let receiver = try PushServed.receiver()
    let configuration = try PushServed.configuration(receiver) { configuration in
      configuration.access = .keys(try Keys.access("ops", "ada", "bob"))
    }
    try await Served.with(configuration) { server in
      func send(_ method: String, _ path: String, _ body: String?, _ key: String) async -> Int {
        await Call.send(method, path, body, port: server.port, key: key).status
      }
      let token = #""platform": "fcm", "token": "shared""#
      #expect(await send("POST", "/channels/devices", #"{"id": "ada-phone", \#(token)}"#, "ada") == 201)
      #expect(await send("POST", "/channels", #"{"device": "ada-phone", "node": "/n"}"#, "ada") == 201)
      #expect(await send("POST", "/channels/devices", #"{"id": "\#(id)", \#(token)}"#, "bob") == 201)
      #expect(await PushServed.devices(server, key: "ada") == [])
      let list = await Call.send("GET", "/channels", port: server.port, key: "ada")
      #expect(list.json == ["subscriptions": []])
      #expect(await PushServed.devices(server, key: "bob") == [id])
    }
  }

  @Test func `a caller's devices are its own, and as many as the limit allows`() async throws {
    let receiver = try PushServed.receiver()
    let configuration = try PushServed.configuration(receiver) { configuration in
      configuration.access = .keys(try Keys.access("ops", "ada", "bob"))
      configuration.channels?.administrators = ["ops"]
      configuration.limits.channels.devicesPerCaller = 2
      configuration.limits.channels.subscriptionsPerCaller = 2
    }
    try await Served.with(configuration) { server in
      func send(_ method: String, _ path: String, _ body: String?, _ key: String?) async -> Int {
        await Call.send(method, path, body, port: server.port, key: key).status
      }
      let device = #"{"id": "phone", "platform": "fcm", "token": "x"}"#
      #expect(await send("POST", "/channels/devices", device, nil) == 401)
      #expect(await send("POST", "/channels/devices", device, "ada") == 201)
      let mine = #"{"id": "phone", "platform": "fcm", "token": "mine"}"#
      #expect(await send("POST", "/channels/devices", mine, "bob") == 409)
      #expect(await send("PUT", "/channels/devices/phone", #"{"token": "mine"}"#, "bob") == 404)
      #expect(await send("GET", "/channels/devices/phone", nil, "bob") == 404)
      #expect(await send("DELETE", "/channels/devices/phone", nil, "bob") == 404)
      #expect(await send("POST", "/channels", #"{"device": "phone", "node": "/n"}"#, "bob") == 400)
      for _ in 0..<2 { #expect(await send("POST", "/channels", #"{"device": "phone", "node": "/n"}"#, "ada") == 201) }
      #expect(await send("POST", "/channels", #"{"device": "phone", "node": "/n"}"#, "ada") == 429)
      for (number, status) in [(1, 201), (2, 429)] {
        let more = #"{"id": "p\#(number)", "platform": "fcm", "token": "y\#(number)"}"#
        #expect(await send("POST", "/channels/devices", more, "ada") == status)
      }
      #expect(await send("DELETE", "/channels/devices/phone", nil, "ops") == 200)
    }
  }

  @Test(arguments: [
    (#"{"platform": "fcm"}"#, 400), (#"{"platform": "apns", "token": "not hexadecimal"}"#, 400),
    (#"{"platform": "fcm", "token": "x", "owner": null}"#, 400),
    (#"{"platform": "fcm", "token": "x", "time": 1}"#, 400),
    (#"{"id": "phone", "platform": "apns", "token": "ff"}"#, 409), ("[]", 400),
  ])
  func `a device that cannot be registered is refused`(text: String, status: Int) async throws {
    let receiver = try PushServed.receiver()
    try await Served.with(PushServed.configuration(receiver)) { server in
      await PushServed.register(#"{"id": "phone", "platform": "fcm", "token": "x"}"#, server)
      #expect(await Call.send("POST", "/channels/devices", text, port: server.port).status == status)
      for subscription in [
        #"{"device": "other", "node": "/n"}"#, #"{"webhook": "hook", "node": "/n", "push": {}}"#,
        #"{"device": "phone", "node": "/n", "push": {"priority": "urgent"}}"#,
        #"{"id": "devices", "device": "phone", "node": "/n"}"#,
      ] {
        #expect(await Call.send("POST", "/channels", subscription, port: server.port).status == 400)
      }
      #expect(await PushServed.devices(server) == ["phone"])
    }
  }

  // MARK: APNs

  @Test func `APNs gets a signed provider token, and the same id in each attempt`() async throws {
    let receiver = try Receiver()
    let answers = Lock(0)
    receiver.answer { request in
      if let refusal = PushRules.refusal(byAPNs: request, topic: PushServed.topic) { return refusal }
      let number = answers.withLock { count in
        count += 1
        return count
      }
      // The first provider token is refused, then the service is overloaded.
      if number == 1 { return .status(403, body: #"{"reason": "ExpiredProviderToken"}"#) }
      return number == 2 ? .status(429, body: #"{"reason": "TooManyRequests"}"#) : .status(200)
    }
    try await Served.with(PushServed.configuration(receiver)) { server in
      await PushServed.register(#"{"id": "phone", "platform": "apns", "token": "\#(Self.phone)"}"#, server)
      try await Served.subscribe(#"{"id": "n", "device": "phone", "node": "/n", "push": {"timeToLive": 0}}"#, server)
      await Served.put("/n.json", "1", server)
      await Served.put("/n.json", "2", server)
      let requests = await receiver.requests(4)
      #expect(requests.map { $0.json["martlet"]?["value"] } == [1, 1, 1, 2])
      for request in requests {
        #expect(request.line == "POST /3/device/\(Self.phone) HTTP/1.1")
        #expect(request.fields["apns-push-type"] == "background")
        #expect(request.fields["apns-priority"] == "5")
        #expect(request.fields["apns-expiration"] == "0")
        #expect(request.json["aps"] == ["content-available": 1])
      }
      let ids = requests.map { $0.fields["apns-id"] ?? "" }
      #expect(Set(ids.prefix(3)).count == 1)
      #expect(ids[3] != ids[0])
      // Another token after the first one was refused, and the same for all that follow.
      let tokens = requests.map { $0.fields["authorization"] ?? "" }
      #expect(tokens[1] != tokens[0])
      #expect(Set(tokens.dropFirst()).count == 1)
      for token in tokens.prefix(2) {
        let text = String(token.dropFirst("bearer ".count))
        let (header, claims) = try PushKeys.verified(text, by: PushKeys.shared().ecPublic, isRSA: false)
        #expect(header == ["alg": "ES256", "kid": "ABC123DEFG"])
        #expect(claims["iss"] == "DEF123GHIJ")
      }
    }
  }

  @Test(.enabled(if: HTTP2Proxy.nginx != nil, "nginx is not installed"))
  func `APNs is spoken to by HTTP/2 over TLS, and its reasons decide about device and event`() async throws {
    let time = Lock<Int64>(1)
    let receiver = try PushServed.receiver { request in
      switch request.json["martlet"]?["value"]?.int {
      case 2?: .status(400, body: #"{"reason": "BadTopic"}"#)
      // Known before the device registered its token: the application was installed again.
      case 3? where time.withLock { $0 } == 1: .status(410, body: #"{"reason": "Unregistered", "timestamp": 1}"#)
      case 4?: .status(410, body: #"{"reason": "Unregistered", "timestamp": 9999999999999}"#)
      default: .status(200)
      }
    }
    let proxy = try HTTP2Proxy(to: receiver.port)
    defer { proxy.stop() }
    let configuration = try PushServed.configuration(receiver) { configuration in
      configuration.channels?.apns?.endpoint = "https://localhost:\(proxy.port)"
      configuration.channels?.authorityFile = proxy.certificate
    }
    try await Served.with(configuration) { server in
      await PushServed.register(#"{"id": "phone", "platform": "apns", "token": "\#(Self.phone)"}"#, server)
      let shown = #""push": {"title": "t", "sound": "default", "collapseKey": "k"}"#
      try await Served.subscribe(#"{"id": "n", "device": "phone", "node": "/n", \#(shown)}"#, server)
      await Served.put("/n.json", "1", server)
      let request = await receiver.messages(1)[0]
      #expect(request.fields["x-protocol"] == "HTTP/2.0")
      #expect(request.fields["apns-push-type"] == "alert")
      #expect(request.fields["apns-priority"] == "10")
      #expect(request.fields["apns-collapse-id"] == "k")
      #expect(request.json["aps"] == ["alert": ["title": "t"], "sound": "default", "mutable-content": 1])
      await Served.put("/n.json", "2", server)
      let dead = await Served.status("n", server) { $0["deadLetters"] == 1 }
      #expect(dead["dead"]?[0]?["reason"] == "APNs answered 400 BadTopic")
      await Served.put("/n.json", "3", server)
      _ = await receiver.messages(4)
      #expect(await PushServed.devices(server) == ["phone"])
      time.withLock { $0 = 2 }
      _ = await Served.status("n", server) { $0["waiting"] == 0 }
      await Served.put("/n.json", "4", server)
      _ = await Served.status("n", server) { $0["errors"] != nil }
      #expect(await PushServed.devices(server) == [])
    }
  }

  // MARK: Configuration

  @Test(arguments: [
    "", "{}", #"{"project_id": "p", "client_email": "e", "private_key": "no", "token_uri": "https://x.example/"}"#,
  ])
  func `a service account that cannot be used is refused`(text: String) throws {
    let error = #expect(throws: ServerError.self) {
      let configuration = try PushServed.configuration(try Receiver()) {
        $0.channels?.fcm = FCMService(serviceAccount: text)
      }
      _ = try GraphQLServer(configuration)
    }
    #expect(error?.code == .channels)
  }

  @Test func `credentials go to push services by TLS only, and keys of another kind are refused`() throws {
    let keys = try PushKeys.shared()
    for adjust in [
      { $0.channels?.apns?.endpoint = "http://push.example" }, { $0.channels?.fcm?.endpoint = "http://push.example" },
      { $0.channels?.apns?.key = keys.rsa }, { $0.channels?.apns?.topic = "" },
    ] as [(inout ServerConfiguration) -> Void] {
      let error = #expect(throws: ServerError.self) {
        _ = try GraphQLServer(try PushServed.configuration(try Receiver(), nil, adjust))
      }
      #expect(error?.code == .channels)
    }
  }
}
