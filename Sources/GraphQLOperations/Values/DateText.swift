internal import MartletVocabulary

/// Dates and times as ISO 8601 writes them, in the shapes of AWSDateTime and AWSDate (RFC 3339 with seconds optional
/// in the offset). Pure arithmetic on the proleptic Gregorian calendar.
package enum DateText {
  /// Seconds since 1970; nil when the text is not a date with a time and an offset.
  package static func seconds(_ text: String) -> Double? {
    var reader = Reader(bytes: Array(text.utf8)[...])
    guard let year = reader.digits(4), reader.take("-"), let month = reader.digits(2), reader.take("-"),
      let day = reader.digits(2), let date = CivilDate(year: Int64(year), month: Int64(month), day: Int64(day))
    else { return nil }
    let days = Double(date.days)
    if reader.bytes.isEmpty { return days * 86_400 }
    guard reader.take("T") || reader.take("t"), let hour = reader.digits(2), reader.take(":"),
      let minute = reader.digits(2), hour < 24, minute < 60
    else { return nil }
    var second = 0
    var fraction = 0.0
    if reader.take(":") {
      guard let whole = reader.digits(2), whole < 60 else { return nil }
      second = whole
      if reader.take(".") {
        guard let part = reader.fraction() else { return nil }
        fraction = part
      }
    }
    guard let offset = reader.offset(), reader.bytes.isEmpty else { return nil }
    return days * 86_400 + Double(hour * 3_600 + minute * 60 + second - offset) + fraction
  }

  /// `2026-11-21T06:27:07.123Z`; nil for years that do not have four digits.
  package static func text(_ seconds: Double) -> String? {
    // The first and last millisecond of the years 0000 to 9999.
    guard seconds >= -62_167_219_200, seconds < 253_402_300_800 else { return nil }
    let milliseconds = Int((seconds * 1_000).rounded())
    let (day, rest) = floorDivision(milliseconds, 86_400_000)
    let date = CivilDate(days: Int64(day))
    guard (0...9999).contains(date.year) else { return nil }
    let (hour, inHour) = (rest / 3_600_000, rest % 3_600_000)
    return padded(Int(date.year), 4) + "-" + padded(Int(date.month), 2) + "-" + padded(Int(date.day), 2) + "T"
      + padded(hour, 2) + ":"
      + padded(inHour / 60_000, 2) + ":" + padded(inHour % 60_000 / 1_000, 2) + "." + padded(inHour % 1_000, 3) + "Z"
  }

  private struct Reader {
    var bytes: ArraySlice<UInt8>

    mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard let first = bytes.first, UInt32(first) == character.value else { return false }
      bytes.removeFirst()
      return true
    }

    mutating func digits(_ count: Int) -> Int? {
      guard bytes.count >= count else { return nil }
      var value = 0
      for byte in bytes.prefix(count) {
        guard (0x30...0x39).contains(byte) else { return nil }
        value = value * 10 + Int(byte - 0x30)
      }
      bytes.removeFirst(count)
      return value
    }

    /// Any number of digits after the point; what a double cannot hold is dropped.
    mutating func fraction() -> Double? {
      let digits = bytes.prefix { (0x30...0x39).contains($0) }
      guard !digits.isEmpty else { return nil }
      bytes.removeFirst(digits.count)
      return Double("0." + String(decoding: digits.prefix(18), as: UTF8.self))
    }

    /// Seconds east of UTC.
    mutating func offset() -> Int? {
      if take("Z") || take("z") { return 0 }
      let sign: Int
      if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
      guard let hours = digits(2), take(":"), let minutes = digits(2), hours < 24, minutes < 60 else { return nil }
      var seconds = 0
      if take(":") {
        guard let more = digits(2), more < 60 else { return nil }
        seconds = more
      }
      return sign * (hours * 3_600 + minutes * 60 + seconds)
    }
  }

  private static func floorDivision(_ value: Int, _ divisor: Int) -> (quotient: Int, remainder: Int) {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
  }
}
