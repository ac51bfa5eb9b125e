internal import MartletChannels
internal import MartletJSON
internal import MartletSignatures

/// The account with which a server sends by Firebase Cloud Messaging, HTTP v1.
public struct FCMService: Sendable {
  /// The text of the service account's file, JSON, as the console gives it.
  public var serviceAccount: String
  /// The service, an `https` URL.
  public var endpoint = "https://fcm.googleapis.com"

  /// A service account, everything else by default.
  public init(serviceAccount: String) {
    self.serviceAccount = serviceAccount
  }
}

/// The key with which a server sends by the Apple Push Notification service.
public struct APNsService: Sendable {
  /// The text of the key's file (`.p8`, PEM).
  public var key: String
  /// The key's id, of ten characters.
  public var keyID: String
  /// The team's id, of ten characters.
  public var teamID: String
  /// The application's bundle id.
  public var topic: String
  /// The service, an `https` URL. `https://api.sandbox.push.apple.com` is for builds in development.
  public var endpoint = "https://api.push.apple.com"

  /// A key for an application, everything else by default.
  public init(key: String, keyID: String, teamID: String, topic: String) {
    self.key = key
    self.keyID = keyID
    self.teamID = teamID
    self.topic = topic
  }
}

/// Push services that were checked.
struct PushServices: Sendable {
  struct FCM: Sendable {
    /// The address that messages of the project are posted to.
    let url: String
    let account: String
    let keyID: String?
    let key: PrivateKey
    /// The address that gives access tokens.
    let tokens: String
  }

  struct APNs: Sendable {
    let endpoint: String
    /// Whether answers have to come by HTTP/2, as those of the service do; not where a test's endpoint is without TLS.
    let isSecure: Bool
    let key: PrivateKey
    let keyID: String
    let teamID: String
    let topic: String
  }

  let fcm: FCM?
  let apns: APNs?

  init(_ given: ChannelConfiguration) throws(ServerError) {
    fcm = try given.fcm.map { service throws(ServerError) in try Self.checked(service) }
    apns = try given.apns.map { service throws(ServerError) in try Self.checked(service) }
  }

  func has(_ platform: Device.Platform) -> Bool {
    switch platform {
    case .fcm: fcm != nil
    case .apns: apns != nil
    }
  }

  private static func checked(_ service: FCMService) throws(ServerError) -> FCM {
    func wrong(_ reason: String) -> ServerError {
      ServerError(.channels, "The service account for FCM cannot be used: \(reason).")
    }
    guard let account = try? JSONValue(parsing: service.serviceAccount) else { throw wrong("it is not JSON") }
    func text(_ name: String) throws(ServerError) -> String {
      guard let text = account[name]?.string, !text.isEmpty else { throw wrong("it has no \"\(name)\"") }
      return text
    }
    let project = try text("project_id")
    guard project.utf8.allSatisfy({ $0 > 0x2C && $0 < 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") })
    else { throw wrong("its \"project_id\" cannot stand in a path") }
    guard let key = PrivateKey(pem: try text("private_key")), key.algorithm == .rs256 else {
      throw wrong("its \"private_key\" is not an RSA key of 2048 bits or more in PEM form")
    }
    let tokens = try text("token_uri")
    _ = try address(tokens)
    let endpoint = try address(service.endpoint)
    return FCM(
      url: "\(endpoint.url)/v1/projects/\(project)/messages:send", account: try text("client_email"),
      keyID: account["private_key_id"]?.string, key: key, tokens: tokens)
  }

  private static func checked(_ service: APNsService) throws(ServerError) -> APNs {
    guard let key = PrivateKey(pem: service.key), key.algorithm == .es256 else {
      throw ServerError(.channels, "The key for APNs is not one of the curve P-256 in PEM form.")
    }
    for (name, value) in [("keyID", service.keyID), ("teamID", service.teamID), ("topic", service.topic)] {
      guard (1...128).contains(value.utf8.count), value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
        throw ServerError(.channels, "The \(name) for APNs needs 1 to 128 visible ASCII characters.")
      }
    }
    let endpoint = try address(service.endpoint)
    return APNs(
      endpoint: endpoint.url, isSecure: endpoint.isSecure, key: key, keyID: service.keyID, teamID: service.teamID,
      topic: service.topic)
  }

  /// The address of a service: credentials go there, so that only this machine is reached without TLS.
  private static func address(_ url: String) throws(ServerError) -> TargetAddress {
    do throws(ChannelError) {
      let address = try TargetAddress(url.hasSuffix("/") ? String(url.dropLast()) : url)
      guard address.isSecure || ["127.0.0.1", "::1", "localhost"].contains(address.host) else {
        throw ChannelError(.address, "the URL is not https")
      }
      return address
    } catch {
      throw ServerError(.channels, "The push service at \"\(url)\" cannot be used: \(error.description).")
    }
  }
}
