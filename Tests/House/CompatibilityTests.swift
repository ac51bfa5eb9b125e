import Foundation
import Testing

/// The table of rows in `docs/COMPATIBILITY.md` is kept by hand; these hold it to the tests there are. (The table of
/// peers is written by the interoperation run.)
@Suite struct CompatibilityTests {
  /// How many rows the table below each heading has.
  private static let rows = [
    "Amplify API: subscriptions": 24, "Amplify DataStore: real time": 31, "Apollo iOS 2: subscriptions": 31,
    "Apollo iOS 1: subscriptions": 29,
    "Synced tree": 14,
  ]

  /// The cells of each row, by the heading above its table and its number.
  private static func table() throws -> [String: [String]] {
    var heading = ""
    var table: [String: [String]] = [:]
    for line in try Repository.current.text("docs/COMPATIBILITY.md").split(separator: "\n") {
      if line.hasPrefix("#") { heading = String(line.drop { $0 == "#" || $0 == " " }) }
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 3, rows[heading] != nil, let number = Int(cells[0]) else { continue }
      table["\(heading) \(number)"] = cells
    }
    return table
  }

  @Test func `every row is there, with words and a test`() throws {
    let table = try Self.table()
    for (part, count) in Self.rows {
      for number in 1...count {
        let name = "\(part) \(number)"
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
