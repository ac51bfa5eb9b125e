/// Lines of Swift with their indentation.
struct SwiftText {
  private(set) var lines: [String] = []
  private var level = 0

  /// What may stand on a line before it is broken.
  static let width = 110

  mutating func line(_ text: String = "") {
    lines.append(text.isEmpty ? "" : String(repeating: "  ", count: level) + text)
  }

  /// `head {`, lines one level in, and `}`; `head {}` where there are none.
  mutating func block(_ head: String, _ body: (inout SwiftText) -> Void) {
    line("\(head) {")
    let start = lines.count
    level += 1
    body(&self)
    level -= 1
    if lines.count == start {
      lines[start - 1] += "}"
    } else {
      line("}")
    }
  }

  /// An empty line between declarations, not after an opening brace.
  mutating func space() {
    guard let last = lines.last, !last.isEmpty, !last.hasSuffix("{") else { return }
    line()
  }

  /// A documentation comment.
  mutating func comment(_ text: String?) {
    guard let text, !text.isEmpty else { return }
    for part in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      // Control characters may not stand in Swift, not even here.
      let part = String(
        part.drop { $0 == " " }.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
      line(part.isEmpty ? "///" : "/// \(part)")
    }
  }

  /// `head` and a string literal, broken into lines of readable width that are one line to Swift.
  mutating func string(_ head: String, _ value: String) {
    if value.utf8.count + head.utf8.count + level * 2 + 3 <= Self.width {
      line("\(head)\"\(Self.escaped(value))\"")
      return
    }
    line("\(head)\"\"\"")
    level += 1
    var rest = value.split(separator: " ", omittingEmptySubsequences: false)[...]
    while !rest.isEmpty {
      var row = String(rest.removeFirst())
      while let next = rest.first, row.utf8.count + next.utf8.count < Self.width - 10 {
        row += " " + next
        rest = rest.dropFirst()
      }
      line(Self.escaped(row) + (rest.isEmpty ? "" : " \\"))
    }
    line("\"\"\"")
    level -= 1
  }

  /// Text as it stands in a literal.
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": escaped += "\\\""
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\r": escaped += "\\r"
      case "\t": escaped += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        escaped += "\\u{\(String(scalar.value, radix: 16))}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// A list after `head`, broken before it gets too wide.
  mutating func list(_ head: String, _ items: [String], _ tail: String = "") {
    var row = head
    for (index, item) in items.enumerated() {
      let piece = index == 0 ? item : ", " + item
      if row.utf8.count + piece.utf8.count + level * 2 > Self.width, index > 0 {
        line(row + ",")
        row = "  " + item
      } else {
        row += piece
      }
    }
    line(row + tail)
  }
}
