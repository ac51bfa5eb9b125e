internal import Foundation
internal import MartletRuntime
internal import MartletStore

/// The calendar of the machine: the server's one place that reads it.
enum CalendarClock {
  /// Milliseconds since 1970, in UTC.
  static func milliseconds() -> Int64 {
    Int64(Date().timeIntervalSince1970 * 1_000)
  }

  /// The clocks the store reads.
  static var forStore: StoreClock { StoreClock(now: MonotonicClock.now, milliseconds: milliseconds) }
}

/// How many processors there are.
enum SystemCores {
  /// One fewer than there are, at least one.
  static func spare() -> Int {
    max(1, ProcessInfo.processInfo.activeProcessorCount - 1)
  }
}
