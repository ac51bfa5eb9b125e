import Foundation
import Testing

/// The public surface, written down: each addition or removal is a visible line in a change.
@Suite struct PublicSymbolTests {
  static let list = "docs/public-symbols.txt"

  /// The declarations of every module a product shows, in file order, one per line.
  static func declarations() -> [String] {
    var lines: [String] = []
    for file in Repository.current.files(under: "Sources", extensions: ["swift"]) {
      var found: [String] = []
      for line in file.lines {
        let text = line.trimmingCharacters(in: .whitespaces)
        guard text.hasPrefix("public ") || text.hasPrefix("@discardableResult public "),
          !text.hasPrefix("public import")
        else { continue }
        var declaration = text
        if let brace = declaration.range(of: " {") { declaration = String(declaration[..<brace.lowerBound]) }
        found.append("  " + declaration)
      }
      guard !found.isEmpty else { continue }
      lines.append(file.path)
      lines += found
    }
    return lines
  }

  @Test func `the public symbols are those written down`() throws {
    let now = Self.declarations().joined(separator: "\n") + "\n"
    let url = Repository.current.root.appendingPathComponent(Self.list)
    if ProcessInfo.processInfo.environment["MARTLET_WRITE_SYMBOLS"] != nil {
      try now.write(to: url, atomically: true, encoding: .utf8)
    }
    let written = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
    let (old, new) = (Set(written.split(separator: "\n")), Set(now.split(separator: "\n")))
    #expect(
      now == written,
      """
      The public surface changed. Added: \(new.subtracting(old).sorted().prefix(10)); \
      removed: \(old.subtracting(new).sorted().prefix(10)). If that is meant, write the list again: \
      MARTLET_WRITE_SYMBOLS=1 swift test --disable-xctest --filter PublicSymbolTests
      """)
  }
}
