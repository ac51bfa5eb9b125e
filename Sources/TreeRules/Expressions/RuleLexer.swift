struct RuleToken {
  enum Kind: Equatable {
    case end
    case name(String)
    case int(Int64)
    case double(Double)
    case string(String)
    case pattern(String, flags: String)
    /// An operator or a bracket.
    case mark(String)
  }

  var kind: Kind
  /// Indices into the source's scalars.
  var range: Range<Int>
}

/// Splits an expression into tokens. A slash begins a regular expression where a value is expected.
struct RuleLexer {
  let source: SourceText
  private var index = 0
  private var expectsValue = true

  private static let marks = [
    "===", "!==", "==", "!=", "<=", ">=", "&&", "||", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", "(", ")", "[",
    "]", ",", ".",
  ]

  init(_ source: SourceText) {
    self.source = source
  }

  private var current: Unicode.Scalar? { index < source.scalars.count ? source.scalars[index] : nil }

  private func problem(_ message: String, at index: Int) -> OffsetProblem {
    OffsetProblem(.syntax, message, at: source.offset(of: index))
  }

  mutating func next() throws(OffsetProblem) -> RuleToken {
    while let scalar = current, scalar == " " || ("\t"..."\r").contains(scalar) || scalar == "\u{A0}" { index += 1 }
    let start = index
    let kind = try kind()
    switch kind {
    case .mark(let mark): expectsValue = mark != ")" && mark != "]"
    case .end, .name, .int, .double, .string, .pattern: expectsValue = false
    }
    return RuleToken(kind: kind, range: start..<index)
  }

  private mutating func kind() throws(OffsetProblem) -> RuleToken.Kind {
    guard let scalar = current else { return .end }
    if Self.beginsName(scalar) { return .name(take { Self.beginsName($0) || Self.isDigit($0) }) }
    if Self.isDigit(scalar) { return try number() }
    if scalar == ".", index + 1 < source.scalars.count, Self.isDigit(source.scalars[index + 1]) { return try number() }
    if scalar == "'" || scalar == "\"" { return .string(try string(until: scalar)) }
    if scalar == "/", expectsValue { return try pattern() }
    for mark in Self.marks where source.scalars[index...].starts(with: mark.unicodeScalars) {
      index += mark.unicodeScalars.count
      return .mark(mark)
    }
    throw problem("unexpected \(quoted(scalar))", at: index)
  }

  static func beginsName(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "$" || scalar == "_" || ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
      || scalar.value > 0x7F && scalar.properties.isAlphabetic
  }

  static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

  private mutating func take(while condition: (Unicode.Scalar) -> Bool) -> String {
    let start = index
    while let scalar = current, condition(scalar) { index += 1 }
    return source.string(start..<index)
  }

  private mutating func number() throws(OffsetProblem) -> RuleToken.Kind {
    let start = index
    var isWhole = true
    _ = take(while: Self.isDigit)
    if current == "." {
      isWhole = false
      index += 1
      _ = take(while: Self.isDigit)
    }
    if current == "e" || current == "E" {
      isWhole = false
      index += 1
      if current == "+" || current == "-" { index += 1 }
      guard !take(while: Self.isDigit).isEmpty else { throw problem("an exponent has no digits", at: index) }
    }
    if let scalar = current, Self.beginsName(scalar) { throw problem("unexpected \(quoted(scalar))", at: index) }
    var text = source.string(start..<index)
    if isWhole, text.utf8.count > 1, text.utf8.first == UInt8(ascii: "0") {
      throw problem("a number begins with 0", at: start)
    }
    if isWhole, let value = Int64(text) { return .int(value) }
    // Swift reads neither "1." nor ".5".
    if text.utf8.first == UInt8(ascii: ".") { text = "0" + text }
    text = text.split(separator: ".", omittingEmptySubsequences: false).map { part in
      part.isEmpty || "eE".unicodeScalars.contains(part.unicodeScalars[part.startIndex]) ? "0" + part : String(part)
    }.joined(separator: ".")
    guard let value = Double(text), value.isFinite else { throw problem("the number is out of range", at: start) }
    return .double(value)
  }

  private mutating func string(until quote: Unicode.Scalar) throws(OffsetProblem) -> String {
    let start = index
    index += 1
    var text = ""
    while let scalar = current {
      index += 1
      if scalar == quote { return text }
      text.unicodeScalars.append(scalar == "\\" ? try escape() : scalar)
    }
    throw problem("a string has no end", at: start)
  }

  private mutating func escape() throws(OffsetProblem) -> Unicode.Scalar {
    let start = index - 1
    guard let scalar = current else { throw problem("a string has no end", at: start) }
    index += 1
    switch scalar {
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "b": return "\u{8}"
    case "f": return "\u{C}"
    case "v": return "\u{B}"
    case "0": return "\0"
    case "x", "u":
      let count = scalar == "x" ? 2 : 4
      let end = min(index + count, source.scalars.count)
      let digits = source.string(index..<end)
      guard digits.utf8.count == count, digits.utf8.first != UInt8(ascii: "+"), let value = UInt32(digits, radix: 16),
        let result = Unicode.Scalar(value)
      else { throw problem("\\\(scalar) is followed by \(count) hexadecimal digits of a character", at: start) }
      index = end
      return result
    default: return scalar
    }
  }

  private mutating func pattern() throws(OffsetProblem) -> RuleToken.Kind {
    let start = index
    var isInSet = false
    index += 1
    while let scalar = current, scalar != "/" || isInSet {
      if scalar == "\\" { index += 1 }
      if scalar == "[" { isInSet = true }
      if scalar == "]" { isInSet = false }
      index += 1
    }
    guard index < source.scalars.count else { throw problem("a regular expression has no end", at: start) }
    let text = source.string(start + 1..<index)
    index += 1
    let flags = take { Self.beginsName($0) || Self.isDigit($0) }
    guard !text.isEmpty else { throw problem("a regular expression is empty", at: start) }
    return .pattern(text, flags: flags)
  }
}
