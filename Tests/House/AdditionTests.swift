import Foundation
import Testing

/// What is easily forgotten when something is added, and what no compiler misses: "How to add" of docs/ARCHITECTURE.md.
@Suite struct AdditionTests {
  private static func matches(_ pattern: String, in text: String) throws -> [String] {
    let expression = try NSRegularExpression(pattern: pattern)
    return expression.matches(in: text, range: NSRange(text.startIndex..., in: text)).compactMap { match in
      Range(match.range(at: 1), in: text).map { String(text[$0]) }
    }
  }

  /// `/rooms/{name...}` as a guide writes it: `/rooms/NAME`.
  static func shown(_ pattern: String) -> String {
    guard let open = pattern.firstIndex(of: "{"), let close = pattern.firstIndex(of: "}") else { return pattern }
    let name = pattern[pattern.index(after: open)..<close].filter(\.isLetter).uppercased()
    return pattern[..<open] + name + pattern[pattern.index(after: close)...]
  }

  /// The patterns of paths in the rows of the server's endpoints.
  private static func servedPaths() throws -> Set<String> {
    var paths: Set<String> = []
    for file in Repository.current.files(under: "Sources/Server", extensions: ["swift"]) {
      let name = file.path.split(separator: "/").last ?? ""
      guard name.hasSuffix("Endpoint.swift") || name.hasSuffix("Endpoints.swift"), !name.hasPrefix("Server") else {
        continue
      }
      // A row's path is the argument of a call or the element of a list, and has a letter.
      paths.formUnion(try matches(#"[(\[ ]"(/\.?[a-z{][A-Za-z./{}]*)"(?!:)"#, in: file.text))
    }
    return paths
  }

  @Test func `every path that a server serves is in the guide's table`() throws {
    let guide = try Repository.current.text("docs/guides/serve.md")
    let paths = try Self.servedPaths()
    #expect(paths.isSuperset(of: ["/graphql", "/healthz", "/.ws", "/{path...}.json", "/channels/{id...}"]))
    // What the console's page loads is part of the console.
    for path in paths.sorted() where !path.hasPrefix("/console/") {
      #expect(guide.contains("`\(Self.shown(path))`"), "docs/guides/serve.md does not name \(Self.shown(path))")
    }
  }

  @Test func `no further store can be served where the server has paths of its own`() throws {
    let file = try Repository.current.text("Sources/Server/Node/ServerStore.swift")
    let list = try #require(try Self.matches(#"reserved = \[([^\]]*)\]"#, in: file).first)
    let reserved = Set(try Self.matches(#""(\w+)""#, in: list))
    // A store's own path has no dot at its start and no braces.
    let served = try Set(Self.servedPaths().compactMap { try Self.matches(#"^/([A-Za-z]+)"#, in: $0).first })
    #expect(served.isSuperset(of: ["graphql", "console", "channels"]))
    #expect(served.subtracting(reserved) == [], "ServerStore.init does not refuse these")
  }

  @Test func `every model directive is in the guide`() throws {
    let prelude = try Repository.current.text("Sources/ModelSDL/Prelude.swift")
    let guide = try Repository.current.text("docs/guides/models.md")
    let directives = try Self.matches(#"directive (@\w+)"#, in: prelude)
    #expect(directives.contains("@model"))
    for directive in directives {
      #expect(try !Self.matches("(\(directive))\\b", in: guide).isEmpty, "docs/guides/models.md lacks \(directive)")
    }
  }

  @Test func `every limit that can be set is read where the server enforces it or hands it on`() throws {
    let folder = "Sources/Server/Configuration/Limits/"
    let names = try Self.matches(#""[a-z]\w*\.(\w+)""#, in: Repository.current.text(folder + "LimitNames.swift"))
    #expect(names.contains("connections"))
    var words: Set<Substring> = []
    for file in Repository.current.files(under: "Sources/Server", extensions: ["swift"])
    where file.path != folder + "LimitNames.swift" {
      for member in file.text.split(separator: ".").dropFirst() {
        words.insert(member.prefix { $0.isLetter || $0.isNumber })
      }
    }
    #expect(names.filter { !words.contains($0[...]) } == [], "these limits are declared, and nothing reads them")
  }

  @Test func `a pattern is shown as guides write it`() {
    #expect(["/a", "/a/{id...}", "/{path...}.json"].map(Self.shown) == ["/a", "/a/ID", "/PATH.json"])
  }
}
