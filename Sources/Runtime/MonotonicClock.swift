package import MartletVocabulary

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The system's monotonic clock: the one place production code reads the time that loops hand on.
package enum MonotonicClock {
  /// The present moment. Costs a few ten nanoseconds; on a loop prefer `Loop.now`, which is read once per turn.
  package static func now() -> Instant {
    var time = timespec()
    // The pointer is valid for the call; the clock exists on every platform the package builds for.
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
  }
}
