package import MartletVocabulary

/// How much of a rate is used up, in one number: the time at which all that was spent would be due at the rate itself
/// (the generic cell rate algorithm of ITU-T I.371).
package struct RateMeter: Sendable, Hashable {
  private var due = Instant.zero

  package init() {}

  /// How long to wait until `amount` may be spent; nil when it may be spent now.
  ///
  /// - Parameters:
  ///   - rate: How much a second allows, at least 1.
  ///   - burst: How much time may be used up in advance. One amount that is larger than that is allowed when nothing
  ///     is used up: it could never be spent otherwise.
  package func wait(for amount: Int, rate: Int, burst: Duration, at now: Instant) -> Duration? {
    let cost = Self.time(amount, rate)
    let start = max(due, now)
    let allowed = max(burst, cost)
    let ahead = start + cost - now
    return ahead <= allowed ? nil : ahead - allowed
  }

  /// Spends an amount, whether it is allowed or not.
  package mutating func spend(_ amount: Int, rate: Int, at now: Instant) {
    due = max(due, now) + Self.time(amount, rate)
  }

  /// Whether nothing of the rate is used up.
  package func isIdle(at now: Instant) -> Bool { due <= now }

  private static func time(_ amount: Int, _ rate: Int) -> Duration {
    let whole = Int64(max(0, amount)).multipliedFullWidth(by: 1_000_000_000)
    let divisor = Int64(max(1, rate))
    // An amount whose time does not fit counts as the longest time.
    guard whole.high < divisor else { return .nanoseconds(Int64.max / 4) }
    return .nanoseconds(min(Int64.max / 4, divisor.dividingFullWidth(whole).quotient))
  }
}
