import MartletCommandLine

/// A line on standard error that is drawn over itself; silent when standard error is not a terminal.
struct ProgressBar {
  private let isShown: Bool
  private var shown = ""

  init(isShown: Bool = Console.isWatched) {
    self.isShown = isShown
  }

  mutating func show(fraction: Double, rows: Int) {
    let text = Self.text(fraction: fraction, rows: rows)
    guard isShown, text != shown else { return }
    shown = text
    Console.status("\r\u{1B}[K" + text)
  }

  func end() {
    if isShown, !shown.isEmpty { Console.status("\r\u{1B}[K") }
  }

  static func text(fraction: Double, rows: Int, width: Int = 30) -> String {
    let part = max(0, min(1, fraction))
    let filled = Int(part * Double(width))
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
    return "[\(bar)] \(Int(part * 100)) %  \(Count.of(rows, "row"))"
  }
}
