import Foundation
import Testing

@Suite struct RenameTests {
  private static let table = """
    # Page
    | not | this |
    | --- | --- |
    | `Other` | `Wrong` |
    ## Names
    | there | here | beside the samples |
    | --- | --- | --- |
    | `Old`, `Elder` | `New`, a type | |
    | `import Gone` | `import Here` | it is said |
    ## More
    | `Late` | `Wrong` |
    """

  @Test func `names are renamed as whole words, outside of texts and comments`() throws {
    let table = try RenameTable(Self.table)
    #expect(table.renamed("  let a: Old<Elder> = OldOne.Older") == "  let a: New<New> = OldOne.Older")
    #expect(table.renamed(#"f("Old \(x)", Old) // an Old one"#) == #"f("Old \(x)", New) // an Old one"#)
    #expect(table.renamed("Other Late Gone") == "Other Late Gone")
    #expect(table.renamed("import Gone") == "import Here")
    #expect(table.renamed("import Old") == "import New")
    #expect(table.used(in: "Elder.import(Gone)") == ["Elder"])
    #expect(table.used(in: "import Gone") == ["import Gone"])
  }

  @Test(arguments: [
    ("# Page", "no section"), ("## Names\n| a | b |\n| --- | --- |\n", "is empty"),
    ("## Names\n| a | b |\n| --- | --- |\n| Old | `New` |", "no names"),
    ("## Names\n| a | b |\n| --- | --- |\n| `Old` | `New` |\n| `Old` | `Newer` |", "twice"),
    ("## Names\n| a | b |\n| --- | --- |\n| `import Old` | `New` |", "not both"),
  ])
  func `a table that cannot be meant is refused`(text: String, reason: String) {
    let error = #expect(throws: RenameTable.Malformed.self) { try RenameTable(text) }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
  }

  @Test func `every name on the right side of the table is public`() throws {
    let table = try RenameTable.current()
    let symbols = try String(
      contentsOf: SeedFolder.root.appendingPathComponent("docs/public-symbols.txt"), encoding: .utf8)
    var types: Set<String> = []
    for line in symbols.split(separator: "\n") {
      let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
      for (kind, name) in zip(words, words.dropFirst())
      where ["struct", "class", "enum", "protocol", "typealias", "actor"].contains(kind) { types.insert(name) }
    }
    let manifest = try String(contentsOf: SeedFolder.root.appendingPathComponent("Package.swift"), encoding: .utf8)
    for row in table.rows {
      if let module = RenameTable.module(row.to) {
        #expect(manifest.contains(".library(name: \"\(module)\""), "\(module) is no product")
      } else {
        #expect(types.contains(row.to), "\(row.to) is not public")
      }
    }
  }

  @Test func `a rename is not renamed again`() throws {
    let table = try RenameTable.current()
    #expect(Set(table.names.keys).isDisjoint(with: table.names.values))
  }

  @Test(.enabled(if: SeedFolder.isPresent, SeedFolder.skipped))
  func `every rename is used by a block, or says why it stands there`() throws {
    let table = try RenameTable.current()
    let lines = SeedFolder.documents.flatMap(\.blocks).flatMap(\.lines)
    let used = lines.reduce(into: Set<String>()) { $0.formUnion(table.used(in: $1)) }
    for row in table.rows {
      let idle = row.from.filter { !used.contains($0) }
      if row.note.isEmpty {
        #expect(idle.isEmpty, "no sample has \(idle), and the table does not say why they are there")
      } else {
        #expect(idle == row.from, "a note stands beside names that samples have: \(row.from)")
      }
    }
  }
}
