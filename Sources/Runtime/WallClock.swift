#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The system's calendar clock, for what is kept from one run of a program to the next. It may jump.
package enum WallClock {
  /// Time since 1970.
  package static func sinceEpoch() -> Duration {
    var time = timespec()
    // The pointer is valid for the call; the clock exists on every platform the package builds for.
    _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }

  /// Milliseconds since 1970.
  package static func milliseconds() -> Int64 {
    let (seconds, attoseconds) = sinceEpoch().components
    return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
  }
}
