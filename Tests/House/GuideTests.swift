import Foundation
import Testing

/// The guides are complete: each is found from the index, and everything a client can speak is in one.
@Suite struct GuideTests {
  private static let pages = Repository.current.files(under: "docs/guides", extensions: ["md"])

  @Test func `the index names every page, and README the index`() throws {
    let index = try Repository.current.text("docs/guides/README.md")
    for page in Self.pages where !page.path.hasSuffix("/README.md") {
      let name = page.path.split(separator: "/").last ?? ""
      #expect(index.contains("](\(name))"), "docs/guides/README.md has no link to \(name)")
    }
    #expect(try Repository.current.text("README.md").contains("](docs/guides/README.md)"))
  }

  @Test func `links between documents lead somewhere`() throws {
    let expression = try NSRegularExpression(pattern: #"\]\(([^)#:]+)(#[^)]*)?\)"#)
    var documents = Repository.current.files(under: "docs", extensions: ["md"])
    documents.append(Repository.File(path: "README.md", text: try Repository.current.text("README.md")))
    for document in documents {
      let folder = document.path.split(separator: "/").dropLast().joined(separator: "/")
      for match in expression.matches(in: document.text, range: NSRange(document.text.startIndex..., in: document.text))
      {
        guard let part = Range(match.range(at: 1), in: document.text) else { continue }
        let target = (folder.isEmpty ? "" : folder + "/") + document.text[part]
        #expect(Repository.current.exists(target), "\(document.path) links to \(document.text[part])")
      }
    }
  }

  @Test(arguments: ["WebSocketDialect", "SubscriptionMediaType"])
  func `a guide names every protocol a client can speak`(name: String) throws {
    let files = Repository.current.files(under: "Sources/GraphQLClient", extensions: ["swift"])
    let text = try #require(files.first { $0.text.contains("public enum \(name)") }).text
    let start = try #require(text.range(of: "public enum \(name)"))
    let end = try #require(text.range(of: "\n}", range: start.upperBound..<text.endIndex))
    let cases = text[start.upperBound..<end.lowerBound].split(separator: "\n").compactMap { line -> String? in
      guard line.hasPrefix("  case ") else { return nil }
      return String(line.dropFirst(7).prefix { $0.isLetter || $0.isNumber })
    }
    #expect(!cases.isEmpty)
    for name in cases {
      #expect(Self.pages.contains { $0.text.contains(".\(name)") }, "no guide says .\(name)")
    }
  }

  @Test func `a guide names every transport`() throws {
    let expression = try NSRegularExpression(pattern: #"public (?:final class|struct) (\w+Transport)\b"#)
    for folder in ["Sources/Martlet/Transports", "Sources/GraphQLClient/NetworkTransport"] {
      for file in Repository.current.files(under: folder, extensions: ["swift"]) {
        for match in expression.matches(in: file.text, range: NSRange(file.text.startIndex..., in: file.text)) {
          guard let part = Range(match.range(at: 1), in: file.text) else { continue }
          let name = file.text[part]
          #expect(Self.pages.contains { $0.text.contains(name) }, "no guide says \(name)")
        }
      }
    }
  }
}
