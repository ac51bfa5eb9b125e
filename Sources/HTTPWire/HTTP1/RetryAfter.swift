/// The header field `Retry-After` (RFC 9110, section 10.2.3).
package enum RetryAfter {
  /// The pause that a field asks for: a number of seconds, or the time until a date. Nil for a field that is neither.
  ///
  /// - Parameter now: milliseconds since 1970; zero or less where there is no calendar; dates are then ignored.
  package static func pause(_ field: String, now: Int64) -> Duration? {
    let text = field.utf8.drop { $0 == 0x20 }
    if let first = text.first, (0x30...0x39).contains(first) {
      let digits = text.prefix { (0x30...0x39).contains($0) }
      guard digits.count == text.count, digits.count <= 9, let seconds = Int(String(field.filter { $0 != " " })) else {
        return nil
      }
      return .seconds(seconds)
    }
    guard now > 0, let date = seconds(ofDate: Array(text)) else { return nil }
    return .milliseconds(max(0, date * 1_000 - now))
  }

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Seconds since 1970 of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that servers may send.
  private static func seconds(ofDate text: [UInt8]) -> Int64? {
    guard text.count == 29, text[3] == 0x2C, text[19] == 0x3A, text[22] == 0x3A, text[26...].elementsEqual("GMT".utf8),
      let month = months.firstIndex(where: { $0.utf8.elementsEqual(text[8..<11]) }), let day = number(text[5..<7]),
      let year = number(text[12..<16]), let hour = number(text[17..<19]), let minute = number(text[20..<22]),
      let second = number(text[23..<25]), year >= 1970, (1...31).contains(day), hour < 24, minute < 60, second <= 60
    else { return nil }
    // Days since 1970 by the Gregorian calendar, with years that begin in March.
    let shifted = month < 2 ? year - 1 : year
    let dayOfYear = (153 * ((Int64(month) + 10) % 12) + 2) / 5 + day - 1
    let days = 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    return ((days * 24 + hour) * 60 + minute) * 60 + second
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
    digits.reduce(Int64?(0)) { sum, digit in
      guard let sum, (0x30...0x39).contains(digit) else { return nil }
      return sum * 10 + Int64(digit - 0x30)
    }
  }
}
