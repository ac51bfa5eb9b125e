internal import Foundation

/// The calendar of the machine: the client's one place that reads it.
enum CalendarClock {
  /// Milliseconds since 1970, in UTC.
  static func milliseconds() -> Int64 {
    Int64(Date().timeIntervalSince1970 * 1_000)
  }
}
