import Foundation
import Testing

/// The table of rows in `docs/COMPATIBILITY.md` is kept by hand; these hold it to the tests there are. (The table of
/// peers is written by the interoperation run.)
@Suite struct CompatibilityTests {
  /// How many rows each part of the list has.
  private static let rows = ["000": 24, "003": 31, "004": 29]

  /// The cells of each row, by its number.
  private static func table() throws -> [String: [String]] {
    let expression = try NSRegularExpression(pattern: #"^(00[034]-\d\d)$"#)
    var table: [String: [String]] = [:]
    for line in try Repository.current.text("docs/COMPATIBILITY.md").split(separator: "\n") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 3 else { continue }
      let range = NSRange(cells[0].startIndex..., in: cells[0])
      if expression.firstMatch(in: cells[0], range: range) != nil { table[cells[0]] = cells }
    }
    return table
  }

  @Test func `every row is there, with words and a test`() throws {
    let table = try Self.table()
    for (part, count) in Self.rows {
      for number in 1...count {
        let name = part + (number < 10 ? "-0\(number)" : "-\(number)")
        let cells = try #require(table[name], "docs/COMPATIBILITY.md has no row \(name)")
        #expect(!cells[1].isEmpty, "\(name)")
        #expect(cells[2].hasPrefix("`") || cells[2] == "not applicable" || cells[2] == "none yet", "\(name)")
      }
    }
    #expect(table.count == Self.rows.values.reduce(0, +))
  }

  @Test func `every test that a row names exists`() throws {
    let names = Set(try Repository.current.testNames())
    for (row, cells) in try Self.table() {
      for name in cells[2].split(separator: "`").enumerated().filter({ $0.offset.isMultiple(of: 2) }).map(\.element)
      where cells[2].hasPrefix("`") && name != "<br>" {
        #expect(names.contains(String(name)), "row \(row) names the test '\(name)'")
      }
    }
  }
}
