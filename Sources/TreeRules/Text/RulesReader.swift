/// One value of a rules file, with its offset.
indirect enum RulesElement {
  case object([(key: SourceText, value: RulesElement)], at: Int)
  case array([RulesElement], at: Int)
  case string(SourceText, at: Int)
  case bool(Bool, at: Int)
  case number(at: Int)
  case null(at: Int)

  var offset: Int {
    switch self {
    case .object(_, let offset), .array(_, let offset), .string(_, let offset), .bool(_, let offset),
      .number(let offset), .null(let offset):
      offset
    }
  }

  /// The kind of value, with its article.
  var kind: String {
    switch self {
    case .object: "an object"
    case .array: "an array"
    case .string: "a string"
    case .bool: "a boolean"
    case .number: "a number"
    case .null: "null"
    }
  }
}

/// Reads the JSON of a rules file. Comments (`//` and `/* */`) and line breaks inside strings are allowed, as in the
/// Realtime Database; a name may not stand twice in one object.
struct RulesReader {
  private let scalars: [Unicode.Scalar]
  private var index = 0
  private var depth = 0
  /// Objects and arrays inside one another: the levels of nodes, the outer object and a list of indexes.
  private let mostDepth: Int

  init(_ scalars: [Unicode.Scalar], limits: RuleLimits) {
    self.scalars = scalars
    mostDepth = limits.levels + 2
  }

  mutating func read() throws(OffsetProblem) -> RulesElement {
    if scalars.first == "\u{FEFF}" { index = 1 }
    let element = try value()
    try skip()
    guard index == scalars.count else { throw unexpected() }
    return element
  }

  private var current: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

  private func unexpected() -> OffsetProblem {
    guard let current else { return OffsetProblem(.syntax, "the file ends inside a value", at: index) }
    return OffsetProblem(.syntax, "unexpected \(quoted(current))", at: index)
  }

  private mutating func skip() throws(OffsetProblem) {
    while let scalar = current {
      switch scalar {
      case " ", "\t", "\n", "\r": index += 1
      case "/":
        let start = index
        let next = index + 1 < scalars.count ? scalars[index + 1] : nil
        if next == "/" {
          while let scalar = current, scalar != "\n" { index += 1 }
        } else if next == "*" {
          index += 2
          while index < scalars.count, !(scalars[index - 1] == "*" && scalars[index] == "/" && index > start + 2) {
            index += 1
          }
          guard index < scalars.count else { throw OffsetProblem(.syntax, "a comment has no end", at: start) }
          index += 1
        } else {
          throw unexpected()
        }
      default: return
      }
    }
  }

  private mutating func value() throws(OffsetProblem) -> RulesElement {
    try skip()
    let start = index
    switch current {
    case "{": return .object(try members(), at: start)
    case "[": return .array(try elements(), at: start)
    case "\"": return .string(try string(), at: start)
    case "-", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9":
      // Numbers are not allowed anywhere in a rule set, so that their value does not matter.
      while let scalar = current, "+-.eE0123456789".unicodeScalars.contains(scalar) { index += 1 }
      return .number(at: start)
    default:
      if take("true") { return .bool(true, at: start) }
      if take("false") { return .bool(false, at: start) }
      if take("null") { return .null(at: start) }
      throw unexpected()
    }
  }

  private mutating func take(_ word: String) -> Bool {
    let word = Array(word.unicodeScalars)
    guard scalars[index...].starts(with: word) else { return false }
    index += word.count
    return true
  }

  private mutating func enter() throws(OffsetProblem) {
    depth += 1
    index += 1
    guard depth <= mostDepth else {
      throw OffsetProblem(.limit, "the file has more levels than the limit levels (\(mostDepth - 2))", at: index - 1)
    }
  }

  private mutating func members() throws(OffsetProblem) -> [(key: SourceText, value: RulesElement)] {
    var (members, names): ([(key: SourceText, value: RulesElement)], Set<[Unicode.Scalar]>) = ([], [])
    try enter()
    while true {
      try skip()
      if current == "}", members.isEmpty { break }
      guard current == "\"" else { throw unexpected() }
      let key = try string()
      guard names.insert(key.scalars).inserted else {
        throw OffsetProblem(.structure, "\(quoted(key.string)) stands here a second time", at: key.offset(of: 0))
      }
      try skip()
      guard current == ":" else { throw unexpected() }
      index += 1
      members.append((key, try value()))
      try skip()
      if current == "," { index += 1 } else { break }
    }
    guard current == "}" else { throw unexpected() }
    index += 1
    depth -= 1
    return members
  }

  private mutating func elements() throws(OffsetProblem) -> [RulesElement] {
    var elements: [RulesElement] = []
    try enter()
    while true {
      try skip()
      if current == "]", elements.isEmpty { break }
      elements.append(try value())
      try skip()
      if current == "," { index += 1 } else { break }
    }
    guard current == "]" else { throw unexpected() }
    index += 1
    depth -= 1
    return elements
  }

  private mutating func string() throws(OffsetProblem) -> SourceText {
    let start = index
    index += 1
    var text = SourceText(at: index)
    while let scalar = current {
      let offset = index
      index += 1
      switch scalar {
      case "\"":
        text.end = offset
        return text
      case "\\": text.append(try escape(at: offset), at: offset)
      default: text.append(scalar, at: offset)
      }
    }
    throw OffsetProblem(.syntax, "a string has no end", at: start)
  }

  private mutating func escape(at offset: Int) throws(OffsetProblem) -> Unicode.Scalar {
    guard let scalar = current else { throw unexpected() }
    index += 1
    switch scalar {
    case "\"", "\\", "/": return scalar
    case "b": return "\u{8}"
    case "f": return "\u{C}"
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "u":
      let first = try unit(at: offset)
      if let scalar = Unicode.Scalar(first) { return scalar }
      // A pair of surrogates is one scalar.
      if (0xD800..<0xDC00).contains(first), take("\\u") {
        let second = try unit(at: offset)
        let value = 0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) &- 0xDC00)
        if (0xDC00..<0xE000).contains(second), let scalar = Unicode.Scalar(value) { return scalar }
      }
      throw OffsetProblem(.syntax, "half of a surrogate pair", at: offset)
    default: throw OffsetProblem(.syntax, "the escape \\\(scalar) does not exist in JSON", at: offset)
    }
  }

  private mutating func unit(at offset: Int) throws(OffsetProblem) -> UInt16 {
    let digits = SourceText.string(scalars[index..<min(index + 4, scalars.count)])
    guard digits.utf8.count == 4, let unit = UInt16(digits, radix: 16), digits.utf8.first != UInt8(ascii: "+") else {
      throw OffsetProblem(.syntax, "\\u is followed by four hexadecimal digits", at: offset)
    }
    index += 4
    return unit
  }
}

/// A piece of source between quotes, control characters by number.
func quoted(_ text: String) -> String { "\"\(text)\"" }

func quoted(_ scalar: Unicode.Scalar) -> String {
  scalar.value < 0x20 || scalar.value == 0x7F ? "the character U+\(hexadecimal(scalar.value))" : "\"\(scalar)\""
}

private func hexadecimal(_ value: UInt32) -> String {
  let digits = String(value, radix: 16, uppercase: true)
  return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
}
