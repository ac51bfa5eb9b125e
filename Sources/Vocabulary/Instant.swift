/// A moment on a monotonic clock, in nanoseconds since an arbitrary start.
///
/// Machines on floor 0 take it as an argument and never read a clock, so that a simulation can move it.
public struct Instant: Hashable, Comparable, Sendable {
  /// Nanoseconds since the clock's start.
  public var nanoseconds: Int64

  /// The moment `nanoseconds` after the clock's start.
  public init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// The clock's start.
  public static var zero: Instant { Instant(nanoseconds: 0) }

  /// Whether `left` comes first.
  public static func < (left: Instant, right: Instant) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// The moment `duration` later; the far future when that does not fit.
  public static func + (instant: Instant, duration: Duration) -> Instant {
    let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
    return Instant(nanoseconds: overflow ? .max : sum)
  }

  /// The time from `earlier` to `later`.
  public static func - (later: Instant, earlier: Instant) -> Duration {
    .nanoseconds(later.nanoseconds - earlier.nanoseconds)
  }
}

extension Duration {
  /// The duration in nanoseconds, at most what 64 bits hold (292 years).
  public var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if overflow { return seconds < 0 ? .min : .max }
    let (sum, carried) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    if carried { return seconds < 0 ? .min : .max }
    return sum
  }
}
