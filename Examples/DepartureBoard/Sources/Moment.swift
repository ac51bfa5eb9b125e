/// A minute in UTC, counted from 1970.
struct Moment: Comparable, Hashable, CustomStringConvertible {
  var minutes: Int

  init(minutes: Int) {
    self.minutes = minutes
  }

  /// Reads `2013-01-01T10:00:00Z`.
  init?(_ text: String) {
    let fields = text.split(whereSeparator: { "-T:Z".contains($0) }).map { Int($0) }
    guard fields.count == 6, let year = fields[0], let month = fields[1], let day = fields[2], let hour = fields[3],
      let minute = fields[4], (1...12).contains(month), (1...31).contains(day), (0..<24).contains(hour),
      (0..<60).contains(minute)
    else { return nil }
    minutes = Self.days(year: year, month: month, day: day) * 1_440 + hour * 60 + minute
  }

  static func < (left: Moment, right: Moment) -> Bool { left.minutes < right.minutes }
  static func + (moment: Moment, minutes: Int) -> Moment { Moment(minutes: moment.minutes + minutes) }

  /// As an AWSDateTime.
  var description: String {
    let (year, month, day) = Self.date(days: minutes >= 0 ? minutes / 1_440 : (minutes - 1_439) / 1_440)
    let minute = ((minutes % 1_440) + 1_440) % 1_440
    return "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))T\(clock(minute)):00.000Z"
  }

  /// The hour and minute, for a board in New York in winter.
  var localClock: String { clock((((minutes - 300) % 1_440) + 1_440) % 1_440) }

  /// `Tue 1 Jan`, in New York in winter.
  var localDay: String {
    let days = Int((Double(minutes - 300) / 1_440).rounded(.down))
    let (_, month, day) = Self.date(days: days)
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    // 1970-01-01 was a Thursday.
    let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][((days % 7) + 7) % 7]
    return "\(weekday) \(day) \(months[month - 1])"
  }

  private func clock(_ minute: Int) -> String { "\(Self.padded(minute / 60, 2)):\(Self.padded(minute % 60, 2))" }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  /// Days from 1970-01-01 in the proleptic Gregorian calendar. Years are shifted to begin in March, so that the leap
  /// day is the last of its year and month lengths follow one formula.
  private static func days(year: Int, month: Int, day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func date(days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth + (shiftedMonth < 10 ? 3 : -9)
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}
