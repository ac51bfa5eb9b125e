internal import MartletGraphQLLanguage
internal import MartletVocabulary

/// One bound of `ServerLimits` by its name, so that text can set it: an option of the command.
package struct LimitSetting: Sendable {
  typealias Path<Value> = any WritableKeyPath<ServerLimits, Value> & Sendable

  private enum Place: Sendable {
    case count(Path<Int>, ClosedRange<Int>)
    case countOrNone(Path<Int?>, ClosedRange<Int>)
    case time(Path<Duration>)
    case timeOrNone(Path<Duration?>)
  }

  /// The group and the property, such as `http.bodyBytes`.
  package let name: String
  private let place: Place

  /// A number from `least` on. Beyond `most` no computer that serves could hold it.
  static func count(
    _ name: String, _ path: Path<Int>, from least: Int = 1, to most: Int = 1 << 40
  ) -> LimitSetting {
    LimitSetting(name: name, place: .count(path, least...most))
  }

  static func count(
    _ name: String, orNone path: Path<Int?>
  ) -> LimitSetting {
    LimitSetting(name: name, place: .countOrNone(path, 1...1 << 40))
  }

  static func time(_ name: String, _ path: Path<Duration>) -> LimitSetting {
    LimitSetting(name: name, place: .time(path))
  }

  static func time(
    _ name: String, orNone path: Path<Duration?>
  ) -> LimitSetting {
    LimitSetting(name: name, place: .timeOrNone(path))
  }

  /// Whether the bound is a number of bytes, which may be written with a unit.
  private var isBytes: Bool { name.hasSuffix("Bytes") }

  /// Sets the bound in `limits` to what `text` says: `200`, `64KiB`, `30s`, or `none` where the bound may be left out.
  package func set(_ text: String, in limits: inout ServerLimits) throws(LimitSettingError) {
    switch place {
    case .count(let path, let range): limits[keyPath: path] = try number(text, range)
    case .countOrNone(let path, let range):
      limits[keyPath: path] = text == "none" ? nil : try number(text, range)
    case .time(let path): limits[keyPath: path] = try duration(text)
    case .timeOrNone(let path): limits[keyPath: path] = text == "none" ? nil : try duration(text)
    }
  }

  private func number(_ text: String, _ range: ClosedRange<Int>) throws(LimitSettingError) -> Int {
    let units: [(suffix: String, factor: Int)] =
      isBytes ? [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("", 1)] : [("", 1)]
    for unit in units where text.hasSuffix(unit.suffix) {
      guard let number = Int(text.dropLast(unit.suffix.count)) else { continue }
      let (product, overflow) = number.multipliedReportingOverflow(by: unit.factor)
      if !overflow, range.contains(product) { return product }
    }
    let what = isBytes ? "a number of bytes, such as 65536, 64KiB or 1MiB," : "a whole number"
    throw LimitSettingError("\(name) must be \(what) from \(range.lowerBound) to \(range.upperBound), not '\(text)'.")
  }

  private func duration(_ text: String) throws(LimitSettingError) -> Duration {
    if let duration = DurationText.parse(text) { return duration }
    let also = if case .timeOrNone = place { ", or none" } else { "" }
    throw LimitSettingError("\(name) must be a duration such as 30s, 200ms, 5m or 7d\(also), not '\(text)'.")
  }

  /// The setting called `name`.
  package static func named(_ name: String) throws(LimitSettingError) -> LimitSetting {
    let wanted = Array(name.utf8)
    if let setting = all.first(where: { Array($0.name.utf8) == wanted }) { return setting }
    let names = all.map(\.name)
    let near =
      Suggestions.near(name, among: names).first
      // The property without its group.
      ?? names.first { $0.hasSuffix(".\(name)") } ?? Self.nearestProperty(name)
    throw LimitSettingError("There is no limit '\(name)'." + (near.map { " Did you mean \($0)?" } ?? ""))
  }

  /// The setting whose property's name is near `name`, whatever its group.
  private static func nearestProperty(_ name: String) -> String? {
    func property(_ name: String) -> String { String(name.split(separator: ".").last ?? "") }
    let near = Suggestions.near(property(name), among: all.map { property($0.name) }).first
    return near.flatMap { near in all.first { property($0.name) == near }?.name }
  }
}

/// Why a limit was not set.
package struct LimitSettingError: Error, Sendable, CustomStringConvertible {
  package let description: String

  init(_ description: String) {
    self.description = description
  }
}

extension ServerLimits {
  /// Sets one bound from `NAME=VALUE`.
  package mutating func set(_ assignment: String) throws(LimitSettingError) {
    guard let sign = assignment.utf8.firstIndex(of: UInt8(ascii: "=")) else {
      throw LimitSettingError("'\(assignment)' is not NAME=VALUE, such as http.bodyBytes=4MiB.")
    }
    let value = String(assignment[assignment.utf8.index(after: sign)...])
    try LimitSetting.named(String(assignment[..<sign])).set(value, in: &self)
  }
}
