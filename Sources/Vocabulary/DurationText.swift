/// Durations as people write them on a command line and in a configuration.
package enum DurationText {
  /// A number of seconds, as `30`, `1.5` or with a unit: `200ms`, `30s`, `5m`, `2h`, `7d`; nil for other text.
  package static func parse(_ text: String) -> Duration? {
    let units: [(suffix: String, seconds: Double)] = [
      ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400), ("", 1),
    ]
    for unit in units where text.hasSuffix(unit.suffix) {
      if let number = Double(text.dropLast(unit.suffix.count)), number.isFinite, number >= 0, number < 1e9 {
        return .milliseconds(Int64(number * unit.seconds * 1_000))
      }
    }
    return nil
  }
}
