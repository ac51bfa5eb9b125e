import Foundation
import Testing

/// Declarations that nothing uses are dead: they are read, kept and translated for nothing.
///
/// The look is textual. A name that occurs once in all of Sources, where it is declared, is unused there.
@Suite struct UnusedTests {
  /// Names that are used from outside of Sources, each with its user.
  static let used: [String: String] = [
    "MartletMain": "the entry point of the command", "LabMain": "the entry point of the tool for measurements",
    "GenerateTool": "the entry point of the plugin's tool", "callAsFunction": "called by the language",
  ]

  /// Modules whose users are being built: what a later part will call is not dead yet.
  static let unfinished: Set<String> = ["JSONTree", "TreeWire", "Tokens"]

  @Test func `every name that is declared in Sources is used there or by a test`() {
    let sources = Repository.current.files(under: "Sources", extensions: ["swift"])
    var others: [Repository.File] = []
    for folder in ["Tests", "Examples", "Fuzz", "Plugins"] {
      others += Repository.current.files(under: folder, extensions: ["swift"])
    }
    let native = Repository.current.files(under: "Sources", extensions: ["c", "h"])
    let elsewhere = Set((others + native).flatMap { Self.words(in: $0.text) })
    for unused in Self.unused(in: sources) where !elsewhere.contains(unused.name) && Self.used[unused.name] == nil {
      let module = unused.place.split(separator: "/").dropFirst().first.map(String.init) ?? ""
      guard !Self.unfinished.contains(module) else { continue }
      Issue.record("\(unused.place) declares \(unused.name), which nothing uses: remove it")
    }
  }

  @Test func `a name is unused when it occurs where it is declared and nowhere else`() {
    let one = Repository.File(
      path: "Sources/M/A.swift",
      text: "package struct Used {\n  // alone\n  let alone = 1\n  public func shown() {}\n  func `import`() {}\n}\n")
    let two = Repository.File(path: "Sources/M/B.swift", text: "private let it = Used()\nprint(it)\n")
    #expect(Self.unused(in: [one, two]).map(\.name) == ["alone", "import"])
  }

  struct Unused {
    let name: String
    let place: String
  }

  /// Declarations that are not public, of names that occur once.
  static func unused(in files: [Repository.File]) -> [Unused] {
    var counts: [String: Int] = [:]
    for file in files {
      for word in words(in: file.text) { counts[word, default: 0] += 1 }
    }
    var found: [Unused] = []
    for file in files {
      for (number, line) in file.lines.enumerated() {
        guard let name = declared(in: line), counts[name] == 1 else { continue }
        found.append(Unused(name: name, place: "\(file.path):\(number + 1)"))
      }
    }
    return found
  }

  private static let kinds: Set<Substring> = [
    "func", "var", "let", "struct", "class", "enum", "actor", "protocol", "typealias",
  ]
  /// What may stand before the kind; a public declaration is its users' affair, an overriding one its parent's.
  private static let modifiers: Set<Substring> = [
    "package", "internal", "private", "fileprivate", "static", "final", "mutating", "nonmutating", "lazy", "weak",
    "unowned", "indirect", "consuming", "borrowing", "nonisolated", "private(set)", "internal(set)", "fileprivate(set)",
    "package(set)",
  ]

  /// The name that a line declares.
  private static func declared(in line: Substring) -> String? {
    for word in line.split(separator: " ") {
      if word.hasPrefix("@") || modifiers.contains(word) { continue }
      guard kinds.contains(word), let end = line.range(of: "\(word) ") else { return nil }
      let rest = line[end.upperBound...].drop { $0 == "`" }
      let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
      return name.isEmpty ? nil : String(name)
    }
    return nil
  }

  /// The words of a file outside of comments that fill a line.
  private static func words(in text: String) -> [String] {
    var words: [String] = []
    var word: [UInt8] = []
    for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
      let code = line.drop { $0 == UInt8(ascii: " ") }
      if code.starts(with: "//".utf8) { continue }
      for byte in code {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
          word.append(byte)
        default:
          if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
          word.removeAll(keepingCapacity: true)
        }
      }
      if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
      word.removeAll(keepingCapacity: true)
    }
    return words
  }
}
