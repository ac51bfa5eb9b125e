import Foundation
import Testing

/// Comments and test names in plain English: facts in the field's words, for a first reading at night.
@Suite struct LanguageTests {
  struct Phrase {
    let pattern: String
    let instead: String
  }

  /// The worst phrases of earlier comments, in small or capital letters. CONTRIBUTING.md has the glossary.
  static let phrases: [Phrase] = [
    Phrase(pattern: #"\bwhoever\b"#, instead: "the client, the caller, the subscriber"),
    Phrase(pattern: #"\b(no|any|every)body\b|\beveryone\b"#, instead: "no client, any client, all clients"),
    Phrase(pattern: #"\bhears?\b|\bheard\b"#, instead: "receives, is called with"),
    Phrase(pattern: #"\btells?\b|\btold\b"#, instead: "returns, reports, notifies"),
    Phrase(pattern: #"\blet in\b"#, instead: "accepted, admitted"),
    Phrase(pattern: #"\b(go(es)?|went|going) on\b"#, instead: "continues, resumes"),
    Phrase(pattern: #"\bbegins? anew\b"#, instead: "restarts"),
    Phrase(
      pattern: #"(?<!there )\b(is|are|was|were) no (?!(longer|more|less|later|earlier|older|other|better)\b)\w+"#,
      instead: "is not a …"),
    Phrase(pattern: #"\bany more\b"#, instead: "no longer"),
    Phrase(pattern: #"\bits life\b"#, instead: "its state, its lifetime"),
  ]

  /// One search finds that a line has any of them; only then each is looked for.
  private struct Search {
    let any: NSRegularExpression
    let each: [(phrase: Phrase, expression: NSRegularExpression)]

    init() throws {
      any = try NSRegularExpression(
        pattern: LanguageTests.phrases.map(\.pattern).joined(separator: "|"), options: .caseInsensitive)
      each = try LanguageTests.phrases.map {
        ($0, try NSRegularExpression(pattern: $0.pattern, options: .caseInsensitive))
      }
    }

    func phrases(in text: String) -> [Phrase] {
      let range = NSRange(text.startIndex..., in: text)
      guard any.firstMatch(in: text, range: range) != nil else { return [] }
      return each.filter { $0.expression.firstMatch(in: text, range: range) != nil }.map(\.phrase)
    }
  }

  /// Lines with such a phrase that were left, by folder. A number may fall and never rise.
  static let left: [String: Int] = [:]

  @Test func `comments and test names do not fall back into the phrases of the glossary`() throws {
    var found: [String: [String]] = [:]
    let search = try Search()
    for folder in ["Sources", "Tests", "Examples", "Fuzz", "Benchmarks"] {
      for file in Repository.current.files(under: folder, extensions: ["swift", "c", "h"])
      where file.path != "Tests/House/LanguageTests.swift" && !file.path.hasPrefix("Tests/Seeds/")
        && !file.path.contains("/Golden/") && !file.path.contains("/Embedded/")
      {
        let place = file.path.split(separator: "/").prefix(2).joined(separator: "/")
        var isInComment = false
        for (number, line) in file.lines.enumerated() {
          guard let text = Self.prose(of: line, isInComment: &isInComment) else { continue }
          for phrase in search.phrases(in: text) {
            found[place, default: []].append("\(file.path):\(number + 1): write \(phrase.instead)")
          }
        }
      }
    }
    for (place, lines) in found.sorted(by: { $0.key < $1.key }) {
      let allowed = Self.left[place] ?? 0
      #expect(lines.count <= allowed, "\(place): \(lines.count), allowed \(allowed):\n\(lines.joined(separator: "\n"))")
    }
    for (place, allowed) in Self.left {
      #expect((found[place]?.count ?? 0) == allowed, "\(place) has fewer now: lower its number in `left`")
    }
  }

  @Test func `messages and help do not fall back into them either`() throws {
    let search = try Search()
    for folder in ["Sources", "Examples"] {
      for file in Repository.current.files(under: folder, extensions: ["swift"]) {
        var isInBlock = false
        for (number, line) in file.lines.enumerated() {
          let text = Self.literals(of: line, isInBlock: &isInBlock)
          guard !text.isEmpty else { continue }
          for phrase in search.phrases(in: text) {
            Issue.record("\(file.path):\(number + 1): write \(phrase.instead)")
          }
        }
      }
    }
  }

  @Test func `documents do not fall back into them either`() throws {
    let search = try Search()
    var documents = ["docs", "Examples", "Benchmarks", "Sources", "Conformance", "Fuzz", "Simulation"]
      .flatMap { Repository.current.files(under: $0, extensions: ["md"]) }
    for name in ["README.md", "CHANGELOG.md"] {
      documents.append(Repository.File(path: name, text: try Repository.current.text(name)))
    }
    // Names of tests and of the programs of others are as they are.
    for document in documents where !["docs/PROMISES.md"].contains(document.path) {
      for (number, line) in document.lines.enumerated() {
        let text = line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
          .filter { $0.offset.isMultiple(of: 2) }.map { String($0.element) }.joined(separator: " ")
        for phrase in search.phrases(in: text) {
          Issue.record("\(document.path):\(number + 1): write \(phrase.instead)")
        }
      }
    }
  }

  @Test func `comments of scripts and texts of settings do not fall back into them either`() throws {
    let search = try Search()
    var files = ["Benchmarks", "Conformance", "Fuzz", "Interoperation", "Packaging", "Simulation", "Tests"]
      .flatMap { Repository.current.files(under: $0, extensions: ["py", "sh", "yml", "service", ""]) }
    files += Repository.current.files(under: "Scripts", extensions: ["py", ""])
    #expect(files.contains { $0.path == "Packaging/alerts.yml" } && files.contains { $0.path == "Benchmarks/run" })
    for file in files {
      var isInText = false
      for (number, line) in file.lines.enumerated() {
        guard let text = Self.remark(of: line, isInText: &isInText) else { continue }
        for phrase in search.phrases(in: text) {
          Issue.record("\(file.path):\(number + 1): write \(phrase.instead)")
        }
      }
    }
  }

  /// The comment of a line of a script, its part of a text between three quotes, or what a setting shows to people.
  private static func remark(of line: Substring, isInText: inout Bool) -> String? {
    let marks = line.matches(of: /"""/).count
    if isInText || marks > 0 {
      isInText = marks == 1 ? !isInText : isInText
      return String(line)
    }
    let text = line.drop { $0 == " " }
    if text.hasPrefix("#") || text.hasPrefix("summary:") || text.hasPrefix("description:") { return String(text) }
    return text.range(of: "  # ").map { String(text[$0.upperBound...]) }
  }

  @Test func `no comment is wider than 120 columns`() {
    for folder in ["Sources", "Tests", "Examples"] {
      for file in Repository.current.files(under: folder, extensions: ["swift"])
      where !file.path.hasPrefix("Tests/Seeds/Scratch/") {
        for (number, line) in file.lines.enumerated()
        where line.count > 120 && line.drop(while: { $0 == " " }).hasPrefix("//") {
          // A table, an address and code cannot be wrapped.
          if line.contains("| ") || line.contains("://") || line.contains("///     ") { continue }
          Issue.record("\(file.path):\(number + 1) has \(line.count) columns")
        }
      }
    }
  }

  /// The text in a line's literals; of a literal of several lines, each of its lines.
  private static func literals(of line: Substring, isInBlock: inout Bool) -> String {
    guard line.utf8.contains(UInt8(ascii: "\"")) else { return isInBlock ? String(line) : "" }
    if line.contains("\"\"\"") {
      isInBlock.toggle()
      return ""
    }
    if isInBlock { return String(line) }
    if line.drop(while: { $0 == " " }).hasPrefix("//") { return "" }
    // Code inside a literal is not text.
    let plain = line.utf8.contains(UInt8(ascii: "\\")) ? Self.withoutCode(line) : line
    return plain.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
      .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }.joined(separator: " ")
  }

  private static func withoutCode(_ line: Substring) -> Substring {
    line.replacing("\\\"", with: "'").replacing(/\\\((?:[^()]|\([^()]*\))*\)/, with: "")
  }

  /// What a line says to a reader: its comment, wherever it begins, and the name of the test it declares.
  private static func prose(of line: Substring, isInComment: inout Bool) -> String? {
    let text = line.drop { $0 == " " }
    if isInComment || text.hasPrefix("/*") {
      isInComment = !text.contains("*/")
      return String(text)
    }
    if text.hasPrefix("//") { return String(text) }
    var found = ""
    if let name = text.range(of: "func `") {
      found += text[name.upperBound...].prefix { $0 != "`" }
    } else if text.hasPrefix("@Test(\"") || text.hasPrefix("@Suite(\"") {
      found += text
    }
    // Two slashes inside a literal are an address.
    if let comment = text.range(of: " //"), text[..<comment.lowerBound].count(where: { $0 == "\"" }).isMultiple(of: 2) {
      found += text[comment.lowerBound...]
    }
    return found.isEmpty ? nil : found
  }

  @Test(arguments: [
    ("let x = 1 // nobody", true), ("  /* Told so. */", true), ("/// Hears it.", true), ("@Test(\"it goes on\")", true),
    ("func `tells`() {", true), ("let tell = \"http://told\"", false), ("/// There is no other way.", false),
    ("// The answer is no JSON.", true), ("// It is no longer there.", false), ("// Everyone.", true),
  ])
  func `a phrase is found at the end of a line, in a name, in capitals and in another comment`(
    line: String, isFound: Bool
  ) throws {
    var isInComment = false
    let text = Self.prose(of: line[...], isInComment: &isInComment)
    #expect(try (text.map { try Search().phrases(in: $0) } ?? []).isEmpty != isFound)
  }
}
