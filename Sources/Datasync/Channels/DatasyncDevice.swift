internal import MartletJSON

/// A device that takes push messages, as the server keeps it.
public struct DatasyncDevice: Sendable, Hashable {
  /// The service that reaches a device; further ones may be added.
  public struct Platform: Sendable, Hashable, CustomStringConvertible {
    /// The platform's name.
    public let description: String

    /// Firebase Cloud Messaging.
    public static let fcm = Platform(description: "fcm")
    /// The Apple Push Notification service. Its tokens are hexadecimal.
    public static let apns = Platform(description: "apns")
  }

  /// Names it on the server.
  public let id: String
  /// The service that reaches it.
  public let platform: Platform

  /// - Throws: `refused` for an answer that is none.
  init(_ json: JSONValue) throws(DatasyncError) {
    guard let id = json["id"]?.string, let platform = json["platform"]?.string else {
      throw DatasyncError(.refused, "the server's answer has no device")
    }
    self.id = id
    self.platform = Platform(description: platform)
  }
}

extension DatasyncService {
  /// Registers a device of the caller's, or reports its present token: applications do so at every start, since tokens
  /// change. Subscriptions of the device follow its token.
  ///
  /// ```swift
  /// try await service.registerDevice("adas-phone", platform: .fcm, token: token)
  /// ```
  ///
  /// - Parameters:
  ///   - id: 1 to 64 letters, digits, `-` and `_`, which the application keeps.
  ///   - token: What the platform gave the application.
  /// - Throws: `invalid` for a token that cannot be one, and for a platform that the server does not send by; `refused`
  ///   for another caller's id and beyond the server's limits; `denied`, `unavailable`.
  @discardableResult
  public func registerDevice(
    _ id: String, platform: DatasyncDevice.Platform, token: String
  ) async throws(DatasyncError) -> DatasyncDevice {
    let body: JSONObject = [
      "id": .string(id), "platform": .string(platform.description), "token": .string(token),
    ]
    return try DatasyncDevice(try await request("POST", "/devices", body))
  }

  /// Gives a registered device another token.
  ///
  /// - Throws: As `registerDevice`; `refused` for a device that is not registered.
  public func changeToken(ofDevice id: String, to token: String) async throws(DatasyncError) {
    _ = try await request("PUT", "/devices/\(PathText.encoded(id))", ["token": .string(token)])
  }

  /// The caller's devices.
  public func devices() async throws(DatasyncError) -> [DatasyncDevice] {
    let list = try await request("GET", "/devices")["devices"]?.array ?? []
    var devices: [DatasyncDevice] = []
    for json in list { devices.append(try DatasyncDevice(json)) }
    return devices
  }

  /// Forgets a device and ends its subscriptions, such as when its user signs out.
  ///
  /// - Throws: `refused` for a device that is not registered; as `channels`.
  public func removeDevice(_ id: String) async throws(DatasyncError) {
    _ = try await request("DELETE", "/devices/\(PathText.encoded(id))")
  }
}
