/// Cuts source bytes into tokens, one at a time (section 2.1 "Source Text").
///
/// Bytes outside strings and comments must be ASCII by grammar, so only those two decode UTF-8, and only to reject
/// what is not UTF-8 and to keep columns right.
struct Lexer {
  let bytes: [UInt8]
  let sourceName: String?
  var position = 0
  private(set) var line: UInt32 = 1
  /// The byte at which the current line would start if every scalar on it so far were one byte long.
  private(set) var columnBase = 0

  init(_ bytes: [UInt8], sourceName: String?) {
    self.bytes = bytes
    self.sourceName = sourceName
  }

  /// The byte at `index`, or nil past the end.
  @inline(__always)
  func byte(_ index: Int) -> UInt8? {
    index < bytes.count ? bytes[index] : nil
  }

  /// Reads the next token.
  mutating func next() throws(SyntaxError) -> Token {
    while position < bytes.count {
      let start = position
      let current = bytes[start]
      let kind: Token.Kind
      switch current {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: ","):
        position += 1
        continue
      case UInt8(ascii: "\n"):
        position += 1
        newLine()
        continue
      case UInt8(ascii: "\r"):
        position += byte(start + 1) == UInt8(ascii: "\n") ? 2 : 1
        newLine()
        continue
      case UInt8(ascii: "#"):
        try skipComment()
        continue
      case 0xEF where byte(start + 1) == 0xBB && byte(start + 2) == 0xBF:
        // A byte order mark is ignored anywhere between tokens.
        position += 3
        columnBase += 2
        continue
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"):
        return nameToken()
      case UInt8(ascii: "!"): kind = .bang
      case UInt8(ascii: "$"): kind = .dollar
      case UInt8(ascii: "&"): kind = .ampersand
      case UInt8(ascii: "("): kind = .parenthesisLeft
      case UInt8(ascii: ")"): kind = .parenthesisRight
      case UInt8(ascii: ":"): kind = .colon
      case UInt8(ascii: "="): kind = .equals
      case UInt8(ascii: "@"): kind = .at
      case UInt8(ascii: "["): kind = .bracketLeft
      case UInt8(ascii: "]"): kind = .bracketRight
      case UInt8(ascii: "{"): kind = .braceLeft
      case UInt8(ascii: "|"): kind = .pipe
      case UInt8(ascii: "}"): kind = .braceRight
      case UInt8(ascii: "."):
        return try dots()
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
        return try numberToken()
      case UInt8(ascii: "\""):
        if byte(start + 1) == UInt8(ascii: "\""), byte(start + 2) == UInt8(ascii: "\"") {
          return try blockStringToken()
        }
        return try stringToken()
      case UInt8(ascii: "'"):
        throw error(
          "Unexpected single quote character ('), did you mean to use a double quote (\")?", at: start)
      default:
        throw error("Unexpected character: \(characterText(at: start)).", at: start)
      }
      position += 1
      return token(kind, from: start)
    }
    return token(.end, from: position)
  }

  /// The token from `start`, which is on the current line, to the current position.
  @inline(__always)
  func token(_ kind: Token.Kind, from start: Int) -> Token {
    Token(
      kind: kind, start: start, end: position, line: line,
      column: UInt32(truncatingIfNeeded: start - columnBase + 1))
  }

  /// The text of the bytes of `token`.
  @inline(__always)
  func text(_ token: Token) -> String {
    String(decoding: bytes[token.start..<token.end], as: UTF8.self)
  }

  mutating func newLine() {
    line += 1
    columnBase = position
  }

  /// Moves to `index` on the same line, which is `extra` bytes more than it is scalars.
  mutating func advance(to index: Int, extra: Int = 0) {
    position = index
    columnBase += extra
  }

  private mutating func nameToken() -> Token {
    let start = position
    var index = start + 1
    while index < bytes.count, SourceBytes.isNamePart(bytes[index]) { index += 1 }
    position = index
    return token(.name, from: start)
  }

  private mutating func skipComment() throws(SyntaxError) {
    var index = position + 1
    while let current = byte(index), current != UInt8(ascii: "\n"), current != UInt8(ascii: "\r") {
      index += current < 0x80 ? 1 : try scalarLength(at: index)
    }
    // Nothing but the line's end can follow, so columns on this line matter no more.
    position = index
  }

  private mutating func dots() throws(SyntaxError) -> Token {
    let start = position
    if byte(start + 1) == UInt8(ascii: "."), byte(start + 2) == UInt8(ascii: ".") {
      position += 3
      return token(.spread, from: start)
    }
    if byte(start + 1) == UInt8(ascii: ".") {
      throw error("Unexpected '..', did you mean '...'?", at: start)
    }
    var index = start + 1
    while let digit = byte(index), SourceBytes.isDigit(digit) { index += 1 }
    if index > start + 1 {
      let digits = String(decoding: bytes[(start + 1)..<index], as: UTF8.self)
      throw error("Invalid number, expected digit before '.', did you mean '0.\(digits)'?", at: start)
    }
    throw error("Unexpected character: '.'.", at: start)
  }

  // MARK: Errors

  /// A grammar error at byte `index` of the current line. `extra` says how many bytes more than scalars lie between the
  /// last token boundary and `index`.
  func error(_ message: String, at index: Int, extra: Int = 0) -> SyntaxError {
    SyntaxError(
      kind: .grammar, message: message,
      location: SourceLocation(line: Int(line), column: index - columnBase - extra + 1, offset: index),
      sourceName: sourceName)
  }

  /// The character at `index` as messages show it: quoted when it is printable ASCII, else by its number.
  func characterText(at index: Int) -> String {
    guard let first = byte(index) else { return "<EOF>" }
    if first == UInt8(ascii: "\"") { return "'\"'" }
    if (0x20...0x7E).contains(first) { return "'\(Character(Unicode.Scalar(first)))'" }
    let rest = String(decoding: bytes[index..<min(index + 4, bytes.count)], as: UTF8.self)
    let number = rest.unicodeScalars.first?.value ?? 0
    let digits = String(number, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  /// The length in bytes of the non-ASCII scalar at `index`; throws when the bytes there are not well-formed UTF-8.
  func scalarLength(at index: Int) throws(SyntaxError) -> Int {
    guard let length = SourceBytes.scalarLength(bytes, at: index) else { throw error("Invalid UTF-8.", at: index) }
    return length
  }
}
