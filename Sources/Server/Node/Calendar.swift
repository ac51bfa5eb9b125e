internal import MartletRuntime
internal import MartletVocabulary

/// The calendar and fresh identifiers, as arguments: a simulation gives its own.
package final class Calendar: Sendable {
  private let milliseconds: @Sendable () -> Int64
  private let generator: Lock<any RandomNumberGenerator & Sendable>
  /// The newest record's identifier: its milliseconds, and its place among those of that millisecond.
  private let newest = Lock<(milliseconds: UInt64, place: UInt64)>((0, 0))

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

  /// The present moment as time since 1970, in UTC.
  func sinceEpoch() -> Duration { .milliseconds(milliseconds()) }

  /// The present moment as HTTP's `Date` field has it.
  func httpDate() -> String { Self.httpDate(milliseconds()) }

  /// A source of chance of its own, drawn from the calendar's.
  func chance() -> SeededRandom { SeededRandom(seed: generator.withLock { $0.next() }) }

  /// A random UUID (RFC 9562, version 4), for what must not be guessed.
  package func identifier() -> String {
    var (high, low) = random()
    high = high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
    low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    return Self.text(high, low)
  }

  /// An identifier for a new record: a UUID that begins with the time, then counts (RFC 9562, version 7, section 6.2
  /// method 1), later ones greater.
  ///
  /// Records that are created together lie together in their table. With random identifiers a transaction of 10,000
  /// creates writes four times as many pages.
  package func recordIdentifier() -> String {
    var (high, low) = random()
    let now = UInt64(clamping: milliseconds()) & 0xFFFF_FFFF_FFFF
    // Half of the places remain for those that follow within the millisecond.
    let start = high & 0x7FF
    (high, low) = newest.withLock { newest in
      if now > newest.milliseconds {
        newest = (now, start)
      } else if newest.place < 0xFFF {
        newest.place += 1
      } else {
        newest = (newest.milliseconds + 1, start)
      }
      return (newest.milliseconds << 16 | 0x7000 | newest.place, low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }
    return Self.text(high, low)
  }

  private func random() -> (high: UInt64, low: UInt64) {
    generator.withLock { generator in (generator.next(), generator.next()) }
  }

  /// A UUID's 128 bits as text.
  private static func text(_ high: UInt64, _ low: UInt64) -> String {
    // On the path of every creation: bytes, not characters.
    var text: [UInt8] = []
    text.reserveCapacity(36)
    for position in 0..<32 {
      if position == 8 || position == 12 || position == 16 || position == 20 { text.append(UInt8(ascii: "-")) }
      let word = position < 16 ? high : low
      let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - position % 16 * 4)) & 15
      text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
    return String(decoding: text, as: UTF8.self)
  }

  package static func dateTime(_ milliseconds: Int64) -> String {
    let (days, rest) = split(milliseconds)
    let date = CivilDate(days: Int64(days))
    var text: [UInt8] = []
    text.reserveCapacity(24)
    append(Int(date.year), 4, "-", to: &text)
    append(Int(date.month), 2, "-", to: &text)
    append(Int(date.day), 2, "T", to: &text)
    append(rest / 3_600_000, 2, ":", to: &text)
    append(rest / 60_000 % 60, 2, ":", to: &text)
    append(rest / 1_000 % 60, 2, ".", to: &text)
    append(rest % 1_000, 3, "Z", to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7).
  package static func httpDate(_ milliseconds: Int64) -> String {
    let (days, rest) = split(milliseconds)
    let date = CivilDate(days: Int64(days))
    // The first of 1970 was a Thursday.
    let weekday = ((days + 4) % 7 + 7) % 7
    var text = Array(["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][weekday].utf8)
    text.reserveCapacity(29)
    text += [UInt8(ascii: ","), 0x20]
    append(Int(date.day), 2, " ", to: &text)
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    text += Array(months[Int(date.month) - 1].utf8) + [0x20]
    append(Int(date.year), 4, " ", to: &text)
    append(rest / 3_600_000, 2, ":", to: &text)
    append(rest / 60_000 % 60, 2, ":", to: &text)
    append(rest / 1_000 % 60, 2, " ", to: &text)
    return String(decoding: text + Array("GMT".utf8), as: UTF8.self)
  }

  /// Days since 1970 and the milliseconds of the day.
  private static func split(_ milliseconds: Int64) -> (days: Int, rest: Int) {
    let days = Int((milliseconds >= 0 ? milliseconds : milliseconds - 86_399_999) / 86_400_000)
    return (days, Int(milliseconds - Int64(days) * 86_400_000))
  }

  private static func append(_ number: Int, _ width: Int, _ end: Unicode.Scalar, to text: inout [UInt8]) {
    if number < 0 { text.append(UInt8(ascii: "-")) }
    let number = number.magnitude
    var divisor: UInt = 1
    for _ in 1..<max(1, width) { divisor *= 10 }
    while number / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      text.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
      divisor /= 10
    }
    text.append(UInt8(ascii: end))
  }
}
