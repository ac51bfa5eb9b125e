import Foundation

/// The table under "Names" in docs/COMPATIBILITY.md: it is the only source of renames, here and for people.
struct RenameTable {
  struct Row: Sendable {
    let from: [String]
    let to: String
    /// Why the row stands there although no sample has its names.
    let note: String
  }

  struct Malformed: Error, CustomStringConvertible {
    let description: String
  }

  let rows: [Row]
  /// Identifiers, whole words only.
  let names: [String: String]
  /// Modules, in import lines only.
  let modules: [String: String]

  /// The table as it stands.
  static func current() throws -> RenameTable {
    try RenameTable(
      String(contentsOf: SeedFolder.root.appendingPathComponent("docs/COMPATIBILITY.md"), encoding: .utf8))
  }

  init(_ document: String) throws {
    let lines = document.split(separator: "\n", omittingEmptySubsequences: false)
    guard let heading = lines.firstIndex(of: "## Names") else { throw Malformed(description: "no section \"Names\"") }
    let section = lines[(heading + 1)...].prefix { !$0.hasPrefix("## ") }
    rows = try section.filter { $0.hasPrefix("|") }.dropFirst(2).map(Self.row)
    var (names, modules) = ([String: String](), [String: String]())
    for row in rows {
      for from in row.from {
        let (source, target) = (Self.module(from), Self.module(row.to))
        guard (source == nil) == (target == nil) else {
          throw Malformed(description: "\(from) and \(row.to) are not both names or both imports")
        }
        let old =
          source.map { modules.updateValue(target ?? "", forKey: $0) } ?? names.updateValue(row.to, forKey: from)
        guard old == nil else { throw Malformed(description: "\(from) stands in the table twice") }
      }
    }
    guard !names.isEmpty, !modules.isEmpty else { throw Malformed(description: "the table is empty") }
    (self.names, self.modules) = (names, modules)
  }

  /// A line with its names renamed; literals and comments stay as they are.
  func renamed(_ line: String) -> String {
    if let module = Self.module(line), let target = modules[module] { return "import \(target)" }
    return SwiftText.pieces(line).map { piece in
      switch piece {
      case .word(let word): names[word] ?? word
      case .string(let text), .comment(let text): text
      case .other(let character): String(character)
      }
    }.joined()
  }

  /// The names and imports of the table that occur in a line.
  func used(in line: String) -> Set<String> {
    if let module = Self.module(line) { return modules[module] == nil ? [] : ["import \(module)"] }
    var used: Set<String> = []
    for case .word(let word) in SwiftText.pieces(line) where names[word] != nil { used.insert(word) }
    return used
  }

  static func module(_ line: String) -> String? {
    let text = line.trimmingCharacters(in: .whitespaces)
    return text.hasPrefix("import ") ? String(text.dropFirst("import ".count)) : nil
  }

  private static func row(_ line: Substring) throws -> Row {
    let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    guard cells.count >= 2, let to = codeSpans(cells[1]).first, !codeSpans(cells[0]).isEmpty else {
      throw Malformed(description: "no names in \(line)")
    }
    return Row(from: codeSpans(cells[0]), to: to, note: cells.count > 2 ? cells[2] : "")
  }

  private static func codeSpans(_ cell: String) -> [String] {
    cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
  }
}
