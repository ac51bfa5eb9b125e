internal import MartletVocabulary

/// A histogram in Prometheus' text form.
struct HistogramText {
  let name: String
  let help: String
  /// What one of the metric's unit is in the histogram's: a million microseconds are a second.
  let scale: Int64

  init(_ name: String, _ help: String, scale: Int64) {
    self.name = "martlet_\(name)"
    self.help = help
    self.scale = scale
  }

  /// - Parameter series: each with its labels, such as `protocol="sse"`; empty for none.
  func lines(_ series: [(labels: String, histogram: Histogram)]) -> [String] {
    var lines = ["# HELP \(name) \(help)", "# TYPE \(name) histogram"]
    for (labels, histogram) in series {
      let more = labels.isEmpty ? "" : labels + ","
      var count = 0
      for (bound, below) in zip(histogram.bounds, histogram.counts) {
        count += below
        lines.append("\(name)_bucket{\(more)le=\"\(number(bound))\"} \(count)")
      }
      let suffix = labels.isEmpty ? "" : "{\(labels)}"
      lines.append("\(name)_bucket{\(more)le=\"+Inf\"} \(histogram.count)")
      lines.append("\(name)_sum\(suffix) \(number(histogram.sum))")
      lines.append("\(name)_count\(suffix) \(histogram.count)")
    }
    return lines
  }

  private func number(_ value: Int64) -> String {
    scale == 1 ? "\(value)" : "\(Double(value) / Double(scale))"
  }
}
