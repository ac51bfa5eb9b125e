extension Lexer {
  /// Checks a quoted string and returns its token; its meaning is computed by `stringText` when asked for.
  mutating func stringToken() throws(SyntaxError) -> Token {
    let start = position
    var index = start + 1
    var extra = 0
    var hasEscape = false
    while let current = byte(index) {
      switch current {
      case UInt8(ascii: "\""):
        position = index + 1
        var token = token(.string, from: start)
        token.hasEscape = hasEscape
        advance(to: index + 1, extra: extra)
        return token
      case UInt8(ascii: "\\"):
        hasEscape = true
        index = try escape(at: index, extra: extra).end
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        throw error("Unterminated string.", at: index, extra: extra)
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

  /// What the quoted string or block string `token` means (sections 2.10.4 "StringValue" and "BlockStringValue").
  func stringText(_ token: Token) throws(SyntaxError) -> String {
    if token.kind == .blockString { return blockStringText(token) }
    let range = (token.start + 1)..<(token.end - 1)
    guard token.hasEscape else { return String(decoding: bytes[range], as: UTF8.self) }
    var decoded: [UInt8] = []
    decoded.reserveCapacity(range.count)
    var index = range.lowerBound
    while index < range.upperBound {
      if bytes[index] == UInt8(ascii: "\\") {
        let (scalar, end) = try escape(at: index, extra: 0)
        decoded.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        index = end
      } else {
        decoded.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: decoded, as: UTF8.self)
  }

  /// The scalar an escape sequence means and the index after it.
  private func escape(at start: Int, extra: Int) throws(SyntaxError) -> (scalar: Unicode.Scalar, end: Int) {
    switch byte(start + 1) {
    case UInt8(ascii: "\""): return ("\"", start + 2)
    case UInt8(ascii: "\\"): return ("\\", start + 2)
    case UInt8(ascii: "/"): return ("/", start + 2)
    case UInt8(ascii: "b"): return ("\u{8}", start + 2)
    case UInt8(ascii: "f"): return ("\u{C}", start + 2)
    case UInt8(ascii: "n"): return ("\n", start + 2)
    case UInt8(ascii: "r"): return ("\r", start + 2)
    case UInt8(ascii: "t"): return ("\t", start + 2)
    case UInt8(ascii: "u"):
      return byte(start + 2) == UInt8(ascii: "{")
        ? try variableEscape(at: start, extra: extra) : try fixedEscape(at: start, extra: extra)
    default:
      let shown = String(decoding: bytes[start..<min(start + 2, bytes.count)], as: UTF8.self)
      throw error("Invalid character escape sequence: '\(shown)'.", at: start, extra: extra)
    }
  }

  /// `\u{1F600}`: any number of hexadecimal digits that name a scalar.
  private func variableEscape(at start: Int, extra: Int) throws(SyntaxError) -> (scalar: Unicode.Scalar, end: Int) {
    var index = start + 3
    var number: UInt32 = 0
    while let current = byte(index) {
      if current == UInt8(ascii: "}") {
        guard index > start + 3, let scalar = Unicode.Scalar(number) else { break }
        return (scalar, index + 1)
      }
      guard let digit = Self.hexadecimal(current), number <= 0x10FFFF else { break }
      number = number << 4 | digit
      index += 1
    }
    throw invalidUnicodeEscape(from: start, to: index + 1, extra: extra)
  }

  /// `\u00E9`, or two of them as a surrogate pair.
  private func fixedEscape(at start: Int, extra: Int) throws(SyntaxError) -> (scalar: Unicode.Scalar, end: Int) {
    guard let unit = codeUnit(at: start + 2) else {
      throw invalidUnicodeEscape(from: start, to: start + 6, extra: extra)
    }
    if let scalar = Unicode.Scalar(unit) { return (scalar, start + 6) }
    // Only a leading surrogate that its trailing half follows at once means a scalar.
    if unit < 0xDC00, byte(start + 6) == UInt8(ascii: "\\"), byte(start + 7) == UInt8(ascii: "u"),
      let trailing = codeUnit(at: start + 8), (0xDC00...0xDFFF).contains(trailing),
      let scalar = Unicode.Scalar(0x10000 + ((unit - 0xD800) << 10 | (trailing - 0xDC00)))
    {
      return (scalar, start + 12)
    }
    throw invalidUnicodeEscape(from: start, to: start + 6, extra: extra)
  }

  private func invalidUnicodeEscape(from start: Int, to end: Int, extra: Int) -> SyntaxError {
    let shown = String(decoding: bytes[start..<min(end, bytes.count)], as: UTF8.self)
    return error("Invalid Unicode escape sequence: '\(shown)'.", at: start, extra: extra)
  }

  private func codeUnit(at start: Int) -> UInt32? {
    var number: UInt32 = 0
    for index in start..<(start + 4) {
      guard let current = byte(index), let digit = Self.hexadecimal(current) else { return nil }
      number = number << 4 | digit
    }
    return number
  }

  private static func hexadecimal(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte &- UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte &- UInt8(ascii: "a") &+ 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte &- UInt8(ascii: "A") &+ 10)
    default: nil
    }
  }
}
