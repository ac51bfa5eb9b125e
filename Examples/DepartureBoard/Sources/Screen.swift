import Foundation

/// The terminal, or the pipe in its place: a terminal is redrawn, a pipe gets one line an event.
actor Screen {
  private var board: Board
  private var frame = Board.Frame()
  private let isTerminal: Bool
  private let colors: Bool
  private var drawn: [String] = []
  private var size = TerminalSize.current()

  init(airport: String, names: Names) {
    board = Board(airport: airport, names: names)
    isTerminal = isatty(STDOUT_FILENO) == 1
    colors = (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
  }

  var events: Int { board.events }
  var gaps: Int { board.gaps }

  /// - Parameter footer: what stands at the bottom.
  func open(footer: [String]) {
    frame.footer = footer
    if isTerminal {
      write("\u{1B}[?1049h\u{1B}[?25l")
    } else if let absence = board.absence {
      write(absence + "\n")
    }
  }

  /// Gives the terminal back as it was.
  func close() {
    if isTerminal { write("\u{1B}[?25h\u{1B}[?1049l") }
  }

  func show(_ line: Board.Line) {
    board.show(line, now: .now)
    if !isTerminal { write(line.text + "\n") }
  }

  func fill(_ lines: [Board.Line]) {
    for line in lines { board.fill(line) }
  }

  func showGap(_ reason: String) {
    board.showGap()
    if !isTerminal { write("gap: \(reason)\n") }
  }

  func show(state: String) { frame.state = state }

  func show(replayed: Int, of total: Int, at moment: Moment?) {
    frame.replayed = replayed
    frame.total = total
    if let moment { board.advance(to: moment) }
  }

  /// Draws what has changed; called some times a second, and when the terminal has another size (SIGWINCH).
  func draw() {
    guard isTerminal else { return }
    // Read each time: a signal that comes before its handler is installed is lost.
    let current = TerminalSize.current()
    if current != size {
      size = current
      drawn = []
    }
    let lines = board.rendered(frame, size: size, colors: colors, now: .now)
    guard lines != drawn else { return }
    drawn = lines
    // No line feed after the last line: it would scroll.
    write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
  }

  private func write(_ text: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
  }
}

extension Board.Line {
  /// The line for a pipe.
  var text: String {
    "\(scheduled?.localClock ?? "--:--")  \(flight)  \(destination)  \(Board.status(of: self))  \(cursor)"
  }
}
