import Foundation

/// The terminal, or the pipe in its place: a terminal is redrawn, a pipe gets one line an event.
actor Screen {
  private var board: Board
  private let isTerminal: Bool
  private var isDirty = true
  private var state = "connecting"
  private var replayed = 0
  private var total = 0

  init(airport: String) {
    let rows = Int(ProcessInfo.processInfo.environment["LINES"] ?? "") ?? 24
    board = Board(airport: airport, height: max(4, rows - 8))
    isTerminal = isatty(STDOUT_FILENO) == 1
  }

  var events: Int { board.events }
  var gaps: Int { board.gaps }

  func open() {
    if isTerminal { write("\u{1B}[?1049h\u{1B}[?25l") }
  }

  /// Gives the terminal back as it was.
  func close() {
    if isTerminal { write("\u{1B}[?25h\u{1B}[?1049l") }
  }

  func show(_ line: Board.Line) {
    board.show(line)
    isDirty = true
    if !isTerminal { write(line.text + "\n") }
  }

  func showGap(_ reason: String) {
    board.showGap()
    isDirty = true
    if !isTerminal { write("gap: \(reason)\n") }
  }

  func show(state: String) {
    self.state = state
    isDirty = true
  }

  func show(replayed: Int, of total: Int) {
    self.replayed = replayed
    self.total = total
    isDirty = true
  }

  /// Draws what has changed; called some times a second.
  func draw() {
    guard isTerminal, isDirty else { return }
    isDirty = false
    let lines = board.rendered(replayed: replayed, of: total, state: state)
    write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K\r\n" }.joined() + "\u{1B}[J")
  }

  private func write(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }
}

extension Board.Line {
  /// The line for a pipe.
  var text: String {
    "\(scheduled?.localClock ?? "--:--")  \(flight)  \(destination)  \(status.lowercased())"
      + (delay.map { $0 > 0 ? " +\($0) min" : "" } ?? "") + "  \(cursor)"
  }
}
