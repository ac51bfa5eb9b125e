/// A regular expression as a tree.
indirect enum PatternTree: Sendable {
  case scalar(UInt32)
  case set(ScalarSet)
  case sequence([PatternTree])
  case alternatives([PatternTree])
  /// Without a maximum: any number.
  case repeated(PatternTree, least: Int, most: Int?)
  case start
  case end
  case boundary(Bool)
}

/// Parses the text between the slashes.
struct PatternParser {
  private let scalars: [Unicode.Scalar]
  private let greatestDepth: Int
  private var index = 0
  private var depth = 0

  init(_ scalars: [Unicode.Scalar], greatestDepth: Int) {
    self.scalars = scalars
    self.greatestDepth = greatestDepth
  }

  mutating func parse() throws(PatternProblem) -> PatternTree {
    let tree = try alternatives()
    guard index == scalars.count else { throw problem("unexpected )") }
    return tree
  }

  private var current: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

  private func problem(_ message: String, at index: Int? = nil) -> PatternProblem {
    PatternProblem(message: message, index: index ?? self.index)
  }

  private mutating func take(_ text: String) -> Bool {
    guard scalars[index...].starts(with: text.unicodeScalars) else { return false }
    index += text.unicodeScalars.count
    return true
  }

  private mutating func alternatives() throws(PatternProblem) -> PatternTree {
    depth += 1
    defer { depth -= 1 }
    guard depth <= greatestDepth else {
      throw PatternProblem(
        message: "the regular expression is deeper than the limit expressionDepth (\(greatestDepth))",
        index: index, isLimit: true)
    }
    var branches = [try sequence()]
    while take("|") { branches.append(try sequence()) }
    return branches.count == 1 ? branches[0] : .alternatives(branches)
  }

  private mutating func sequence() throws(PatternProblem) -> PatternTree {
    var parts: [PatternTree] = []
    while let scalar = current, scalar != "|", scalar != ")" {
      let start = index
      var part = try atom()
      while let (least, most) = try repetition() {
        switch part {
        case .start, .end, .boundary: throw problem("nothing to repeat", at: start)
        case .scalar, .set, .sequence, .alternatives: break
        case .repeated: throw problem("nothing to repeat", at: index - 1)
        }
        part = .repeated(part, least: least, most: most)
        // The shortest match is a match like any other.
        _ = take("?")
      }
      parts.append(part)
    }
    return parts.count == 1 ? parts[0] : .sequence(parts)
  }

  private mutating func repetition() throws(PatternProblem) -> (Int, Int?)? {
    if take("*") { return (0, nil) }
    if take("+") { return (1, nil) }
    if take("?") { return (0, 1) }
    let start = index
    guard take("{"), let least = count() else {
      index = start
      return nil
    }
    var most: Int? = least
    if take(",") { most = count() }
    guard take("}") else {
      // A brace that begins no repetition stands for itself, as in JavaScript.
      index = start
      return nil
    }
    if let most, most < least { throw problem("the numbers in {\(least),\(most)} are out of order", at: start) }
    return (least, most)
  }

  private mutating func count() -> Int? {
    var value: Int?
    while let scalar = current, ("0"..."9").contains(scalar) {
      value = min((value ?? 0) * 10 + Int(scalar.value - 48), 1_000_000)
      index += 1
    }
    return value
  }

  private mutating func atom() throws(PatternProblem) -> PatternTree {
    let start = index
    guard let scalar = current else { throw problem("the regular expression ends too early") }
    index += 1
    switch scalar {
    case "^": return .start
    case "$": return .end
    case ".": return .set(.dot)
    case "*", "+", "?": throw problem("nothing to repeat", at: start)
    case "[": return .set(try set(from: start))
    case "(":
      if take("?"), !take(":") {
        throw problem("only groups ( ) and (?: ) are supported: others cannot be matched in linear time", at: start)
      }
      let tree = try alternatives()
      guard take(")") else { throw problem("a group has no end", at: start) }
      // A group is one thing to repeat, also when it holds an anchor.
      return .sequence([tree])
    case "\\": return try escape(at: start)
    default: return .scalar(scalar.value)
    }
  }

  private mutating func escape(at start: Int) throws(PatternProblem) -> PatternTree {
    if take("b") { return .boundary(true) }
    if take("B") { return .boundary(false) }
    if let scalar = current, ("1"..."9").contains(scalar) {
      throw problem("back references are not supported: they cannot be matched in linear time", at: start)
    }
    switch try member(at: start) {
    case .one(let value): return .scalar(value)
    case .many(let set): return .set(set)
    }
  }

  private enum Member {
    case one(UInt32)
    case many(ScalarSet)
  }

  /// What stands after a backslash, inside and outside of a set.
  private mutating func member(at start: Int) throws(PatternProblem) -> Member {
    guard let scalar = current else { throw problem("a backslash stands at the end", at: start) }
    index += 1
    switch scalar {
    case "d": return .many(.digit)
    case "D": return .many(ScalarSet.digit.inverted)
    case "w": return .many(.word)
    case "W": return .many(ScalarSet.word.inverted)
    case "s": return .many(.space)
    case "S": return .many(ScalarSet.space.inverted)
    case "n": return .one(10)
    case "r": return .one(13)
    case "t": return .one(9)
    case "f": return .one(12)
    case "v": return .one(11)
    case "0": return .one(0)
    case "x", "u":
      let count = scalar == "x" ? 2 : 4
      let digits = String(String.UnicodeScalarView(scalars[index..<min(index + count, scalars.count)]))
      guard digits.utf8.count == count, digits.utf8.first != UInt8(ascii: "+"), let value = UInt32(digits, radix: 16)
      else { throw problem("\\\(scalar) is followed by \(count) hexadecimal digits", at: start) }
      index += count
      return .one(value)
    default:
      if ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) {
        throw problem("the escape \\\(scalar) does not exist", at: start)
      }
      return .one(scalar.value)
    }
  }

  private mutating func set(from start: Int) throws(PatternProblem) -> ScalarSet {
    var set = ScalarSet(isNegated: take("^"))
    while !take("]") {
      let first = index
      let lower = try setMember(from: start)
      guard index + 1 < scalars.count, current == "-", scalars[index + 1] != "]" else {
        Self.add(lower, to: &set)
        continue
      }
      index += 1
      let upper = try setMember(from: start)
      guard case .one(let low) = lower, case .one(let high) = upper else {
        // `\d-x` holds the digits, the hyphen and x.
        Self.add(lower, to: &set)
        Self.add(.one(45), to: &set)
        Self.add(upper, to: &set)
        continue
      }
      guard low <= high else { throw problem("the range ends before it begins", at: first) }
      set.ranges.append(low...high)
    }
    return set
  }

  private mutating func setMember(from start: Int) throws(PatternProblem) -> Member {
    guard let scalar = current else { throw problem("a set has no end", at: start) }
    index += 1
    if scalar != "\\" { return .one(scalar.value) }
    if take("b") { return .one(8) }
    return try member(at: index - 1)
  }

  private static func add(_ member: Member, to set: inout ScalarSet) {
    switch member {
    case .one(let value): set.ranges.append(value...value)
    case .many(let many): set.ranges += many.positiveRanges
    }
  }
}
