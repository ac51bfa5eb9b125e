import MartletGraphQLDocuments
import Testing

@Suite struct `Strings in documents` {
  private func text(_ source: String) throws -> String? {
    try Parser.parseConstantValue(source).stringText
  }

  @Test(arguments: [
    (#""""#, ""), (#""simple""#, "simple"), (#""quote \" slash \\ \/""#, "quote \" slash \\ /"),
    (#""\b\f\n\r\t""#, "\u{8}\u{C}\n\r\t"), (#""\u00e9\u{1F600}\u{0041}\u{00000042}""#, "é😀AB"),
    (#""\uD83D\uDE00""#, "😀"), ("\"é 😀\"", "é 😀"),
  ])
  func `mean what their escapes say`(source: String, expected: String) throws {
    #expect(try text(source) == expected)
  }

  @Test(arguments: [
    (["\"\"\"\"\"\""], ""), (["\"\"\"one\"\"\""], "one"),
    (
      ["\"\"\"", "    Hello,", "      World!", "", "    Yours,", "      GraphQL.", "\"\"\""],
      "Hello,\n  World!\n\nYours,\n  GraphQL."
    ),
    (["\"\"\"  first keeps its spaces", "    second", "   third \"\"\""], "  first keeps its spaces\n second\nthird "),
    (["\"\"\"", "", "  ", "  a", "  ", "", "\"\"\""], "a"), (["\"\"\" \\\"\"\" \\n \"\"\""], " \"\"\" \\n "),
    (["\"\"\"", "\ttab", "\t\ttwo", "\"\"\""], "tab\n\ttwo"),
  ])
  func `in blocks lose their common indentation`(lines: [String], expected: String) throws {
    for separator in ["\n", "\r\n", "\r"] {
      #expect(try text(lines.joined(separator: separator)) == expected)
    }
  }

  @Test(arguments: [
    ("\"a", "Unterminated string. 1:3"), ("\"a\n\"", "Unterminated string. 1:3"),
    ("\"\"\"a", "Unterminated string. 1:5"), ("\"\"\"a\n  b", "Unterminated string. 2:4"),
    (#""\x""#, #"Invalid character escape sequence: '\x'. 1:2"#),
    (#""\u12""#, #"Invalid Unicode escape sequence: '\u12"'. 1:2"#),
    (#""\uD83D""#, #"Invalid Unicode escape sequence: '\uD83D'. 1:2"#),
    (#""\uD83D\u0041""#, #"Invalid Unicode escape sequence: '\uD83D'. 1:2"#),
    (#""\uDE00\uD83D""#, #"Invalid Unicode escape sequence: '\uDE00'. 1:2"#),
    (#""\u{}""#, #"Invalid Unicode escape sequence: '\u{}'. 1:2"#),
    (#""\u{D800}""#, #"Invalid Unicode escape sequence: '\u{D800}'. 1:2"#),
    (#""\u{110000}""#, #"Invalid Unicode escape sequence: '\u{110000}'. 1:2"#),
    (#""\u{FFFFFFFFFFFF}""#, #"Invalid Unicode escape sequence: '\u{FFFFFFF'. 1:2"#),
    ("\"é\\x\"", "Invalid character escape sequence: '\\x'. 1:3"),
  ])
  func `are refused where they go wrong`(source: String, expected: String) {
    do {
      _ = try Parser.parseConstantValue(source)
      Issue.record("\(source) was taken")
    } catch {
      #expect("\(error.message) \(error.location)" == expected)
    }
  }

  @Test(
    arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82], [0x80]] as [[UInt8]])
  func `must be UTF-8`(bytes: [UInt8]) {
    for (open, close) in [("{a(b:\"", "\")}"), ("{a(b:\"\"\"", "\"\"\")}"), ("{a #", "\n}")] {
      let source = Array(open.utf8) + bytes + Array(close.utf8)
      do {
        _ = try Parser.parse(source)
        Issue.record("\(bytes) was taken")
      } catch {
        #expect(error.message == "Invalid UTF-8.")
        #expect(error.location.offset == open.utf8.count)
      }
    }
  }
}
