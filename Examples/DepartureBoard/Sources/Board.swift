/// What the terminal shows: the newest events of one airport, and how many there were.
struct Board {
  struct Line {
    let flight: String
    let destination: String
    let scheduled: Moment?
    let status: String
    let delay: Int?
    let cursor: String
  }

  let airport: String
  let height: Int
  private(set) var lines: [Line] = []
  private(set) var events = 0
  private(set) var gaps = 0

  init(airport: String, height: Int = 16) {
    self.airport = airport
    self.height = height
  }

  mutating func show(_ line: Line) {
    events += 1
    lines.insert(line, at: 0)
    if lines.count > height { lines.removeLast(lines.count - height) }
  }

  mutating func showGap() {
    gaps += 1
  }

  /// The whole screen, top line first.
  func rendered(replayed: Int, of total: Int, state: String) -> [String] {
    var screen = [
      "  \(Style.bold)\(airport) departures\(Style.plain)   \(Style.dim)\(state) · \(events) events"
        + (gaps == 0 ? "" : " · \(gaps) gaps") + " · replay \(replayed) of \(total)\(Style.plain)",
      "",
      "  \(Style.dim)\(Self.cell("sched", 7))\(Self.cell("flight", 10))\(Self.cell("to", 6))\(Self.cell("status", 18))cursor\(Style.plain)",
    ]
    for line in lines {
      let status = Self.cell(line.status.lowercased() + (line.delay.map { $0 > 0 ? " +\($0) min" : "" } ?? ""), 18)
      screen.append(
        "  \(Self.cell(line.scheduled?.localClock ?? "--:--", 7))\(Self.cell(line.flight, 10))"
          + "\(Self.cell(line.destination, 6))\(Style.color(of: line.status))\(status)\(Style.plain)"
          + "\(Style.dim)\(line.cursor)\(Style.plain)")
    }
    return screen
  }

  private static func cell(_ text: String, _ width: Int) -> String {
    text.count >= width
      ? String(text.prefix(width - 1)) + " " : text + String(repeating: " ", count: width - text.count)
  }

  private enum Style {
    static let bold = "\u{1B}[1m"
    static let dim = "\u{1B}[2m"
    static let plain = "\u{1B}[0m"

    static func color(of status: String) -> String {
      switch status {
      case "DEPARTED": "\u{1B}[32m"
      case "LATE": "\u{1B}[33m"
      case "CANCELLED": "\u{1B}[31m"
      default: ""
      }
    }
  }
}
