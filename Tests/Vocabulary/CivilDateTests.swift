import Foundation
import MartletVocabulary
import Testing

/// Days of the calendar, against Foundation's.
struct CivilDateTests {
  @Test func `a day's number and its date are those of Foundation's calendar, also before 1970`() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
    // Foundation's calendar is the Julian one before October 1582.
    for days in stride(from: -141_000, through: 400_000, by: 97) {
      let parts = calendar.dateComponents(
        [.year, .month, .day], from: Date(timeIntervalSince1970: Double(days) * 86_400))
      let date = CivilDate(days: Int64(days))
      #expect([date.year, date.month, date.day] == [parts.year, parts.month, parts.day].map { Int64($0 ?? 0) })
      #expect(date.days == Int64(days))
    }
  }

  @Test func `every day from the year -800 to the year 2000 is a day after the one before it`() throws {
    var last = CivilDate(days: -1_011_700)
    for days in -1_011_699...11_000 {
      let date = CivilDate(days: Int64(days))
      let isNext =
        date.day == last.day + 1 && date.month == last.month && date.year == last.year
        || date.day == 1 && last.day > 27
          && (date.month == last.month + 1 && date.year == last.year
            || date.month == 1 && last.month == 12 && date.year == last.year + 1)
      if !isNext || date.days != Int64(days) { Issue.record("\(date) after \(last)") }
      last = date
    }
  }

  @Test(arguments: [
    (2024, 2, 29, true), (2023, 2, 29, false), (1900, 2, 29, false), (2000, 2, 29, true), (2026, 4, 31, false),
    (2026, 13, 1, false), (2026, 0, 1, false), (2026, 1, 0, false), (2026, 12, 31, true), (0, 2, 29, true),
  ])
  func `a date that the calendar does not have is none`(year: Int64, month: Int64, day: Int64, exists: Bool) {
    #expect((CivilDate(year: year, month: month, day: day) != nil) == exists)
  }
}
