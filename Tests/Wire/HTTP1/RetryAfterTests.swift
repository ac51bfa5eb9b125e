import MartletWire
import Testing

@Suite struct RetryAfterTests {
  /// Sun, 06 Nov 1994 08:49:37 GMT, in milliseconds since 1970.
  private static let date: Int64 = 784_111_777_000

  @Test(arguments: [("0", 0), ("120", 120), ("999999999", 999_999_999), (" 7", 7)])
  func `a number is so many seconds`(field: String, seconds: Int) {
    #expect(RetryAfter.pause(field, now: 0) == .seconds(seconds))
  }

  @Test func `a date is the time until then, and nothing once it has passed`() {
    let field = "Sun, 06 Nov 1994 08:49:37 GMT"
    #expect(RetryAfter.pause(field, now: Self.date - 90_000) == .seconds(90))
    #expect(RetryAfter.pause(field, now: Self.date + 90_000) == .zero)
    #expect(RetryAfter.pause("Thu, 29 Feb 2024 00:00:00 GMT", now: 1_709_164_799_000) == .seconds(1))
    #expect(RetryAfter.pause(field, now: 0) == nil)
  }

  @Test(arguments: [
    "", "soon", "-1", "1.5", "12x", "9999999999", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Xxx 1994 08:49:37 GMT",
    "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 0a Nov 1994 08:49:37 GMT",
  ])
  func `anything else is ignored`(field: String) {
    #expect(RetryAfter.pause(field, now: 1) == nil)
  }
}
