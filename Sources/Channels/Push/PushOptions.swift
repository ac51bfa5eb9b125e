package import MartletJSON

/// How push services treat the messages of one subscription, and what the device's system shows of them.
package struct PushOptions: Sendable, Equatable {
  /// What is shown; nil for messages that only the application sees.
  package var title: String?
  package var body: String?
  package var sound: String?
  /// Whether the service delivers at once, waking the device; nil for at once where something is shown.
  package var isUrgent: Bool?
  /// Seconds for which the service keeps a message for a device that it does not reach; 0 drops it then.
  package var timeToLive: Int64 = 86_400
  /// Messages with the same key replace each other while the device is not reached.
  package var collapseKey: String?

  /// Silent messages that are kept for a day.
  package init() {}

  /// Four weeks, the most that FCM accepts.
  private static let longestTimeToLive: Int64 = 2_419_200
  /// Bytes of a key that APNs accepts.
  private static let longestKey = 64
  private static let members = ["title", "body", "sound", "priority", "timeToLive", "collapseKey"]

  /// Whether the device's system shows something.
  package var showsSomething: Bool { title != nil || body != nil }

  /// Whether the service delivers at once.
  package var deliversAtOnce: Bool { isUrgent ?? showsSomething }

  /// Reads the member `push` of a subscription.
  package init(_ json: JSONValue) throws(ChannelError) {
    guard let object = json.object else { throw ChannelError(.definition, "\"push\" is not an object") }
    if let other = object.keys.first(where: { key in !Self.members.contains { $0.hasSameBytes(as: key) } }) {
      throw ChannelError(.definition, "\"push\" has no member \"\(other)\"")
    }
    title = try Self.text(object, "title")
    body = try Self.text(object, "body")
    sound = try Self.text(object, "sound")
    collapseKey = try Self.text(object, "collapseKey")
    if let collapseKey {
      guard (1...Self.longestKey).contains(collapseKey.utf8.count),
        collapseKey.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
      else {
        throw ChannelError(
          .definition, "\"collapseKey\" of \"push\" needs 1 to \(Self.longestKey) visible ASCII characters")
      }
    }
    if let priority = object["priority"] {
      switch priority.string {
      case "high": isUrgent = true
      case "normal": isUrgent = false
      default: throw ChannelError(.definition, "\"priority\" of \"push\" is \"high\" or \"normal\"")
      }
    }
    if let value = object["timeToLive"] {
      guard let seconds = value.int, (0...Self.longestTimeToLive).contains(seconds) else {
        throw ChannelError(
          .definition, "\"timeToLive\" of \"push\" needs whole seconds from 0 to \(Self.longestTimeToLive)")
      }
      timeToLive = seconds
    }
  }

  private static func text(_ object: JSONObject, _ name: String) throws(ChannelError) -> String? {
    guard let value = object[name] else { return nil }
    guard let text = value.string else { throw ChannelError(.definition, "\"\(name)\" of \"push\" is not a text") }
    return text
  }

  /// The options as `init` reads them.
  var json: JSONValue {
    var json: JSONObject = ["timeToLive": .int(timeToLive)]
    for (name, text) in [("title", title), ("body", body), ("sound", sound), ("collapseKey", collapseKey)] {
      if let text { json[name] = .string(text) }
    }
    if let isUrgent { json["priority"] = .string(isUrgent ? "high" : "normal") }
    return .object(json)
  }
}
