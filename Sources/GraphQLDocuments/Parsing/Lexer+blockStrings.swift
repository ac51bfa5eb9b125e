extension Lexer {
  /// Checks a block string and returns its token, which may span lines.
  mutating func blockStringToken() throws(SyntaxError) -> Token {
    let start = position
    var token = token(.blockString, from: start)
    var index = start + 3
    var extra = 0
    while let current = byte(index) {
      switch current {
      case UInt8(ascii: "\"") where isTripleQuote(at: index):
        advance(to: index + 3, extra: extra)
        token.end = index + 3
        return token
      case UInt8(ascii: "\\") where isTripleQuote(at: index + 1):
        index += 4
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        index += current == UInt8(ascii: "\r") && byte(index + 1) == UInt8(ascii: "\n") ? 2 : 1
        position = index
        newLine()
        extra = 0
      case 0x80...:
        let length = try scalarLength(at: index)
        extra += length - 1
        index += length
      default:
        index += 1
      }
    }
    throw error("Unterminated string.", at: index, extra: extra)
  }

  private func isTripleQuote(at index: Int) -> Bool {
    byte(index) == UInt8(ascii: "\"") && byte(index + 1) == UInt8(ascii: "\"") && byte(index + 2) == UInt8(ascii: "\"")
  }

  /// The algorithm BlockStringValue: cuts into lines, removes common indentation and blank outer lines.
  func blockStringText(_ token: Token) -> String {
    var lines: [[UInt8]] = [[]]
    var index = token.start + 3
    let end = token.end - 3
    while index < end {
      let current = bytes[index]
      switch current {
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        index += current == UInt8(ascii: "\r") && byte(index + 1) == UInt8(ascii: "\n") ? 2 : 1
        lines.append([])
      case UInt8(ascii: "\\") where isTripleQuote(at: index + 1):
        lines[lines.count - 1].append(contentsOf: Array("\"\"\"".utf8))
        index += 4
      default:
        lines[lines.count - 1].append(current)
        index += 1
      }
    }
    return String(decoding: Array(BlockString.dedented(lines).joined(separator: [0x0A])), as: UTF8.self)
  }
}
