internal import MartletStore

/// What a request about subscriptions or devices is refused with.
struct ChannelRefused: Error {
  var status: Int
  var code: String
  var message: String

  static let unavailable = ChannelRefused(
    status: 503, code: "UNAVAILABLE", message: "The channels are not open. Try again.")

  static func unavailable(_ error: StoreError) -> ChannelRefused {
    ChannelRefused(status: 503, code: "UNAVAILABLE", message: error.description)
  }

  static func bad(_ message: String) -> ChannelRefused {
    ChannelRefused(status: 400, code: "BAD_USER_INPUT", message: message)
  }

  static func forbidden(_ message: String) -> ChannelRefused {
    ChannelRefused(status: 403, code: "FORBIDDEN", message: message)
  }

  static func missing(_ message: String) -> ChannelRefused {
    ChannelRefused(status: 404, code: "NOT_FOUND", message: message)
  }

  static func conflict(_ message: String) -> ChannelRefused {
    ChannelRefused(status: 409, code: "CONFLICT", message: message)
  }

  /// - Parameters:
  ///   - what: As `subscriptions`.
  ///   - limit: The limit's name.
  static func tooMany(_ what: String, _ limit: String) -> ChannelRefused {
    ChannelRefused(
      status: 429, code: "LIMIT_EXCEEDED", message: "There are as many \(what) as the limit \(limit) allows.")
  }
}
