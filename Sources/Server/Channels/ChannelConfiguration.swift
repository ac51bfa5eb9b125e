internal import MartletChannels
internal import MartletJSON
internal import MartletWire

/// A receiver of events over HTTP. Subscriptions choose among the configured ones by name, so that no caller of the
/// server can have it send a request to an address of the caller's choice.
public struct Webhook: Sendable {
  /// What subscriptions name: 1 to 64 letters, digits, `-` and `_`.
  public var name: String
  /// An `https` or `http` URL, without credentials.
  public var url: String
  /// Secrets by which requests are signed, at most 4: a request has one signature for each, so that a secret can be
  /// replaced. What follows `whsec_` is base64; 16 to 256 bytes.
  public var secrets: [String]
  /// Header fields that are sent along, such as a receiver's own token.
  public var headers: [String: String] = [:]
  /// How long a subscription lasts that does not say; nil for no end.
  public var duration: Duration?
  /// Whether anything is sent. Subscriptions of a webhook that is not enabled wait in the log.
  public var isEnabled = true
  /// Whether callers that are not administrators may subscribe it to what they may read.
  public var isOpenToCallers = false

  /// A webhook with one secret, everything else by default.
  public init(_ name: String, url: String, secret: String) {
    self.name = name
    self.url = url
    secrets = [secret]
  }
}

/// Webhooks, and who may subscribe them to what.
///
/// ```swift
/// var channels = ChannelConfiguration()
/// channels.webhooks = [Webhook("orders", url: "https://shop.example/hook", secret: secret)]
/// channels.subscriptions = [["id": "new", "webhook": "orders", "node": "/orders", "events": ["childAddition"]]]
/// configuration.channels = channels
/// ```
public struct ChannelConfiguration: Sendable {
  /// The receivers.
  public var webhooks: [Webhook] = []
  /// Subscriptions that exist as long as they are configured, as the members of a request to `/channels`. Each needs an
  /// `id`, under which its position is kept.
  public var subscriptions: [JSONObject] = []
  /// Names of API keys and groups of other callers that manage all subscriptions. Every caller does in development.
  public var administrators: Set<String> = []
  /// Sends to devices by Firebase Cloud Messaging; nil does not.
  public var fcm: FCMService?
  /// Sends to devices by the Apple Push Notification service; nil does not.
  public var apns: APNsService?
  /// Whether callers that are not administrators may register devices and subscribe them to what they may read.
  public var areDevicesOpenToCallers = true
  /// Ranges of addresses such as `10.0.0.0/8` that may be delivered to although they are private, on this machine or
  /// otherwise not public.
  public var allowedAddresses: [String] = []
  /// Authorities that sign receivers' certificates, a PEM file; nil for the system's.
  public var authorityFile: String?
  /// A proxy for all deliveries, such as `http://proxy.example:3128`, without credentials. It is asked to connect to
  /// the address that was looked up and judged here. Nil uses none, whatever the environment names: a proxy looks names
  /// up by itself, so that its network would decide what may be reached.
  public var proxy: String?

  /// No webhooks and no subscriptions.
  public init() {}

  /// Reads the text of a `--channels` file: a JSON object with `webhooks`, `subscriptions`, `administrators`,
  /// `allowedAddresses`, `authorityFile`, `proxy`, `fcm`, `apns` and `devicesOpenToCallers`. docs/guides/webhooks.md
  /// and docs/guides/push.md describe it.
  ///
  /// - Throws: `ServerError` (`channels`), naming the entry.
  public init(_ text: String) throws(ServerError) {
    let json: JSONValue
    do { json = try JSONValue(parsing: text) } catch {
      throw ServerError(.channels, "The channels file is not JSON: \(error.description).")
    }
    var reader = ChannelFileReader(try ChannelFileReader.object(json, "The channels file"))
    administrators = Set(try reader.texts("administrators"))
    allowedAddresses = try reader.texts("allowedAddresses")
    authorityFile = try reader.text("authorityFile")
    proxy = try reader.text("proxy")
    if let isOpen = try reader.flag("devicesOpenToCallers") { areDevicesOpenToCallers = isOpen }
    fcm = try reader.object("fcm").map { entry throws(ServerError) in try FCMService(entry) }
    apns = try reader.object("apns").map { entry throws(ServerError) in try APNsService(entry) }
    webhooks = try reader.objects("webhooks").map { entry throws(ServerError) in try Webhook(entry) }
    subscriptions = try reader.objects("subscriptions")
    try reader.finish("The channels file")
  }
}

extension Webhook {
  fileprivate init(_ entry: JSONObject) throws(ServerError) {
    var reader = ChannelFileReader(entry)
    guard let name = try reader.text("name"), let url = try reader.text("url") else {
      throw ServerError(.channels, "A webhook needs \"name\" and \"url\".")
    }
    self.init(name, url: url, secret: "")
    secrets = try reader.texts("secrets")
    if let secret = try reader.text("secret") { secrets.insert(secret, at: 0) }
    isEnabled = try reader.flag("enabled") ?? true
    isOpenToCallers = try reader.flag("openToCallers") ?? false
    duration = try reader.seconds("duration")
    headers = try reader.fields("headers")
    try reader.finish("The webhook \"\(name)\"")
  }
}

/// Takes the members of an object one by one; what is left over is refused.
struct ChannelFileReader {
  private var members: JSONObject

  init(_ members: JSONObject) {
    self.members = members
  }

  static func object(_ json: JSONValue, _ what: String) throws(ServerError) -> JSONObject {
    guard let object = json.object else { throw ServerError(.channels, "\(what) is not a JSON object.") }
    return object
  }

  private mutating func take(_ name: String) -> JSONValue? {
    defer { members[name] = nil }
    return members[name]
  }

  private func wrong(_ name: String, _ needed: String) -> ServerError {
    ServerError(.channels, "\"\(name)\" is not \(needed).")
  }

  mutating func text(_ name: String) throws(ServerError) -> String? {
    guard let value = take(name) else { return nil }
    guard let text = value.string else { throw wrong(name, "a text") }
    return text
  }

  mutating func flag(_ name: String) throws(ServerError) -> Bool? {
    guard let value = take(name) else { return nil }
    guard let flag = value.bool else { throw wrong(name, "true or false") }
    return flag
  }

  mutating func seconds(_ name: String) throws(ServerError) -> Duration? {
    guard let value = take(name) else { return nil }
    guard let seconds = value.int, (1...3_155_760_000).contains(seconds) else { throw wrong(name, "whole seconds") }
    return .seconds(seconds)
  }

  mutating func texts(_ name: String) throws(ServerError) -> [String] {
    guard let value = take(name) else { return [] }
    guard let texts = value.array?.compactMap(\.string), texts.count == value.array?.count else {
      throw wrong(name, "a list of texts")
    }
    return texts
  }

  mutating func object(_ name: String) throws(ServerError) -> JSONObject? {
    guard let value = take(name) else { return nil }
    guard let object = value.object else { throw wrong(name, "an object") }
    return object
  }

  mutating func objects(_ name: String) throws(ServerError) -> [JSONObject] {
    guard let value = take(name) else { return [] }
    guard let objects = value.array?.compactMap(\.object), objects.count == value.array?.count else {
      throw wrong(name, "a list of objects")
    }
    return objects
  }

  mutating func fields(_ name: String) throws(ServerError) -> [String: String] {
    guard let value = take(name) else { return [:] }
    guard let object = value.object else { throw wrong(name, "an object of texts") }
    var fields: [String: String] = [:]
    for (field, value) in object {
      guard let text = value.string else { throw wrong(name, "an object of texts") }
      fields[field] = text
    }
    return fields
  }

  func finish(_ what: String) throws(ServerError) {
    if let other = members.keys.first {
      throw ServerError(.channels, "\(what) has the member \"\(other)\", which means nothing here.")
    }
  }
}
