/// How often and how fast a channel tries to deliver an event, and what it keeps.
package struct DeliveryPolicy: Sendable {
  /// Attempts after which an event becomes a dead letter.
  package var attempts = 16
  /// Milliseconds before the second attempt; each further pause is twice as long.
  package var firstPause: Int64 = 1_000
  /// The longest pause, in milliseconds; also the longest `Retry-After` that is obeyed.
  package var longestPause: Int64 = 3_600_000
  /// Events that wait in memory; what follows them is read from the log later.
  package var queuedEvents = 1_000
  package var queuedBytes = 4_194_304
  /// Dead letters that are kept; with one more the channel waits for its operator.
  package var deadLetters = 100
  package var deadLetterBytes = 262_144

  package init() {}

  /// The pause after attempt number `attempt`, from 1: half of it is certain, half by chance, so that channels that
  /// failed together do not return together.
  func pause(
    after attempt: Int, atLeast least: Int64?, _ chance: inout some RandomNumberGenerator
  ) -> Int64 {
    let doublings = min(max(attempt - 1, 0), 40)
    let (doubled, overflow) = firstPause.multipliedReportingOverflow(by: 1 << Int64(doublings))
    let half = min(longestPause, overflow ? longestPause : doubled) / 2
    let random = half + Int64(chance.next() % UInt64(max(0, half) + 1))
    return min(longestPause, max(random, least ?? 0))
  }
}
