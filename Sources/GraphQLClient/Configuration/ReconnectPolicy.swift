internal import MartletVocabulary

/// When a lost connection is dialled again: the pause doubles from attempt to attempt and is spread by chance, so
/// that the clients of a restarted server do not come back all at once.
public struct ReconnectPolicy: Sendable, Hashable {
  /// The pause before the first new attempt, at most.
  public var firstDelay = Duration.milliseconds(500)
  /// The longest pause.
  public var longestDelay = Duration.seconds(30)
  /// What the pause is multiplied by after each failure.
  public var factor = 2.0
  /// How much of the pause is left to chance, from 0 (none) to 1 (all of it).
  public var jitter = 0.5
  /// Failed attempts in a row before everything fails with the last cause. Nil, the default, never gives up: a device
  /// may be without a network for days, and its subscriptions resume afterwards. What cannot get better, such as a
  /// wrong address, fails at once either way.
  public var attempts: Int?

  /// The longest pause that a server may ask for (`Retry-After`, `retry:` of server-sent events); it replaces a shorter
  /// pause of this policy. Ten minutes: long enough for maintenance, and a wrong header stops a client no longer.
  public var longestServerPause = Duration.seconds(600)

  /// How long a connection on which no event arrived must stand after its acknowledgement to count as a success, which
  /// starts pauses and attempts anew. One that brought an event counts at once; one that only opened, or only confirmed
  /// its subscriptions, does not, because a server may fail right after that every time.
  public var stableAfter = Duration.seconds(5)

  /// The defaults.
  public init() {}

  /// Fails at the first lost connection.
  public static var never: ReconnectPolicy {
    var policy = ReconnectPolicy()
    policy.attempts = 0
    return policy
  }

  /// The pause before attempt `failures + 1`; `failures` counts from 1. Between `(1 - jitter)` of the full pause and
  /// all of it.
  package func delay(afterFailures failures: Int, using random: inout some RandomNumberGenerator) -> Duration {
    let longest = Double(longestDelay.wholeNanoseconds)
    var pause = Double(firstDelay.wholeNanoseconds)
    for _ in 1..<max(1, min(failures, 64)) where pause < longest { pause *= max(1, factor) }
    pause = max(0, min(pause, longest))
    let spread = max(0, min(jitter, 1))
    // 53 bits of chance, as a fraction.
    let chance = Double(random.next() >> 11) / Double(1 << 53)
    // Far below the range of Int64: durations of years are capped by `longestDelay`'s own range.
    return .nanoseconds(Int64(min(pause * (1 - spread * chance), 9e18)))
  }
}
