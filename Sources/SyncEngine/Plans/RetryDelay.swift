package import MartletVocabulary

/// How long to wait before an attempt is repeated.
package struct RetryDelay: Sendable, Hashable {
  /// The delay after the first failure; each further one doubles it.
  package var base: Duration = .milliseconds(100)
  /// At most this much is added by chance, so that clients do not come back together.
  package var jitter: Duration = .milliseconds(100)
  /// The longest delay. Attempts never end: a write is given up only when the server refuses it.
  package var longest: Duration = .seconds(300)

  /// The longest pause that a server may ask for with `Retry-After`: an hour, so that a wrong clock there does not stop
  /// a client for days.
  package var longestAsked: Duration = .seconds(3_600)

  package init() {}

  /// The delay after `failures` failures in a row. A `Retry-After` of the server is a lower bound.
  package func delay(
    after failures: Int, retryAfter: Duration?, using random: inout SeededRandom
  ) -> Duration {
    let exponent = min(max(failures - 1, 0), 31)
    let grown = base.wholeNanoseconds.multipliedReportingOverflow(by: 1 << Int64(exponent))
    let capped = min(grown.overflow ? .max : grown.partialValue, longest.wholeNanoseconds)
    let chance = Int64(random.next() % (UInt64(max(0, jitter.wholeNanoseconds)) + 1))
    let delay = Duration.nanoseconds(capped) + .nanoseconds(chance)
    return max(delay, min(retryAfter ?? .zero, longestAsked))
  }
}
