extension Lexer {
  /// Reads an Int or Float token (sections 2.10.1 and 2.10.2).
  mutating func numberToken() throws(SyntaxError) -> Token {
    let start = position
    var index = start
    var kind = Token.Kind.int
    if byte(index) == UInt8(ascii: "-") { index += 1 }
    if byte(index) == UInt8(ascii: "0") {
      index += 1
      if let digit = byte(index), SourceBytes.isDigit(digit) {
        throw error("Invalid number, unexpected digit after 0: \(characterText(at: index)).", at: index)
      }
    } else {
      index = try digits(from: index)
    }
    if byte(index) == UInt8(ascii: ".") {
      kind = .float
      index = try digits(from: index + 1)
    }
    if let mark = byte(index), mark | 0x20 == UInt8(ascii: "e") {
      kind = .float
      index += 1
      if let sign = byte(index), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { index += 1 }
      index = try digits(from: index)
    }
    // A number must not run into a name or another dot: `0xF` and `1.2.3` are mistakes, not two tokens.
    if let following = byte(index), following == UInt8(ascii: ".") || SourceBytes.isNameStart(following) {
      throw error("Invalid number, expected digit but got: \(characterText(at: index)).", at: index)
    }
    advance(to: index)
    return token(kind, from: start)
  }

  private func digits(from start: Int) throws(SyntaxError) -> Int {
    guard let first = byte(start), SourceBytes.isDigit(first) else {
      throw error("Invalid number, expected digit but got: \(characterText(at: start)).", at: start)
    }
    var index = start + 1
    while let digit = byte(index), SourceBytes.isDigit(digit) { index += 1 }
    return index
  }
}
