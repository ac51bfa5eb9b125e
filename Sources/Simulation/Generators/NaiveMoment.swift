import MartletJSON
import MartletModels

/// Dates and times for the plain evaluator: each text of a moment becomes another text, whose bytes have the order of
/// the moments. Shares nothing with the comparison that stores use.
enum NaiveMoment {
  /// The comparison of such texts.
  static func comparison(_ comparison: Comparison) -> Comparison {
    switch comparison {
    case .eq(let other): .eq(value(other))
    case .ne(let other): .ne(value(other))
    case .lt(let other): .lt(value(other))
    case .le(let other): .le(value(other))
    case .gt(let other): .gt(value(other))
    case .ge(let other): .ge(value(other))
    case .between(let low, let high): .between(value(low), value(high))
    case .in(let list): .in(list.map(value))
    case .notIn(let list): .notIn(list.map(value))
    case .beginsWith, .contains, .notContains, .attributeExists, .attributeType, .size, .moment: comparison
    }
  }

  static func value(_ value: JSONValue) -> JSONValue {
    guard case .string(let text) = value else { return value }
    return .string(moment(text) ?? "z" + text)
  }

  /// `a` and milliseconds for a date, `b` and milliseconds for a time of day, shifted so that none is negative.
  private static func moment(_ text: String) -> String? {
    let (hasDate, rest) = text.dropFirst(4).hasPrefix("-") ? (true, text.dropFirst(10)) : (false, Substring(text))
    var days = 0
    if hasDate {
      let parts = text.prefix(10).split(separator: "-").compactMap { Int($0) }
      guard parts.count == 3, parts[1] > 0, parts[2] > 0 else { return nil }
      var lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
      if isLeap(parts[0]) { lengths[1] = 29 }
      guard parts[1] <= 12, parts[2] <= lengths[parts[1] - 1] else { return nil }
      for year in 0..<parts[0] { days += isLeap(year) ? 366 : 365 }
      days += lengths.prefix(parts[1] - 1).reduce(0, +) + parts[2]
    }
    var clock = rest
    if hasDate, clock.hasPrefix("T") { clock = clock.dropFirst() } else if hasDate { clock = "00:00" + clock }
    let time = clock.prefix { $0 != "Z" && $0 != "+" && $0 != "-" }
    guard let local = milliseconds(time) else { return nil }
    var offset = 0
    let sign = clock.dropFirst(time.count)
    if sign.hasPrefix("+") || sign.hasPrefix("-") {
      guard let size = milliseconds(sign.dropFirst()) else { return nil }
      offset = sign.hasPrefix("-") ? -size : size
    }
    let sum = String(days * 86_400_000 + local - offset + 1_000_000_000)
    return (hasDate ? "a" : "b") + String(repeating: "0", count: 20 - sum.count) + sum
  }

  private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  private static func milliseconds(_ clock: Substring) -> Int? {
    let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2 || parts.count == 3 else { return nil }
    guard parts[0].count == 2, parts[1].count == 2, let hours = Int(parts[0]), let minutes = Int(parts[1]),
      hours < 24, minutes < 60
    else { return nil }
    guard parts.count == 3 else { return (hours * 60 + minutes) * 60_000 }
    let (second, fraction) = (parts[2].prefix(2), parts[2].dropFirst(3).prefix(3))
    guard let seconds = Int(second), seconds < 60 else { return nil }
    let rest = Int((fraction + "000").prefix(3)) ?? 0
    return (hours * 60 + minutes) * 60_000 + seconds * 1_000 + rest
  }
}
