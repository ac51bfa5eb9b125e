internal import MartletVocabulary

extension Temporal {
  /// A day, `2026-11-22`, perhaps with an offset from UTC: an AWSDate.
  public struct Date: TemporalValue {
    private let days: Int64
    private let offset: Int64?

    /// A day of the calendar; nil for one that its month does not have, and beyond the years 0 to 9999.
    public init?(year: Int, month: Int, day: Int) {
      guard (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
        let date = CivilDate(year: Int64(year), month: Int64(month), day: Int64(day))
      else { return nil }
      self.init(date.days, nil)
    }

    private init(_ days: Int64, _ offset: Int64?) {
      self.days = days
      self.offset = offset
    }

    /// Reads `yyyy-MM-dd`, with an offset or without.
    public init(iso8601 text: String) throws(FormatError) {
      var scan = TemporalScan(text)
      let date = scan.date()
      let offset = scan.offset()
      guard let date, !offset.isBroken, scan.isAtEnd else {
        throw FormatError(text: text, expected: "a date such as 2026-11-22")
      }
      self.init(date.days, offset.seconds)
    }

    /// `yyyy-MM-dd`, and the offset if there is one.
    public var iso8601: String { CivilDate(days: days).text + (offset.map(CivilDate.offsetText) ?? "") }
    /// The beginning of the day, since 1970.
    public var milliseconds: Int64 { days * 86_400_000 - (offset ?? 0) * 1_000 }

    /// The same date some time later: `+ .days(1)`. Parts of a day change nothing.
    public static func + (date: Date, step: TemporalStep) -> Date {
      let civil = CivilDate(days: date.days).adding(months: step.months)
      return Date(civil.days + step.milliseconds / 86_400_000, date.offset)
    }
    /// The same date some time earlier.
    public static func - (date: Date, step: TemporalStep) -> Date { date + step.negated }
  }

  /// A moment, `2026-11-22T17:52:26.000Z`: an AWSDateTime.
  public struct DateTime: TemporalValue {
    /// The moment, since 1970.
    public let milliseconds: Int64
    private let offset: Int64

    private init(_ milliseconds: Int64, _ offset: Int64) {
      self.milliseconds = milliseconds
      self.offset = offset
    }

    /// A moment in UTC.
    public init(millisecondsSince1970 milliseconds: Int64) { self.init(milliseconds, 0) }

    /// Reads a date, `T`, a time with minutes, seconds or milliseconds, and an offset; without one it is UTC.
    public init(iso8601 text: String) throws(FormatError) {
      var scan = TemporalScan(text)
      let date = scan.date()
      let time = scan.take("T") ? scan.time() : nil
      let offset = scan.offset()
      guard let date, let time, !offset.isBroken, scan.isAtEnd else {
        throw FormatError(text: text, expected: "a date and time such as 2026-11-22T17:52:26.000Z")
      }
      let seconds = offset.seconds ?? 0
      self.init(date.days * 86_400_000 + time - seconds * 1_000, seconds)
    }

    /// Date, time with milliseconds, and the offset.
    public var iso8601: String {
      let local = milliseconds + offset * 1_000
      let days = local >= 0 ? local / 86_400_000 : (local - 86_399_999) / 86_400_000
      return CivilDate(days: days).text + "T" + CivilDate.timeText(local - days * 86_400_000)
        + CivilDate.offsetText(offset)
    }

    /// The same moment some time later: `+ .days(1)`.
    public static func + (moment: DateTime, step: TemporalStep) -> DateTime {
      let local = moment.milliseconds + moment.offset * 1_000
      let days = local >= 0 ? local / 86_400_000 : (local - 86_399_999) / 86_400_000
      let date = CivilDate(days: days).adding(months: step.months)
      return DateTime(
        date.days * 86_400_000 + local - days * 86_400_000 + step.milliseconds - moment.offset * 1_000, moment.offset)
    }
    /// The same moment some time earlier.
    public static func - (moment: DateTime, step: TemporalStep) -> DateTime { moment + step.negated }
  }

  /// A time of day, `17:52:26.000`, perhaps with an offset: an AWSTime.
  public struct Time: TemporalValue {
    private let local: Int64
    private let offset: Int64?

    private init(_ local: Int64, _ offset: Int64?) {
      self.local = local
      self.offset = offset
    }

    /// Reads a time with minutes, seconds or milliseconds, with an offset or without.
    public init(iso8601 text: String) throws(FormatError) {
      var scan = TemporalScan(text)
      let time = scan.time()
      let offset = scan.offset()
      guard let time, !offset.isBroken, scan.isAtEnd else {
        throw FormatError(text: text, expected: "a time such as 17:52:26.000")
      }
      self.init(time, offset.seconds)
    }

    /// The time with milliseconds, and the offset if there is one.
    public var iso8601: String { CivilDate.timeText(local) + (offset.map(CivilDate.offsetText) ?? "") }
    /// The time in UTC, since midnight.
    public var milliseconds: Int64 { local - (offset ?? 0) * 1_000 }

    /// The time of day some time later, round midnight. Months change nothing.
    public static func + (time: Time, step: TemporalStep) -> Time {
      let sum = (time.local + step.milliseconds) % 86_400_000
      return Time(sum < 0 ? sum + 86_400_000 : sum, time.offset)
    }
    /// The time of day some time earlier.
    public static func - (time: Time, step: TemporalStep) -> Time { time + step.negated }
  }
}

/// A distance between two dates or times.
public struct TemporalStep: Sendable, Hashable {
  var months: Int64 = 0
  var milliseconds: Int64 = 0

  var negated: TemporalStep { TemporalStep(months: -months, milliseconds: -milliseconds) }

  /// Years of twelve months.
  public static func years(_ count: Int) -> TemporalStep { TemporalStep(months: Int64(count) * 12) }
  /// Months; a day that the month does not have becomes its last.
  public static func months(_ count: Int) -> TemporalStep { TemporalStep(months: Int64(count)) }
  /// Weeks.
  public static func weeks(_ count: Int) -> TemporalStep { .days(count * 7) }
  /// Days of 24 hours.
  public static func days(_ count: Int) -> TemporalStep { TemporalStep(milliseconds: Int64(count) * 86_400_000) }
  /// Hours.
  public static func hours(_ count: Int) -> TemporalStep { TemporalStep(milliseconds: Int64(count) * 3_600_000) }
  /// Minutes.
  public static func minutes(_ count: Int) -> TemporalStep { TemporalStep(milliseconds: Int64(count) * 60_000) }
  /// Seconds.
  public static func seconds(_ count: Int) -> TemporalStep { TemporalStep(milliseconds: Int64(count) * 1_000) }
}
