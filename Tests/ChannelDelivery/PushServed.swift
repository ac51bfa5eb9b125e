import Foundation
import MartletJSON
import MartletServer
import Testing

/// A server with both push services, for which one receiver stands in.
enum PushServed {
  static let project = "shop-1"
  static let topic = "example.shop"
  static let accessToken = "ya29.token"

  static func account(_ keys: PushKeys, _ receiver: Receiver) -> String {
    let json: JSONValue = [
      "project_id": .string(project), "client_email": "push@shop-1.example", "private_key_id": "k1",
      "private_key": .string(keys.rsa), "token_uri": .string("http://127.0.0.1:\(receiver.port)/token"),
    ]
    return json.description
  }

  static func configuration(
    _ receiver: Receiver, _ folder: TemporaryFolder? = nil,
    _ adjust: (inout ServerConfiguration) throws -> Void = { _ in }
  ) throws -> ServerConfiguration {
    let keys = try PushKeys.shared()
    return try Served.configuration(receiver, folder) { configuration in
      var fcm = FCMService(serviceAccount: account(keys, receiver))
      fcm.endpoint = "http://127.0.0.1:\(receiver.port)"
      configuration.channels?.fcm = fcm
      var apns = APNsService(key: keys.ec, keyID: "ABC123DEFG", teamID: "DEF123GHIJ", topic: topic)
      apns.endpoint = "http://127.0.0.1:\(receiver.port)"
      configuration.channels?.apns = apns
      try adjust(&configuration)
    }
  }

  /// Google's tokens, and both services; `answer` is asked about messages that their rules accept.
  static func receiver(
    _ answer: @escaping @Sendable (Receiver.Request) -> Receiver.Answer = { _ in .status(200, body: "{}") }
  ) throws -> Receiver {
    try Receiver { request in
      if request.line.hasPrefix("POST /token ") {
        let form = String(decoding: request.body, as: UTF8.self)
        guard request.fields["content-type"] == "application/x-www-form-urlencoded",
          form.hasPrefix("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=")
        else { return .status(400, body: #"{"error": "invalid_grant"}"#) }
        return .status(
          200, body: #"{"access_token": "\#(accessToken)", "expires_in": 3599, "token_type": "Bearer"}"#)
      }
      if request.line.hasPrefix("POST /v1/") {
        return PushRules.refusal(byFCM: request, project: project, token: accessToken) ?? answer(request)
      }
      return PushRules.refusal(byAPNs: request, topic: topic) ?? answer(request)
    }
  }

  static func register(_ text: String, _ server: GraphQLServer, status: Int = 201) async {
    let answer = await Call.send("POST", "/channels/devices", text, port: server.port)
    #expect(answer.status == status, "\(answer)")
    #expect(answer.json["token"] == nil)
  }

  static func devices(_ server: GraphQLServer, key: String? = nil) async -> [String] {
    let list = await Call.send("GET", "/channels/devices", port: server.port, key: key).json["devices"]?.array ?? []
    return list.compactMap { $0["id"]?.string }
  }
}

extension Receiver.Request {
  /// The event inside a message of FCM or APNs.
  var pushed: JSONValue {
    if let event = json["martlet"] { return event }
    let text = json["message"]?["data"]?["martlet"]?.string ?? ""
    return (try? JSONValue(parsing: text)) ?? .null
  }

  var isMessage: Bool { !line.hasPrefix("POST /token ") }
}

extension Receiver {
  /// The messages so far.
  var messages: [Request] { requests.filter(\.isMessage) }

  /// The first `count` messages, once there are so many.
  func messages(_ count: Int) async -> [Request] {
    while messages.count < count { await Task.yield() }
    return Array(messages.prefix(count))
  }
}
