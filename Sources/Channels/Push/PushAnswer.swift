internal import MartletJSON

/// What a push service's answer means for the delivery.
package enum PushAnswer: Sendable, Equatable {
  case settled(DeliveryMachine.Outcome)
  /// The application is no longer installed there, or has another token.
  ///
  /// - Parameter since: Milliseconds since 1970 at which the service knew it; nil where it names no time.
  case gone(String, since: Int64?)
  /// The service does not know the token: it is malformed, or of another application or environment. The mistake may be
  /// the server's configuration.
  case unknownToken(String)
  /// The service does not accept the server's credentials.
  case unauthorized(String)

  /// Milliseconds until the next attempt after FCM's quota, where it names no time; what its documentation asks for.
  private static let quotaPause: Int64 = 60_000

  /// An answer of FCM's HTTP v1 interface.
  ///
  /// - Parameters:
  ///   - retryAfter: The field `Retry-After`.
  ///   - seconds: Now, since 1970, for a field that is a date.
  package static func fcm(_ status: Int, _ body: [UInt8], retryAfter: String?, at seconds: Int64) -> PushAnswer {
    if (200..<300).contains(status) { return .settled(.delivered) }
    let error = (try? JSONValue(parsing: body))?["error"]
    let details = error?["details"]?.array ?? []
    let code = details.lazy.compactMap { $0["errorCode"]?.string }.first
    let name = code ?? error?["status"]?.string ?? ""
    let reason = reason("FCM", status, name)
    let pause = WebhookAnswer.pause(retryAfter, at: seconds)
    switch (status, name) {
    case (404, "UNREGISTERED"): return .gone(reason, since: nil)
    case (403, "SENDER_ID_MISMATCH"): return .unknownToken(reason)
    case (400, _):
      let isOfToken =
        details.contains { Self.names($0, "message.token") }
        || code == "INVALID_ARGUMENT" && (error?["message"]?.string ?? "").contains("registration token")
      return isOfToken ? .unknownToken(reason) : .settled(.refused(reason))
    case (401, _): return .unauthorized(reason)
    case (429, _): return .settled(.failed(reason, retryAfter: pause ?? quotaPause))
    default: return .settled(.failed(reason, retryAfter: pause))
    }
  }

  /// Whether a `BadRequest` of the error's details names a field.
  private static func names(_ detail: JSONValue, _ field: String) -> Bool {
    (detail["fieldViolations"]?.array ?? []).contains { $0["field"]?.string == field }
  }

  /// An answer of APNs.
  package static func apns(_ status: Int, _ body: [UInt8], retryAfter: String?, at seconds: Int64) -> PushAnswer {
    if status == 200 { return .settled(.delivered) }
    let json = try? JSONValue(parsing: body)
    let name = json?["reason"]?.string ?? ""
    let reason = reason("APNs", status, name)
    switch (status, name) {
    case (410, _): return .gone(reason, since: json?["timestamp"]?.int)
    case (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"): return .unknownToken(reason)
    case (403, "ExpiredProviderToken"), (403, "InvalidProviderToken"), (403, "MissingProviderToken"):
      return .unauthorized(reason)
    // What every further attempt would get too; a misspelt topic is repaired by a restart with another one.
    case (400, _), (404, _), (405, _), (413, _): return .settled(.refused(reason))
    default: return .settled(.failed(reason, retryAfter: WebhookAnswer.pause(retryAfter, at: seconds)))
    }
  }

  private static func reason(_ service: String, _ status: Int, _ name: String) -> String {
    let name = word(name)
    return name.isEmpty ? "\(service) answered \(status)" : "\(service) answered \(status) \(name)"
  }

  /// A name from outside, as far as it is one: it goes to the log.
  private static func word(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
      default: false
      }
    }
    return isPlain && text.utf8.count <= 64 ? text : "with an unknown reason"
  }
}
