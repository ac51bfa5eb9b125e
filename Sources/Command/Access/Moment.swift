import Foundation

/// Times since 1970 as people write them.
enum Moment {
  /// `2030-01-01T00:00:00Z`, or the number of seconds for times that no calendar has.
  static func text(_ time: Duration) -> String {
    let seconds = time.components.seconds
    guard abs(seconds) < 253_402_300_800 else { return "\(seconds)" }
    return Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
  }

  /// Reads seconds since 1970, possibly with a fraction, or a time such as `2030-01-01T00:00:00Z`.
  static func read(_ text: String) -> Duration? {
    if let seconds = Double(text), seconds.isFinite, abs(seconds) < 253_402_300_800 {
      return .milliseconds(Int64((seconds * 1_000).rounded()))
    }
    guard let date = try? Date(text, strategy: .iso8601) else { return nil }
    return .seconds(Int64(date.timeIntervalSince1970))
  }
}
