package import MartletJSON

/// NumericDate of RFC 7519, section 2: seconds since 1970, possibly with a fraction.
package enum NumericDate {
  /// The time since 1970; nil for what is not a number. Numbers beyond 2⁵³ seconds count as that: they mean "never",
  /// and arithmetic with them must not overflow.
  package static func time(_ value: JSONValue) -> Duration? {
    switch value {
    case .int(let seconds): .seconds(max(-farthest, min(farthest, seconds)))
    case .uint: .seconds(farthest)
    case .double(let seconds): time(seconds)
    case .null, .bool, .string, .array, .object: nil
    }
  }

  private static let farthest: Int64 = 1 << 53

  private static func time(_ seconds: Double) -> Duration {
    if seconds >= Double(farthest) { return .seconds(farthest) }
    if seconds <= -Double(farthest) { return .seconds(-farthest) }
    let whole = seconds.rounded(.down)
    return .seconds(Int64(whole)) + .nanoseconds(Int64(((seconds - whole) * 1_000_000_000).rounded()))
  }

  /// The number as operators see it: seconds, with a fraction where there is one.
  package static func text(_ time: Duration) -> String {
    let (seconds, attoseconds) = time.components
    guard attoseconds != 0 else { return "\(seconds)" }
    return "\(Double(seconds) + Double(attoseconds) / 1e18)"
  }
}
