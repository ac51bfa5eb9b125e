/// As much of Swift's lexical grammar as renaming and counting brackets need.
enum SwiftText {
  /// A piece of a line.
  enum Piece: Equatable {
    case word(String)
    /// A string literal with its quotes, interpolations included.
    case string(String)
    case comment(String)
    case other(Character)
  }

  /// A line in pieces; joined they are the line again. Literals and comments that span lines are not known here.
  static func pieces(_ line: String) -> [Piece] {
    var pieces: [Piece] = []
    var rest = Substring(line)
    while let first = rest.first {
      if rest.hasPrefix("//") {
        pieces.append(.comment(String(rest)))
        break
      } else if first == "\"" || first == "`" {
        let literal = literal(rest, quote: first)
        pieces.append(.string(String(literal)))
        rest = rest.dropFirst(literal.count)
      } else if isWord(first) {
        let word = rest.prefix(while: isWord)
        pieces.append(.word(String(word)))
        rest = rest.dropFirst(word.count)
      } else {
        pieces.append(.other(first))
        rest = rest.dropFirst()
      }
    }
    return pieces
  }

  /// How many more brackets a line opens than it closes.
  static func depthChange(_ line: String) -> Int {
    pieces(line).reduce(0) { depth, piece in
      guard case .other(let character) = piece else { return depth }
      return "([{".contains(character) ? depth + 1 : ")]}".contains(character) ? depth - 1 : depth
    }
  }

  /// The literal in each call of `name` in a block, in order, cut at its interpolations: what a program shows is these
  /// parts with values between them.
  static func literals(of name: String, in lines: [String]) -> [[String]] {
    lines.compactMap { line in
      let pieces = pieces(line)
      guard let index = pieces.firstIndex(of: .word(name)), pieces.indices.contains(index + 2),
        case .string(let literal) = pieces[index + 2]
      else { return nil }
      return cut(literal.dropFirst().dropLast())
    }
  }

  private static func cut(_ literal: Substring) -> [String] {
    var parts = [""]
    var depth = 0
    var rest = literal
    while let first = rest.popFirst() {
      if depth == 0, first == "\\", rest.first == "(" {
        rest.removeFirst()
        depth = 1
      } else if depth > 0 {
        depth += first == "(" ? 1 : first == ")" ? -1 : 0
        if depth == 0 { parts.append("") }
      } else {
        parts[parts.count - 1].append(first)
      }
    }
    return parts
  }

  private static func literal(_ text: Substring, quote: Character) -> Substring {
    var isEscaped = false
    for (offset, character) in text.enumerated().dropFirst() {
      if isEscaped {
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else if character == quote {
        return text.prefix(offset + 1)
      }
    }
    return text
  }

  private static func isWord(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || character == "_"
  }
}
