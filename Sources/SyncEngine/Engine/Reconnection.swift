internal import MartletVocabulary

/// When the connection is tried again.
struct Reconnection: Sendable, Hashable {
  /// Failures since the last success.
  private(set) var failures = 0
  /// Credentials were refreshed since the last success.
  private(set) var hasRefreshed = false
  /// When the next attempt is made; nil where none waits for its time.
  var at: Instant?
  /// The time that was asked for last.
  private var wakesAt: Instant?

  mutating func succeeded() { (failures, hasRefreshed) = (0, false) }

  mutating func refreshed() { hasRefreshed = true }

  /// Counts a failure; returns when the next attempt may be made.
  mutating func counted(
    at now: Instant, _ retry: RetryDelay, retryAfter: Duration? = nil, _ random: inout SeededRandom
  ) -> Instant {
    failures += 1
    return now + retry.delay(after: failures, retryAfter: retryAfter, using: &random)
  }

  /// The connection has failed and is tried again after a while.
  mutating func failed(at now: Instant, _ retry: RetryDelay, retryAfter: Duration?, _ random: inout SeededRandom) {
    // After the wait, credentials are worth another refresh.
    hasRefreshed = false
    at = counted(at: now, retry, retryAfter: retryAfter, &random)
  }

  /// The time to ask for, so that nothing is late; nil where it was asked for already.
  mutating func nextWake(besides other: Instant?) -> Instant? {
    let next = [at, other].compactMap { $0 }.min()
    defer { wakesAt = next }
    return next == wakesAt ? nil : next
  }
}
