internal import MartletJSON

/// What a device shows of an event, and how its push service treats the messages of a subscription.
public struct DatasyncPushNotification: Sendable, Hashable {
  /// What is shown. Without title and body messages are silent, for the application alone.
  public var title: String?
  /// What is shown below the title.
  public var body: String?
  /// The sound that is played.
  public var sound: String?
  /// Whether the service delivers at once, waking the device; nil for at once where something is shown.
  public var isUrgent: Bool?
  /// How long the service keeps a message for a device that it does not reach; nil for the server's default, a day.
  public var timeToLive: Duration?
  /// Messages with the same key replace each other while the device is not reached: 1 to 64 visible ASCII characters.
  public var collapseKey: String?

  /// Silent messages without a title, or messages that show something.
  public init(title: String? = nil, body: String? = nil) {
    self.title = title
    self.body = body
  }

  var json: JSONObject {
    var json = JSONObject()
    for (name, text) in [("title", title), ("body", body), ("sound", sound), ("collapseKey", collapseKey)] {
      if let text { json[name] = .string(text) }
    }
    if let isUrgent { json["priority"] = .string(isUrgent ? "high" : "normal") }
    if let timeToLive { json["timeToLive"] = .int(timeToLive.components.seconds) }
    return json
  }
}
