/// A line of a terminal in pieces of one style each. It is cut by what can be seen; codes take no room.
struct StyledLine {
  enum Style: String {
    case plain = "0"
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
  }

  private struct Piece {
    var text: String
    var style: Style
    var isBold: Bool
  }

  private var pieces: [Piece] = []

  init() {}

  init(_ text: String, _ style: Style = .plain) {
    append(text, style)
  }

  mutating func append(_ text: String, _ style: Style = .plain, isBold: Bool = false) {
    pieces.append(Piece(text: text, style: style, isBold: isBold))
  }

  /// At most `width` characters, with codes where the terminal wants them.
  func text(width: Int, colors: Bool) -> String {
    var room = width
    var line = ""
    for piece in pieces where room > 0 {
      var text = piece.text
      if text.count > room { text = String(text.prefix(max(0, room - 1))) + "…" }
      room -= text.count
      guard colors, piece.style != .plain || piece.isBold else {
        line += text
        continue
      }
      let codes = (piece.isBold ? "\u{1B}[1m" : "") + (piece.style == .plain ? "" : "\u{1B}[\(piece.style.rawValue)m")
      line += codes + text + "\u{1B}[0m"
    }
    return line
  }
}
