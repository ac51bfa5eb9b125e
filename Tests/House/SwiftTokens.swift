/// The words and punctuation of a Swift file, without comments and without the text of string literals. Code in an
/// interpolation counts.
///
/// It is a scanner for questions about names, not a compiler: regular expression literals are read as code.
struct SwiftTokens {
  enum Token: Equatable {
    case word(String)
    case symbol(UInt8)

    var word: String? {
      if case .word(let text) = self { text } else { nil }
    }
  }

  struct Place {
    let token: Token
    /// Number of the line, from 1.
    let line: Int
    /// Spaces before the first token of the line.
    let indentation: Int
    /// Whether the innermost open bracket is a parenthesis.
    let isInParentheses: Bool
  }

  private(set) var places: [Place] = []
  private let bytes: [UInt8]
  private var index = 0
  private var line = 1
  private var indentation = 0
  private var brackets: [UInt8] = []

  init(_ text: String) {
    bytes = Array(text.utf8)
    noteIndentation()
    code(untilInterpolationEnds: false)
  }

  private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

  private func byte(_ offset: Int) -> UInt8? { index + offset < bytes.count ? bytes[index + offset] : nil }

  private mutating func noteIndentation() {
    var end = index
    while end < bytes.count, bytes[end] == UInt8(ascii: " ") { end += 1 }
    indentation = end - index
  }

  private mutating func newline() {
    index += 1
    line += 1
    noteIndentation()
  }

  private mutating func code(untilInterpolationEnds: Bool) {
    let depth = brackets.count
    while let byte = current {
      switch byte {
      case UInt8(ascii: "\n"): newline()
      // A name between backticks is the name.
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "`"): index += 1
      case UInt8(ascii: "/") where self.byte(1) == UInt8(ascii: "/"): skipLine()
      case UInt8(ascii: "/") where self.byte(1) == UInt8(ascii: "*"): skipBlock()
      case UInt8(ascii: "\""): string(hashes: 0)
      case UInt8(ascii: "#"):
        var hashes = 0
        while self.byte(hashes) == UInt8(ascii: "#") { hashes += 1 }
        if self.byte(hashes) == UInt8(ascii: "\"") {
          index += hashes
          string(hashes: hashes)
        } else {
          index += 1
        }
      case _ where Self.isWordPart(byte): word()
      default:
        switch byte {
        case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): brackets.append(byte)
        case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
          if untilInterpolationEnds, brackets.count == depth {
            index += 1
            return
          }
          if !brackets.isEmpty { brackets.removeLast() }
        default: break
        }
        append(.symbol(byte))
        index += 1
      }
    }
  }

  private mutating func append(_ token: Token) {
    places.append(
      Place(
        token: token, line: line, indentation: indentation,
        isInParentheses: brackets.last == UInt8(ascii: "(")))
  }

  private mutating func word() {
    let start = index
    while let byte = current, Self.isWordPart(byte) { index += 1 }
    let end = index
    index = start
    append(.word(String(decoding: bytes[start..<end], as: UTF8.self)))
    index = end
  }

  private mutating func skipLine() {
    while let byte = current, byte != UInt8(ascii: "\n") { index += 1 }
  }

  private mutating func skipBlock() {
    index += 2
    while let byte = current, !(byte == UInt8(ascii: "*") && self.byte(1) == UInt8(ascii: "/")) {
      if byte == UInt8(ascii: "\n") { newline() } else { index += 1 }
    }
    index += 2
  }

  /// A literal whose first quote is the current byte.
  private mutating func string(hashes: Int) {
    let quotes = byte(1) == UInt8(ascii: "\"") && byte(2) == UInt8(ascii: "\"") ? 3 : 1
    index += quotes
    while let byte = current {
      if byte == UInt8(ascii: "\\"), (0..<hashes).allSatisfy({ self.byte(1 + $0) == UInt8(ascii: "#") }) {
        index += 1 + hashes
        if current == UInt8(ascii: "(") {
          index += 1
          code(untilInterpolationEnds: true)
        } else {
          index += 1
        }
      } else if byte == UInt8(ascii: "\""),
        (0..<quotes).allSatisfy({ self.byte($0) == UInt8(ascii: "\"") }),
        (0..<hashes).allSatisfy({ self.byte(quotes + $0) == UInt8(ascii: "#") })
      {
        index += quotes + hashes
        return
      } else if byte == UInt8(ascii: "\n") {
        // A literal on one line that does not end there is not one.
        if quotes == 1 { return }
        newline()
      } else {
        index += 1
      }
    }
  }

  private static func isWordPart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
