import MartletRuntime
import MartletServer
import MartletVocabulary
import Testing

/// The server's calendar and identifiers.
struct CalendarTests {
  @Test(
    arguments: [
      (784_111_777_000, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
      (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (1_709_164_800_999, "Thu, 29 Feb 2024 00:00:00 GMT"),
      (4_102_444_799_000, "Thu, 31 Dec 2099 23:59:59 GMT"),
    ] as [(Int64, String)])
  func `a date in HTTP is the day of the week and the time of Greenwich`(milliseconds: Int64, text: String) {
    #expect(Calendar.httpDate(milliseconds) == text)
  }

  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
    (1_357_539_301_007, "2013-01-07T06:15:01.007Z"), (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
    (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
  ])
  func `milliseconds are written as an AWSDateTime in UTC`(_ milliseconds: Int, _ text: String) {
    #expect(Calendar.dateTime(Int64(milliseconds)) == text)
  }

  @Test func `identifiers are version 4 UUIDs and differ`() {
    let calendar = Calendar(milliseconds: { 0 }, generator: SeededRandom(seed: 7))
    var seen: Set<String> = []
    for _ in 0..<1_000 {
      let text = Array(calendar.identifier().utf8)
      #expect(text.count == 36)
      for (position, byte) in text.enumerated() {
        switch position {
        case 8, 13, 18, 23: #expect(byte == UInt8(ascii: "-"))
        case 14: #expect(byte == UInt8(ascii: "4"))
        case 19: #expect(Array("89ab".utf8).contains(byte))
        default: #expect(Array("0123456789abcdef".utf8).contains(byte))
        }
      }
      seen.insert(String(decoding: text, as: UTF8.self))
    }
    #expect(seen.count == 1_000)
  }

  @Test func `identifiers of records are version 7 UUIDs that grow, also when the clock stands still or is set back`() {
    let time = Lock<Int64>(1_700_000_000_000)
    let calendar = Calendar(milliseconds: { time.withLock { $0 } }, generator: SeededRandom(seed: 7))
    var last = ""
    for number in 0..<20_000 {
      // More than one millisecond has places for, then a second later, then an hour earlier.
      if number == 10_000 { time.withLock { $0 += 1_000 } }
      if number == 15_000 { time.withLock { $0 -= 3_600_000 } }
      let text = calendar.recordIdentifier()
      #expect(text > last)
      if number == 0 { #expect(text.hasPrefix("018bcfe5-6800-7")) }
      let digits = Array(text.utf8)
      #expect(digits.count == 36 && digits[14] == UInt8(ascii: "7") && Array("89ab".utf8).contains(digits[19]))
      last = text
    }
  }
}
