/// Dates and times as text of ISO 8601, compared by the moments that they mean: `10:00Z` and `12:00:00.000+02:00` are
/// equal.
///
/// The order is one for all texts, so that an index can have it: dates, and dates with times, by their milliseconds
/// since 1970; then times of day by their milliseconds since midnight; then texts that are neither, by their bytes. A
/// text without an offset is in UTC, and what is finer than a millisecond does not count.
package struct MomentText: Hashable, Sendable {
  /// Whether it is a time of day.
  package let isTime: Bool
  /// Since 1970, or since midnight for a time of day. The offset can bring a time below zero and beyond a day.
  package let milliseconds: Int64

  /// The moment that a text means; nil when it means none.
  package init?(_ text: String) {
    var text = text
    guard let found = text.withUTF8({ unsafe MomentText($0) }) else { return nil }
    self = found
  }

  private init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    var scan = unsafe MomentScan(bytes)
    let date = scan.date()
    isTime = date == nil
    var local = (date?.days ?? 0) * 86_400_000
    if date == nil || scan.take(0x54) {
      guard let time = scan.time() else { return nil }
      local += time
    }
    guard let offset = scan.offset(), scan.isAtEnd else { return nil }
    milliseconds = local - offset * 1_000
  }

  /// Negative, zero or positive, as `left` is before `right`, at one moment with it, or after it.
  package static func compare(_ left: String, _ right: String) -> Int {
    var (left, right) = (left, right)
    return left.withUTF8 { left in right.withUTF8 { right in unsafe compare(left, right) } }
  }

  /// The same for UTF-8.
  package static func compare(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int {
    let order = unsafe compareBytes(left, right)
    if order == 0 { return 0 }
    switch unsafe (MomentText(left), MomentText(right)) {
    case (let left?, let right?):
      if left.isTime != right.isTime { return left.isTime ? 1 : -1 }
      return left.milliseconds < right.milliseconds ? -1 : left.milliseconds > right.milliseconds ? 1 : 0
    case (nil, nil): return order
    case (_?, nil): return -1
    case (nil, _?): return 1
    }
  }

  private static func compareBytes(
    _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
  ) -> Int {
    for index in 0..<min(left.count, right.count) {
      let (a, b) = unsafe (left[index], right[index])
      if a != b { return a < b ? -1 : 1 }
    }
    return left.count - right.count
  }
}

/// Reads a date, a time and an offset from left to right. Without a copy of the text: the order of an index reads two
/// texts for each comparison.
@safe
private struct MomentScan {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var at = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>) { unsafe self.bytes = bytes }

  var isAtEnd: Bool { unsafe at == bytes.count }

  mutating func take(_ byte: UInt8) -> Bool {
    guard unsafe at < bytes.count && bytes[at] == byte else { return false }
    at += 1
    return true
  }

  private mutating func digit() -> Int64? {
    guard unsafe at < bytes.count else { return nil }
    let byte = unsafe bytes[at]
    guard byte >= 0x30, byte <= 0x39 else { return nil }
    at += 1
    return Int64(byte - 0x30)
  }

  private mutating func number(_ digits: Int, below bound: Int64) -> Int64? {
    var value: Int64 = 0
    for _ in 0..<digits {
      guard let digit = digit() else { return nil }
      value = value * 10 + digit
    }
    return value < bound ? value : nil
  }

  /// A day of the calendar. Nothing is taken where there is none.
  mutating func date() -> CivilDate? {
    guard let year = number(4, below: 10_000), take(0x2D), let month = number(2, below: 13), take(0x2D),
      let day = number(2, below: 32), let date = CivilDate(year: year, month: month, day: day)
    else {
      at = 0
      return nil
    }
    return date
  }

  /// Milliseconds of a time of day, with seconds and fractions of them or without.
  mutating func time() -> Int64? {
    guard let hour = number(2, below: 24), take(0x3A), let minute = number(2, below: 60) else { return nil }
    var milliseconds = (hour * 60 + minute) * 60_000
    guard take(0x3A) else { return milliseconds }
    guard let second = number(2, below: 60) else { return nil }
    milliseconds += second * 1_000
    guard take(0x2E) else { return milliseconds }
    var (value, digits): (Int64, Int) = (100, 0)
    while let digit = digit() {
      milliseconds += digit * value
      value /= 10
      digits += 1
    }
    return digits == 0 ? nil : milliseconds
  }

  /// The offset in seconds, 0 without one; nil for something else.
  mutating func offset() -> Int64? {
    if isAtEnd || take(0x5A) { return 0 }
    let isNegative = take(0x2D)
    guard isNegative || take(0x2B), let hours = number(2, below: 24), take(0x3A),
      let minutes = number(2, below: 60)
    else { return nil }
    var seconds = hours * 3_600 + minutes * 60
    if take(0x3A) {
      guard let more = number(2, below: 60) else { return nil }
      seconds += more
    }
    return isNegative ? -seconds : seconds
  }
}
