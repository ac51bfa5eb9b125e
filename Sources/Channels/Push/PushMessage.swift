internal import MartletJSON

/// The payloads of push services, with an event inside. Both services accept 4,096 bytes.
///
/// An event that does not fit is sent without its value, then without its context, and has `truncated`.
package enum PushMessage {
  /// Bytes of a payload that the services accept.
  package static let longest = 4_096

  // MARK: FCM

  /// The body of a request to FCM's HTTP v1 interface. The event is the text of the datum `martlet`.
  ///
  /// - Parameter seconds: Now, since 1970.
  package static func fcm(
    _ event: ChannelEvent, to token: String, _ options: PushOptions, at seconds: Int64
  ) throws(ChannelError) -> [UInt8] {
    try fitting(event) { event in
      let text = event.description
      var message: JSONObject = [
        "token": .string(token), "data": ["martlet": .string(text)], "android": android(options),
        "apns": .object(apple(options, at: seconds)),
      ]
      if options.showsSomething { message["notification"] = .object(shown(options)) }
      // The service counts the data and what is shown.
      let counted =
        text.utf8.count + "martlet".utf8.count + shown(options).reduce(0) { $0 + $1.value.description.utf8.count }
      return (JSONValue.object(["message": .object(message)]).serialized(), counted)
    }
  }

  private static func android(_ options: PushOptions) -> JSONValue {
    var json: JSONObject = [
      "priority": .string(options.deliversAtOnce ? "HIGH" : "NORMAL"), "ttl": .string("\(options.timeToLive)s"),
    ]
    if let key = options.collapseKey { json["collapse_key"] = .string(key) }
    if let sound = options.sound, options.showsSomething { json["notification"] = ["sound": .string(sound)] }
    return .object(json)
  }

  /// For devices of Apple that FCM reaches by APNs.
  private static func apple(_ options: PushOptions, at seconds: Int64) -> JSONObject {
    var fields = JSONObject()
    for (name, value) in treatment(options, at: seconds) { fields[name] = .string(value) }
    var aps = aps(options)
    // The service puts in what is shown.
    aps["alert"] = nil
    return ["headers": .object(fields), "payload": ["aps": .object(aps)]]
  }

  // MARK: APNs

  /// The payload for APNs. The event is the member `martlet`.
  package static func apns(_ event: ChannelEvent, _ options: PushOptions) throws(ChannelError) -> [UInt8] {
    try fitting(event) { event in
      let bytes = JSONValue.object(["aps": .object(aps(options)), "martlet": event]).serialized()
      return (bytes, bytes.count)
    }
  }

  /// The header fields of a request to APNs, apart from its authorization.
  ///
  /// - Parameters:
  ///   - digest: 16 bytes that follow from the event's id, so that each attempt has the same `apns-id`.
  ///   - seconds: Now, since 1970.
  package static func fields(
    _ options: PushOptions, topic: String, digest: [UInt8], at seconds: Int64
  ) -> [(name: String, value: String)] {
    [("apns-topic", topic), ("apns-id", identifier(digest)), ("content-type", "application/json")]
      + treatment(options, at: seconds)
  }

  private static func treatment(_ options: PushOptions, at seconds: Int64) -> [(name: String, value: String)] {
    var fields = [
      (name: "apns-push-type", value: options.showsSomething ? "alert" : "background"),
      // The service refuses 10 for what shows nothing.
      (name: "apns-priority", value: options.showsSomething && options.deliversAtOnce ? "10" : "5"),
      (name: "apns-expiration", value: options.timeToLive == 0 ? "0" : "\(seconds + options.timeToLive)"),
    ]
    if let key = options.collapseKey { fields.append((name: "apns-collapse-id", value: key)) }
    return fields
  }

  private static func aps(_ options: PushOptions) -> JSONObject {
    guard options.showsSomething else { return ["content-available": 1] }
    var aps: JSONObject = ["alert": .object(shown(options)), "mutable-content": 1]
    if let sound = options.sound { aps["sound"] = .string(sound) }
    return aps
  }

  /// A UUID with the bytes of a digest (RFC 9562, version 8).
  static func identifier(_ digest: [UInt8]) -> String {
    var text = ""
    for (place, byte) in digest.prefix(16).enumerated() {
      if [4, 6, 8, 10].contains(place) { text += "-" }
      let byte = place == 6 ? byte & 0x0F | 0x80 : place == 8 ? byte & 0x3F | 0x80 : byte
      text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return text
  }

  // MARK: Both

  private static func shown(_ options: PushOptions) -> JSONObject {
    var json = JSONObject()
    if let title = options.title { json["title"] = .string(title) }
    if let body = options.body { json["body"] = .string(body) }
    return json
  }

  private static func fitting(
    _ event: ChannelEvent, _ build: (JSONValue) -> (bytes: [UInt8], counted: Int)
  ) throws(ChannelError) -> [UInt8] {
    guard var json = (try? JSONValue(parsing: event.body))?.object else {
      throw ChannelError(.record, "the event is not JSON")
    }
    for left in [[], ["value", "payload"], ["context"]] {
      for name in left { json[name] = nil }
      if !left.isEmpty { json["truncated"] = true }
      let built = build(.object(json))
      if built.counted <= longest { return built.bytes }
    }
    throw ChannelError(.definition, "the event is larger than the \(longest) bytes that push services accept")
  }
}
