public import MartletJSON

/// A subscription that the server delivers to a webhook or a device, whether a client is connected or not.
public struct DatasyncChannel: Sendable, Hashable {
  /// What is delivered to.
  public enum Target: Sendable, Hashable {
    /// A webhook of the server's configuration, by its name.
    case webhook(String)
    /// A registered device, by its id.
    case device(String)
  }

  /// How a subscription stands; further states may be added.
  public struct State: Sendable, Hashable, CustomStringConvertible {
    /// The state's name.
    public let description: String

    /// Events are delivered as they happen.
    public static let active = State(description: "active")
    /// The server is still reading what has happened.
    public static let starting = State(description: "starting")
    /// The last attempt failed and is repeated.
    public static let retrying = State(description: "retrying")
    /// Nothing is delivered for now, such as after the owner's key was withdrawn; what happens meanwhile follows.
    public static let suspended = State(description: "suspended")
    /// Nothing is delivered any longer, such as after the rules have changed.
    public static let failed = State(description: "failed")
  }

  /// Names it on the server.
  public let id: String
  /// What is delivered to.
  public let target: Target
  /// The node's path; nil for a subscription of a GraphQL operation.
  public let path: String?
  /// What its maker gave to come back in every event.
  public let context: JSONValue
  /// How it stands.
  public let state: State
  /// Why it is in that state, or why the last attempt failed.
  public let reason: String?
  /// Events that wait for delivery.
  public let waitingEvents: Int
  /// Events that were given up and can be delivered again.
  public let deadLetters: Int

  /// - Throws: `refused` for an answer that is none.
  init(_ json: JSONValue) throws(DatasyncError) {
    guard let id = json["id"]?.string else {
      throw DatasyncError(.refused, "the server's answer has no subscription")
    }
    self.id = id
    switch (json["webhook"]?.string, json["device"]?.string) {
    case (let name?, _): target = .webhook(name)
    case (nil, let name): target = .device(name ?? "")
    }
    path = json["node"]?.string
    context = json["context"] ?? .null
    state = State(description: json["state"]?.string ?? "")
    reason = json["reason"]?.string
    waitingEvents = Int(clamping: json["waiting"]?.int ?? 0)
    deadLetters = Int(clamping: json["deadLetters"]?.int ?? 0)
  }
}

extension DatasyncService {
  /// The caller's subscriptions of webhooks and devices; an administrator's list has those of all callers.
  ///
  /// - Throws: `denied`, `unavailable`, `invalid` for a client of a further namespace; `refused` by a server that
  ///   delivers to neither.
  public func channels() async throws(DatasyncError) -> [DatasyncChannel] {
    let list = try await request("GET", "")["subscriptions"]?.array ?? []
    var channels: [DatasyncChannel] = []
    for json in list { channels.append(try DatasyncChannel(json)) }
    return channels
  }

  /// Ends a subscription of a webhook or device.
  ///
  /// - Throws: As `channels`; `refused` for one that is gone or that the server's configuration has.
  public func cancel(_ channel: DatasyncChannel) async throws(DatasyncError) {
    _ = try await request("DELETE", "/\(PathText.encoded(channel.id))")
  }
}
