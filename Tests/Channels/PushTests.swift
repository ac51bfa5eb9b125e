import MartletChannels
import MartletJSON
import Testing

/// Payloads for the push services, and what their answers mean.
@Suite struct PushTests {
  private static func event(_ value: JSONValue, context: JSONValue = "mine") -> ChannelEvent {
    let body: JSONValue = ["id": "c-1-2-0", "event": "valueChange", "context": context, "value": value]
    return ChannelEvent(id: "c-1-2-0", number: 0, body: body.serialized())
  }

  private static func options(_ json: JSONValue) throws -> PushOptions { try PushOptions(json) }

  // MARK: Messages

  @Test func `a message of FCM has the token, the event as a datum, and how each platform treats it`() throws {
    let shown = try Self.options([
      "title": "Kitchen", "body": "The lamp is on.", "collapseKey": "lamp", "sound": "ding",
    ])
    let json = try JSONValue(parsing: PushMessage.fcm(Self.event(1), to: "token", shown, at: 1_000))
    let message = try #require(json["message"])
    #expect(message["token"] == "token")
    #expect(message["notification"] == ["title": "Kitchen", "body": "The lamp is on."])
    #expect(
      message["android"]
        == ["priority": "HIGH", "ttl": "86400s", "collapse_key": "lamp", "notification": ["sound": "ding"]])
    #expect(
      message["apns"]?["headers"]
        == [
          "apns-push-type": "alert", "apns-priority": "10", "apns-expiration": "87400", "apns-collapse-id": "lamp",
        ])
    #expect(message["apns"]?["payload"] == ["aps": ["mutable-content": 1, "sound": "ding"]])
    let text = try #require(message["data"]?["martlet"]?.string)
    #expect(try JSONValue(parsing: text)["value"] == 1)
    let silent = try JSONValue(parsing: PushMessage.fcm(Self.event(1), to: "token", PushOptions(), at: 0))
    #expect(silent["message"]?["notification"] == nil)
    #expect(silent["message"]?["android"] == ["priority": "NORMAL", "ttl": "86400s"])
    #expect(silent["message"]?["apns"]?["payload"] == ["aps": ["content-available": 1]])
  }

  @Test func `a message of APNs wakes the application, or shows something`() throws {
    let silent = try JSONValue(parsing: PushMessage.apns(Self.event(1), PushOptions()))
    #expect(silent["aps"] == ["content-available": 1])
    #expect(silent["martlet"]?["value"] == 1)
    let alert = try JSONValue(parsing: PushMessage.apns(Self.event(1), Self.options(["title": "t", "body": "b"])))
    #expect(alert["aps"]?["alert"] == ["title": "t", "body": "b"])
  }

  @Test func `the fields of a request to APNs say what, until when, and which`() throws {
    func fields(_ options: PushOptions) -> [String: String] {
      let digest = (0..<32).map { UInt8($0 * 8 & 0xFF) }
      let list = PushMessage.fields(options, topic: "example.shop", digest: digest, at: 1_000)
      return Dictionary(uniqueKeysWithValues: list.map { ($0.name, $0.value) })
    }
    #expect(
      fields(PushOptions()) == [
        "apns-topic": "example.shop", "apns-id": "00081018-2028-8038-8048-505860687078",
        "content-type": "application/json", "apns-push-type": "background", "apns-priority": "5",
        "apns-expiration": "87400",
      ])
    // What shows nothing is never urgent for APNs.
    #expect(fields(try Self.options(["priority": "high"]))["apns-priority"] == "5")
    let shown = fields(try Self.options(["title": "t", "collapseKey": "k", "timeToLive": 0, "priority": "normal"]))
    #expect(shown["apns-push-type"] == "alert")
    #expect(shown["apns-priority"] == "5")
    #expect(shown["apns-expiration"] == "0")
    #expect(shown["apns-collapse-id"] == "k")
  }

  @Test func `what is too large leaves its value, then its context, and says so`() throws {
    let long = JSONValue.string(String(repeating: "x", count: 5_000))
    for bytes in [
      try PushMessage.apns(Self.event(long), PushOptions()),
      try PushMessage.fcm(Self.event(long), to: "t", PushOptions(), at: 0),
    ] {
      #expect(bytes.count < 5_000)
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(text.contains("truncated"))
      #expect(text.contains("mine"))
    }
    let context = try JSONValue(parsing: PushMessage.apns(Self.event(1, context: long), PushOptions()))
    #expect(context["martlet"]?["truncated"] == true)
    #expect(context["martlet"]?["context"] == nil)
    #expect(context["martlet"]?["id"] == "c-1-2-0")
    let shown = try Self.options(["title": "t", "body": long])
    #expect(throws: ChannelError.self) { try PushMessage.apns(Self.event(1), shown) }
    // Exactly the limit fits.
    let empty = try PushMessage.apns(Self.event(""), PushOptions())
    let room = PushMessage.longest - empty.count
    let full = try PushMessage.apns(Self.event(.string(String(repeating: "x", count: room))), PushOptions())
    #expect(full.count == PushMessage.longest)
    #expect(!String(decoding: full, as: UTF8.self).contains("truncated"))
  }

  @Test(arguments: [
    "[]", #"{"titel": "t"}"#, #"{"title": 1}"#, #"{"priority": "urgent"}"#, #"{"timeToLive": -1}"#,
    #"{"timeToLive": 2419201}"#, #"{"collapseKey": ""}"#, #"{"collapseKey": "a b"}"#,
    #"{"collapseKey": "12345678901234567890123456789012345678901234567890123456789012345"}"#,
  ])
  func `options that no service knows are refused`(text: String) throws {
    let json = try JSONValue(parsing: text)
    #expect(throws: ChannelError.self) { try PushOptions(json) }
  }

  @Test func `a definition keeps its options, for devices alone`() throws {
    let json: JSONValue = ["id": "c", "device": "phone", "node": "/n", "push": ["title": "t", "timeToLive": 5]]
    let made = try ChannelDefinition(json, freshID: "", at: 0)
    #expect(made.push.title == "t")
    #expect(try ChannelDefinition(made.json, freshID: "", at: 9) == made)
    let webhook: JSONValue = ["id": "c", "webhook": "hook", "node": "/n", "push": [:]]
    #expect(throws: ChannelError.self) { try ChannelDefinition(webhook, freshID: "", at: 0) }
  }

  // MARK: Answers

  private static func fcm(_ status: Int, _ json: JSONValue, retryAfter: String? = "7") -> PushAnswer {
    PushAnswer.fcm(status, json.serialized(), retryAfter: retryAfter, at: 0)
  }

  private static func error(_ code: String, _ status: String, _ message: String = "", field: String? = nil) -> JSONValue
  {
    var details: [JSONValue] = [
      ["@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": .string(code)]
    ]
    if let field {
      details.append([
        "@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [["field": .string(field)]],
      ])
    }
    return ["error": ["status": .string(status), "message": .string(message), "details": .array(details)]]
  }

  @Test func `answers of FCM are deliveries, failures, refusals or lost devices`() {
    #expect(Self.fcm(200, ["name": "projects/p/messages/1"]) == .settled(.delivered))
    #expect(
      Self.fcm(404, Self.error("UNREGISTERED", "NOT_FOUND")) == .gone("FCM answered 404 UNREGISTERED", since: nil))
    #expect(
      Self.fcm(403, Self.error("SENDER_ID_MISMATCH", "PERMISSION_DENIED"))
        == .unknownToken("FCM answered 403 SENDER_ID_MISMATCH"))
    let invalid = "FCM answered 400 INVALID_ARGUMENT"
    #expect(Self.fcm(400, Self.error("INVALID_ARGUMENT", "INVALID_ARGUMENT")) == .settled(.refused(invalid)))
    #expect(
      Self.fcm(400, Self.error("INVALID_ARGUMENT", "INVALID_ARGUMENT", field: "message.token"))
        == .unknownToken(invalid))
    let words = "The registration token is not a valid FCM registration token"
    #expect(Self.fcm(400, Self.error("INVALID_ARGUMENT", "INVALID_ARGUMENT", words)) == .unknownToken(invalid))
    #expect(
      Self.fcm(400, Self.error("INVALID_ARGUMENT", "INVALID_ARGUMENT", field: "message.data[0].value"))
        == .settled(.refused(invalid)))
    let quota = Self.error("QUOTA_EXCEEDED", "RESOURCE_EXHAUSTED")
    #expect(Self.fcm(429, quota) == .settled(.failed("FCM answered 429 QUOTA_EXCEEDED", retryAfter: 7_000)))
    // A minute where the service names no time, as its documentation asks for.
    #expect(
      Self.fcm(429, quota, retryAfter: nil)
        == .settled(.failed("FCM answered 429 QUOTA_EXCEEDED", retryAfter: 60_000)))
    #expect(
      Self.fcm(503, Self.error("UNAVAILABLE", "UNAVAILABLE"))
        == .settled(.failed("FCM answered 503 UNAVAILABLE", retryAfter: 7_000)))
    #expect(
      Self.fcm(401, ["error": ["status": "UNAUTHENTICATED"]]) == .unauthorized("FCM answered 401 UNAUTHENTICATED"))
    // A missing project is a mistake of the server's operator, after which the device is still there.
    #expect(
      Self.fcm(404, ["error": ["status": "NOT_FOUND"]])
        == .settled(.failed("FCM answered 404 NOT_FOUND", retryAfter: 7_000)))
    #expect(
      PushAnswer.fcm(502, Array("<html>".utf8), retryAfter: nil, at: 0)
        == .settled(.failed("FCM answered 502", retryAfter: nil)))
  }

  @Test func `answers of APNs are deliveries, failures, refusals or lost devices`() {
    func apns(_ status: Int, _ reason: String, _ more: JSONObject = [:]) -> PushAnswer {
      var json = more
      json["reason"] = .string(reason)
      return PushAnswer.apns(status, JSONValue.object(json).serialized(), retryAfter: nil, at: 0)
    }
    #expect(PushAnswer.apns(200, [], retryAfter: nil, at: 0) == .settled(.delivered))
    #expect(
      apns(410, "Unregistered", ["timestamp": 1_700_000]) == .gone("APNs answered 410 Unregistered", since: 1_700_000))
    #expect(apns(410, "ExpiredToken") == .gone("APNs answered 410 ExpiredToken", since: nil))
    #expect(apns(400, "BadDeviceToken") == .unknownToken("APNs answered 400 BadDeviceToken"))
    #expect(apns(400, "DeviceTokenNotForTopic") == .unknownToken("APNs answered 400 DeviceTokenNotForTopic"))
    #expect(apns(400, "BadTopic") == .settled(.refused("APNs answered 400 BadTopic")))
    #expect(apns(413, "PayloadTooLarge") == .settled(.refused("APNs answered 413 PayloadTooLarge")))
    #expect(apns(403, "ExpiredProviderToken") == .unauthorized("APNs answered 403 ExpiredProviderToken"))
    #expect(apns(403, "InvalidProviderToken") == .unauthorized("APNs answered 403 InvalidProviderToken"))
    #expect(
      apns(429, "TooManyRequests") == .settled(.failed("APNs answered 429 TooManyRequests", retryAfter: nil)))
    // Another token would only be one more update.
    #expect(
      apns(429, "TooManyProviderTokenUpdates")
        == .settled(.failed("APNs answered 429 TooManyProviderTokenUpdates", retryAfter: nil)))
    #expect(
      apns(500, "<script>") == .settled(.failed("APNs answered 500 with an unknown reason", retryAfter: nil)))
    #expect(
      PushAnswer.apns(503, [], retryAfter: "3", at: 0) == .settled(.failed("APNs answered 503", retryAfter: 3_000)))
  }

  // MARK: Devices

  @Test(arguments: [
    "[]", "{}", #"{"platform": "hms", "token": "x"}"#, #"{"platform": "fcm"}"#, #"{"platform": "fcm", "token": ""}"#,
    #"{"platform": "fcm", "token": "a b"}"#, #"{"platform": "apns", "token": "../x"}"#,
    #"{"platform": "apns", "token": "00ff", "id": "a/b"}"#, #"{"platform": "apns", "token": "00ff", "more": 1}"#,
    #"{"platform": "fcm", "token": "x", "owner": null}"#, #"{"platform": "fcm", "token": "x", "time": 1}"#,
  ])
  func `a device that cannot be reached is refused`(text: String) throws {
    let json = try JSONValue(parsing: text)
    #expect(throws: ChannelError.self) { try Device(json, freshID: "d", owner: .null, at: 0) }
  }

  @Test func `a device is read as it was kept`() throws {
    let device = try Device(
      ["platform": "apns", "token": "00ff"], freshID: "d", owner: ["subject": "ada"], at: 1_700)
    #expect(device.id == "d")
    #expect(try Device(kept: device.json) == device)
  }
}
