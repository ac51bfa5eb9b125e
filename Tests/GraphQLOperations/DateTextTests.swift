import MartletGraphQLOperations
import Testing

/// Dates and times as ISO 8601 writes them.
@Suite struct DateTextTests {
  @Test(arguments: [
    ("1970-01-01T00:00:00Z", 0.0), ("2000-02-29T23:59:59.5Z", 951_868_799.5), ("1969-12-31T23:59:59.000Z", -1),
    ("2026-11-21T07:00:00+01:30", 1_795_239_000), ("2026-11-21", 1_795_219_200),
    ("2026-11-21T00:00-00:00:30", 1_795_219_230),
  ])
  func `dates are read with their offset`(text: String, seconds: Double) {
    #expect(DateText.seconds(text) == seconds)
  }

  @Test(arguments: [
    "", "2026", "2026-13-01", "2026-02-29", "2026-11-21T24:00:00Z", "2026-11-21T10:00:00", "2026-11-21Tx",
  ])
  func `what is not a date is refused`(text: String) {
    #expect(DateText.seconds(text) == nil)
  }

  @Test(arguments: [0.0, -1, 951_868_799.5, 1_700_000_000.125, -62_167_219_200, 253_402_300_799])
  func `a date that is written is read as the same moment`(seconds: Double) throws {
    #expect(DateText.seconds(try #require(DateText.text(seconds))) == seconds)
  }
}
