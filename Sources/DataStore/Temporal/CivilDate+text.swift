internal import MartletVocabulary

/// The texts of dates, times and offsets, and steps of months.
extension CivilDate {
  /// The same day some months later; the last of its month where that has fewer days.
  func adding(months: Int64) -> CivilDate {
    let all = year * 12 + month - 1 + months
    let newYear = all >= 0 ? all / 12 : (all - 11) / 12
    let newMonth = all - newYear * 12 + 1
    for last in stride(from: day, through: 28, by: -1) {
      if let date = CivilDate(year: newYear, month: newMonth, day: last) { return date }
    }
    return self
  }

  var text: String { "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))" }

  static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number.magnitude)
    let zeros = String(repeating: "0", count: max(0, width - digits.count))
    return (number < 0 ? "-" : "") + zeros + digits
  }

  /// `07:06:05.004`.
  static func timeText(_ milliseconds: Int64) -> String {
    let seconds = milliseconds / 1_000
    return "\(padded(seconds / 3_600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))."
      + padded(milliseconds % 1_000, 3)
  }

  /// `Z`, `+02:00` or `-03:30:15`.
  static func offsetText(_ seconds: Int64) -> String {
    if seconds == 0 { return "Z" }
    let size = abs(seconds)
    let text = "\(seconds < 0 ? "-" : "+")\(padded(size / 3_600, 2)):\(padded(size / 60 % 60, 2))"
    return size % 60 == 0 ? text : text + ":\(padded(size % 60, 2))"
  }
}

/// Reads texts of ISO 8601 from left to right.
struct TemporalScan {
  private var rest: ArraySlice<UInt8>

  init(_ text: String) { rest = Array(text.utf8)[...] }

  var isAtEnd: Bool { rest.isEmpty }

  /// Exactly `count` digits.
  private mutating func number(_ count: Int) -> Int64? {
    guard rest.count >= count else { return nil }
    var value: Int64 = 0
    for byte in rest.prefix(count) {
      guard (0x30...0x39).contains(byte) else { return nil }
      value = value * 10 + Int64(byte - 0x30)
    }
    rest = rest.dropFirst(count)
    return value
  }

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard let first = rest.first, UInt32(first) == character.value else { return false }
    rest = rest.dropFirst()
    return true
  }

  mutating func date() -> CivilDate? {
    guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2),
      (1...12).contains(month)
    else { return nil }
    return CivilDate(year: year, month: month, day: day)
  }

  /// A time of day in milliseconds, with seconds and fractions of them or without.
  mutating func time() -> Int64? {
    guard let hour = number(2), take(":"), let minute = number(2), hour < 24, minute < 60 else { return nil }
    var milliseconds = (hour * 60 + minute) * 60_000
    guard take(":") else { return milliseconds }
    guard let second = number(2), second < 60 else { return nil }
    milliseconds += second * 1_000
    guard take(".") else { return milliseconds }
    var digits = 0
    while let digit = number(1) {
      if digits < 3 { milliseconds += digit * [100, 10, 1][digits] }
      digits += 1
    }
    return digits == 0 ? nil : milliseconds
  }

  /// An offset from UTC in seconds; nil when there is none. `isBroken` when what stands there is something else.
  mutating func offset() -> (seconds: Int64?, isBroken: Bool) {
    if take("Z") { return (0, false) }
    let isNegative = take("-")
    guard isNegative || take("+") else { return (nil, false) }
    guard let hours = number(2), take(":"), let minutes = number(2), hours < 24, minutes < 60 else {
      return (nil, true)
    }
    var seconds = hours * 3_600 + minutes * 60
    if take(":") {
      guard let more = number(2), more < 60 else { return (nil, true) }
      seconds += more
    }
    return (isNegative ? -seconds : seconds, false)
  }
}
