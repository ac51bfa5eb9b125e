package import MartletVocabulary

/// The end of a live connection's token: warned about before, moved by another token, and kept exactly.
///
/// Times are the loop's: the driver turns the token's end into a moment by the difference of the two clocks, and does
/// so again when the calendar clock was set.
package struct TokenLifetime: Sendable {
  package enum Event: Sendable, Hashable {
    /// The token ends at this moment: the client may send another one until then.
    case warn(endsAt: Instant)
    /// The rights of the identity end now.
    case end
  }

  private enum State: Sendable {
    /// Next: `warned` at the lead before the end, or `ended`.
    case good
    /// Next: `ended`, or `good` with another token.
    case warned
    case ended
  }

  /// How long before the end a client is warned by default: enough for a refresh over a slow network.
  package static let defaultLead = Duration.seconds(60)

  private let lead: Duration
  private var state = State.good
  private var end: Instant?

  /// - Parameter end: When the token ends; nil for never.
  package init(end: Instant?, lead: Duration = Self.defaultLead) {
    self.end = end
    self.lead = lead
  }

  /// When `reached` is to be called next; nil for never.
  package var deadline: Instant? {
    guard let end else { return nil }
    switch state {
    case .good: return Instant(nanoseconds: end.nanoseconds &- lead.wholeNanoseconds)
    case .warned: return end
    case .ended: return nil
    }
  }

  /// The client has sent another token, which was accepted. False when it is too late: the rights have ended.
  package mutating func renew(end: Instant?) -> Bool {
    switch state {
    case .good, .warned:
      self.end = end
      state = .good
      return true
    case .ended: return false
    }
  }

  /// The clock is at `now`. A late call does both at once: the end without a warning.
  package mutating func reached(_ now: Instant) -> Event? {
    guard let end, let deadline, now >= deadline else { return nil }
    if now >= end {
      state = .ended
      return .end
    }
    state = .warned
    return .warn(endsAt: end)
  }
}
