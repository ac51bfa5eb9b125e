internal import MartletChannels
internal import MartletJSON

/// How a channel stands, as operators see it. It holds no secret of the target.
struct ChannelStatus {
  var definition: ChannelDefinition
  var isConfigured: Bool
  /// Whether its source is still being read.
  var isStarting: Bool
  var position: Int64
  var waiting: Int
  var attempts: Int
  var retryTime: Int64?
  var deadLetters: [UndeliveredEvent]
  var failure: String?
  var suspension: String?
  var reason: String?

  /// - Parameter bodies: Whether dead letters are listed with their bodies.
  func json(bodies: Bool) -> JSONValue {
    var json = definition.json.object ?? JSONObject()
    (json["owner"], json["maker"]) = (nil, nil)
    json["state"] = .string(state)
    json["position"] = .int(position)
    json["waiting"] = .int(Int64(waiting))
    json["deadLetters"] = .int(Int64(deadLetters.count))
    if isConfigured { json["configured"] = true }
    if attempts > 0 { json["attempts"] = .int(Int64(attempts)) }
    if let retryTime { json["nextAttempt"] = .int(retryTime) }
    if let reason = failure ?? suspension ?? reason { json["reason"] = .string(reason) }
    if bodies {
      json["dead"] = .array(
        deadLetters.map { letter in
          [
            "id": .string(letter.event.id), "reason": .string(letter.reason), "attempts": .int(Int64(letter.attempts)),
            "time": .int(letter.time), "body": (try? JSONValue(parsing: letter.event.body)) ?? .null,
          ]
        })
    }
    return .object(json)
  }

  private var state: String {
    if failure != nil { return "failed" }
    if suspension != nil { return "suspended" }
    if isStarting { return "starting" }
    return retryTime == nil ? "active" : "retrying"
  }
}
