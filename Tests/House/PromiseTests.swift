import Foundation
import Testing

/// `docs/PROMISES.md` names a test for each promise; this holds the table to the tests there are.
@Suite struct PromiseTests {
  private static let table = "docs/PROMISES.md"

  /// Names of tests under Tests, from their declarations.
  private static func testNames() throws -> Set<String> {
    let expression = try NSRegularExpression(pattern: "func `([^`]+)`")
    var names: Set<String> = []
    for file in Repository.current.files(under: "Tests", extensions: ["swift"]) {
      let range = NSRange(file.text.startIndex..., in: file.text)
      for match in expression.matches(in: file.text, range: range) {
        if let name = Range(match.range(at: 1), in: file.text) { names.insert(String(file.text[name])) }
      }
    }
    return names
  }

  /// Rows as (promise, tests named in back quotes).
  private static func rows() throws -> [(promise: String, tests: [String])] {
    try Repository.current.text(table).split(separator: "\n").compactMap { line in
      guard line.hasPrefix("| P") else { return nil }
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count >= 3 else { return nil }
      let quoted = cells[2].split(separator: "`", omittingEmptySubsequences: false).enumerated()
      return (cells[0], quoted.filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) })
    }
  }

  @Test func `every test the promise table names exists`() throws {
    let names = try Self.testNames()
    for row in try Self.rows() {
      for test in row.tests { #expect(names.contains(test), "\(row.promise): \(test)") }
    }
  }

  @Test func `every promise has a row, and those that are made have a test`() throws {
    let rows = try Self.rows()
    #expect(rows.map(\.promise) == (1...19).map { "P\($0)" })
    let made = ["P1", "P2", "P3", "P4", "P5", "P7", "P9", "P16", "P17", "P18", "P19"]
    for row in rows where made.contains(row.promise) { #expect(!row.tests.isEmpty, "\(row.promise)") }
  }
}
