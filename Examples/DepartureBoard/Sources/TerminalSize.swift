import Foundation

/// Rows and columns of a terminal.
struct TerminalSize: Equatable {
  var rows = 24
  var columns = 80

  /// What the terminal on standard output says now (TIOCGWINSZ), else the shell's `LINES` and `COLUMNS`, else 24 and
  /// 80.
  static func current(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> TerminalSize {
    var window = winsize()
    if unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0, window.ws_row > 0, window.ws_col > 0 {
      return TerminalSize(rows: Int(window.ws_row), columns: Int(window.ws_col))
    }
    var size = TerminalSize()
    if let rows = Int(environment["LINES"] ?? ""), rows > 0 { size.rows = rows }
    if let columns = Int(environment["COLUMNS"] ?? ""), columns > 0 { size.columns = columns }
    return size
  }
}
