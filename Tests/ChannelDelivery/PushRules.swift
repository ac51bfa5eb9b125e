import Foundation
import MartletJSON

/// What the push services refuse, by their documentation; a stand-in for them answers with it.
enum PushRules {
  /// Why FCM would refuse a message; nil for one that it accepts.
  static func refusal(byFCM request: Receiver.Request, project: String, token: String) -> Receiver.Answer? {
    func error(_ status: Int, _ name: String, _ field: String) -> Receiver.Answer {
      let json: JSONValue = [
        "error": [
          "code": .int(Int64(status)), "status": .string(name), "message": .string("Invalid value at '\(field)'"),
          "details": [
            [
              "@type": "type.googleapis.com/google.rpc.BadRequest",
              "fieldViolations": [["field": .string(field), "description": "unexpected"]],
            ]
          ],
        ]
      ]
      return .status(status, body: json.description)
    }
    guard request.line == "POST /v1/projects/\(project)/messages:send HTTP/1.1" else {
      return error(404, "NOT_FOUND", "path")
    }
    guard request.fields["authorization"] == "Bearer \(token)" else { return error(401, "UNAUTHENTICATED", "token") }
    guard request.fields["content-type"]?.hasPrefix("application/json") == true,
      let body = request.json.object, Array(body.keys) == ["message"], let message = body["message"]?.object
    else { return error(400, "INVALID_ARGUMENT", "message") }
    let known = ["token", "data", "notification", "android", "apns"]
    if let other = message.keys.first(where: { !known.contains($0) }) {
      return error(400, "INVALID_ARGUMENT", "message.\(other)")
    }
    var bytes = 0
    for (key, value) in message["data"]?.object ?? JSONObject() {
      guard let text = value.string, key != "from", !key.hasPrefix("google"), !key.hasPrefix("gcm") else {
        return error(400, "INVALID_ARGUMENT", "message.data[0].value")
      }
      bytes += key.utf8.count + text.utf8.count
    }
    for (_, value) in message["notification"]?.object ?? JSONObject() { bytes += value.string?.utf8.count ?? 0 }
    guard bytes <= 4_096 else { return error(400, "INVALID_ARGUMENT", "message") }
    let ttl = message["android"]?["ttl"]?.string ?? "0s"
    guard ttl.hasSuffix("s"), let seconds = Int(ttl.dropLast()), (0...2_419_200).contains(seconds),
      ["HIGH", "NORMAL"].contains(message["android"]?["priority"]?.string ?? "NORMAL")
    else { return error(400, "INVALID_ARGUMENT", "message.android") }
    return nil
  }

  /// Why APNs would refuse a request, as status and reason; nil for one that it accepts.
  static func refusal(byAPNs request: Receiver.Request, topic: String) -> Receiver.Answer? {
    func error(_ status: Int, _ reason: String) -> Receiver.Answer {
      .status(status, body: #"{"reason": "\#(reason)"}"#)
    }
    let words = request.line.split(separator: " ").map(String.init)
    guard words[0] == "POST" else { return error(405, "MethodNotAllowed") }
    guard words[1].hasPrefix("/3/device/") else { return error(404, "BadPath") }
    let token = words[1].dropFirst("/3/device/".count)
    guard !token.isEmpty, token.allSatisfy(\.isHexDigit) else { return error(400, "BadDeviceToken") }
    guard request.fields["authorization"]?.hasPrefix("bearer ") == true else {
      return error(403, "MissingProviderToken")
    }
    guard let given = request.fields["apns-topic"] else { return error(400, "MissingTopic") }
    guard given == topic else { return error(400, "BadTopic") }
    guard UUID(uuidString: request.fields["apns-id"] ?? "") != nil else { return error(400, "BadMessageId") }
    guard Int(request.fields["apns-expiration"] ?? "") != nil else { return error(400, "BadExpirationDate") }
    guard (request.fields["apns-collapse-id"] ?? "").utf8.count <= 64 else { return error(400, "BadCollapseId") }
    let kind = request.fields["apns-push-type"] ?? ""
    guard ["alert", "background"].contains(kind) else { return error(400, "InvalidPushType") }
    let priorities = kind == "background" ? ["5"] : ["5", "10"]
    guard priorities.contains(request.fields["apns-priority"] ?? "") else { return error(400, "BadPriority") }
    guard !request.body.isEmpty else { return error(400, "PayloadEmpty") }
    guard request.body.count <= 4_096 else { return error(413, "PayloadTooLarge") }
    guard let aps = request.json["aps"]?.object else { return error(400, "PayloadEmpty") }
    guard (kind == "alert") == (aps["alert"] != nil) else { return error(400, "InvalidPushType") }
    return nil
  }
}
