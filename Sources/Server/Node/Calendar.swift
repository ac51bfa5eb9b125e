internal import MartletRuntime

/// The calendar and fresh identifiers, as arguments: a simulation gives its own.
package final class Calendar: Sendable {
  private let milliseconds: @Sendable () -> Int64
  private let generator: Lock<any RandomNumberGenerator & Sendable>

  /// - Parameters:
  ///   - milliseconds: milliseconds since 1970, in UTC.
  ///   - generator: draws identifiers.
  package init(
    milliseconds: @escaping @Sendable () -> Int64, generator: any RandomNumberGenerator & Sendable
  ) {
    self.milliseconds = milliseconds
    self.generator = Lock(generator)
  }

  /// The present moment as an AWSDateTime with milliseconds, in UTC.
  package func dateTime() -> String {
    Self.dateTime(milliseconds())
  }

  /// A random UUID (RFC 9562, version 4).
  package func identifier() -> String {
    var (high, low) = generator.withLock { generator in (generator.next(), generator.next()) }
    high = high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
    low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    let digits = Array(Self.hexadecimal(high) + Self.hexadecimal(low))
    var text = ""
    for (position, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(position) { text.append("-") }
      text.append(digit)
    }
    return text
  }

  private static func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  package static func dateTime(_ milliseconds: Int64) -> String {
    let days = Int((milliseconds >= 0 ? milliseconds : milliseconds - 86_399_999) / 86_400_000)
    let rest = Int(milliseconds - Int64(days) * 86_400_000)
    let (year, month, day) = civil(days)
    func padded(_ number: Int, _ width: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, width - text.count)) + text
    }
    return
      "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(padded(rest / 3_600_000, 2)):"
      + "\(padded(rest / 60_000 % 60, 2)):\(padded(rest / 1_000 % 60, 2)).\(padded(rest % 1_000, 3))Z"
  }

  /// The date a number of days after 1970-01-01, in the proleptic Gregorian calendar. Years begin in March, so that
  /// the leap day is the last of its year.
  private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth + (shiftedMonth < 10 ? 3 : -9)
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}
