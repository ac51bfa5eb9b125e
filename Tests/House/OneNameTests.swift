import Foundation
import Testing

/// One name for one concept: names that stood for something that has another name now do not come back.
@Suite struct OneNameTests {
  /// The cases of `Dialect`.
  private static func dialects() throws -> Set<String> {
    let text = try Repository.current.text("Sources/Vocabulary/Dialect.swift")
    return try #require(enums(in: text).first { $0.name == "Dialect" }).cases
  }

  /// The names that its cases had in other enums.
  private static let formerDialects: Set<String> = ["transportWS", "legacy", "legacyWS"]

  @Test func `only one enum lists the protocols of a WebSocket`() throws {
    let dialects = try Self.dialects().union(Self.formerDialects)
    var found: [String] = []
    for file in Repository.current.files(under: "Sources", extensions: ["swift"]) {
      for (name, cases) in Self.enums(in: file.text) where cases.intersection(dialects).count > 1 {
        found.append("\(file.path): \(name)")
      }
    }
    #expect(found == ["Sources/Vocabulary/Dialect.swift: Dialect"])
  }

  @Test func `code asks a dialect for a capability, and never whether it is a certain one`() throws {
    let dialects = try Self.dialects()
    #expect(dialects.count > 2)
    let expression = try NSRegularExpression(
      pattern: #"(?i)dialect\??\s*[!=]=\s*\.(\#(dialects.sorted().joined(separator: "|")))\b"#)
    // The URL means a WebSocket where the default dialect was changed.
    let allowed = ["Sources/GraphQLClient/Transports/HTTPTransport.swift"]
    for file in Repository.current.files(under: "Sources", extensions: ["swift"])
    where !allowed.contains(where: { file.path.hasPrefix($0) }) {
      for (number, line) in file.lines.enumerated() {
        let text = String(line)
        #expect(
          expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) == nil,
          "\(file.path):\(number + 1) compares a dialect; give `Dialect` a capability")
      }
    }
  }

  /// Names that are replaced, and by what.
  private static let replaced = [
    ("SubscriptionDialect", "Dialect"), ("WebSocketDialect", "Dialect"), ("WebSocketProtocol", "Dialect"),
    ("SubscriptionProtocol", "SubscriptionRoute"), ("SubscriptionsTransportWS", "GraphQLWS"), ("legacyWS", "graphqlWS"),
    ("WriteID", "WriteNumber"),
  ]

  @Test(arguments: replaced) func `a replaced name is used nowhere`(name: String, instead: String) throws {
    let expression = try NSRegularExpression(pattern: #"\b\#(name)\b"#)
    for folder in ["Sources", "Tests", "Examples"] {
      for file in Repository.current.files(under: folder, extensions: ["swift"])
      where !file.path.hasPrefix("Tests/House/") && !file.path.hasPrefix("Tests/Seeds/Scratch/") {
        let text = file.text
        let match = expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text))
        #expect(match == nil, "\(file.path) has \(name); its name is \(instead)")
      }
    }
  }

  /// Types of which a build has only one.
  private static let alternatives: Set<String> = ["SharedEnvironment"]

  @Test func `no two modules give one name to two types`() throws {
    let expression = try NSRegularExpression(
      pattern: #"(?m)^(?:@\S+ )*(?:[a-z]+ )*(?:class|struct|enum|protocol|actor|typealias) (\w+)"#)
    var homes: [String: Set<String>] = [:]
    for file in Repository.current.files(under: "Sources", extensions: ["swift"])
    where !file.path.contains("/Embedded/") {
      for match in expression.matches(in: file.text, range: NSRange(file.text.startIndex..., in: file.text)) {
        guard let name = Range(match.range(at: 1), in: file.text) else { continue }
        homes[String(file.text[name]), default: []].insert(file.path)
      }
    }
    #expect(homes["Dialect"]?.count == 1)
    for (name, files) in homes.sorted(by: { $0.key < $1.key })
    where files.count > 1 && !Self.alternatives.contains(name) {
      Issue.record("\(name) is declared in \(files.sorted().joined(separator: ", ")): name one for what it does there")
    }
  }

  /// The enums of a file with the names of their cases.
  static func enums(in text: String) -> [(name: String, cases: Set<String>)] {
    var found: [(name: String, indent: Int, cases: Set<String>)] = []
    var open: [Int] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let indent = line.prefix { $0 == " " }.count
      let words = line.split(separator: " ")
      while let last = open.last, indent <= found[last].indent, line.drop(while: { $0 == " " }).hasPrefix("}") {
        open.removeLast()
      }
      if let at = words.firstIndex(of: "enum"), at + 1 < words.count, line.hasSuffix("{"), !line.contains("//") {
        found.append((String(words[at + 1].prefix { $0.isLetter || $0.isNumber }), indent, []))
        open.append(found.count - 1)
      } else if let enumeration = open.last, words.first == "case", indent == found[enumeration].indent + 2 {
        // A pattern of a switch begins with a dot.
        let names = line.split(separator: "case ", maxSplits: 1).last ?? ""
        for name in names.split(separator: ",") {
          let name = name.drop { $0 == " " }.prefix { $0.isLetter || $0.isNumber }
          if !name.isEmpty { found[enumeration].cases.insert(String(name)) }
        }
      }
    }
    return found.map { ($0.name, $0.cases) }
  }

  @Test func `an enum's cases are found, and patterns of a switch are not`() {
    let text = """
      enum A: String {
        case one = "1", two
        /// case three
        case four(Int)
        var x: Int {
          switch self {
          case .one: 1
          default: 2
          }
        }
        enum B {
          case five
        }
      }
      """
    #expect(Self.enums(in: text).map(\.name) == ["A", "B"])
    #expect(Self.enums(in: text).map(\.cases) == [["one", "two", "four"], ["five"]])
  }
}
