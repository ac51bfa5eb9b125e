package import MartletJSON

/// A device that takes push messages.
package struct Device: Sendable, Equatable {
  /// The service that reaches it.
  package enum Platform: String, Sendable, CaseIterable {
    case fcm
    case apns
  }

  package var id: String
  package var platform: Platform
  /// What the service knows it by. It is not shown: it identifies an installation to each holder of the
  /// service's credentials.
  package var token: String
  /// When the token was registered, in milliseconds since 1970.
  package var time: Int64
  /// The caller that registered it; null for an administrator.
  package var owner: JSONValue

  private static let asked = ["id", "platform", "token"]
  private static let kept = asked + ["time", "owner"]

  /// Reads a registration as a request has it.
  ///
  /// - Parameters:
  ///   - freshID: The id of a registration without one.
  ///   - now: Milliseconds since 1970.
  package init(_ json: JSONValue, freshID: String, owner: JSONValue, at now: Int64) throws(ChannelError) {
    try self.init(members: json, Self.asked, freshID)
    self.owner = owner
    time = now
  }

  /// Reads what `json` wrote.
  package init(kept json: JSONValue) throws(ChannelError) {
    try self.init(members: json, Self.kept, "")
    owner = json["owner"] ?? .null
    time = json["time"]?.int ?? 0
  }

  private init(members json: JSONValue, _ names: [String], _ freshID: String) throws(ChannelError) {
    guard let object = json.object else { throw ChannelError(.definition, "a device is a JSON object") }
    if let other = object.keys.first(where: { key in !names.contains { $0.hasSameBytes(as: key) } }) {
      throw ChannelError(.definition, "a device has no member \"\(other)\"")
    }
    if let id = object["id"], id.string == nil { throw ChannelError(.definition, "\"id\" is not a text") }
    id = object["id"]?.string ?? freshID
    try ChannelDefinition.checkName(id, "the id of a device")
    guard let platform = object["platform"]?.string.flatMap({ Platform(rawValue: $0) }) else {
      throw ChannelError(.definition, "the \"platform\" of a device is \"fcm\" or \"apns\"")
    }
    self.platform = platform
    token = try Self.token(object["token"], platform)
    (owner, time) = (.null, 0)
  }

  /// Checks a token: FCM's are visible ASCII, those of APNs hexadecimal, because they stand in a path.
  package static func token(_ json: JSONValue?, _ platform: Platform) throws(ChannelError) -> String {
    guard let token = json?.string, !token.isEmpty,
      token.utf8.allSatisfy({ platform == .fcm ? $0 > 0x20 && $0 < 0x7F : isHexadecimal($0) })
    else { throw ChannelError(.definition, "the \"token\" of the device is not one of its platform") }
    return token
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
  }

  /// The device as it is kept.
  package var json: JSONValue {
    [
      "id": .string(id), "platform": .string(platform.rawValue), "token": .string(token), "time": .int(time),
      "owner": owner,
    ]
  }
}
