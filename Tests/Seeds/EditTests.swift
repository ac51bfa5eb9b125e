import Testing

/// An edit does what it says to the line it names, or nothing compiles.
@Suite struct EditTests {
  private static let block = SeedBlock(
    name: BlockName("777", 1), language: .swift, lines: ["  let a = Old()", "a.b(a)", "a.b(a)"])
  private static let digest = BlockEdit.digest(of: "let a = Old()")

  private static func edit(line: Int = 1, digest: String = digest, _ fragment: String, with text: String) -> BlockEdit {
    BlockEdit(.unwrap, "777-1", line: line, digest, fragment, with: text, because: "it is a test")
  }

  private func patched(_ edits: BlockEdit...) throws -> [String] {
    let renames = try RenameTable("## Names\n|a|b|\n|-|-|\n| `Old` | `New` |\n| `import C` | `import D` |")
    return try PatchedBlock(Self.block, renames: renames, edits: edits).lines
  }

  @Test func `edits come after renames, several to a line, and leave the rest`() throws {
    let other = BlockEdit(.unwrap, "777-2", line: 9, "", "x", with: "y", because: "it is for another block")
    #expect(
      try patched(Self.edit("New", with: "try New"), Self.edit("let", with: "var"), other)
        == ["  var a = try New()", "a.b(a)", "a.b(a)"])
  }

  @Test(arguments: [
    (edit(line: 4, "a", with: "b"), "does not have"), (edit(line: 0, "a", with: "b"), "does not have"),
    (edit(line: 2, "a", with: "b"), "another line"), (edit(digest: "00000000", "let", with: "var"), "another line"),
    (edit("Old", with: "New"), "0 times"),
    (edit(line: 2, digest: BlockEdit.digest(of: "a.b(a)"), "a", with: "c"), "2 times"),
    (edit("let", with: "let"), "changes nothing"), (edit("let", with: "let\nvar"), "adds lines"),
  ])
  func `an edit that is not about the line as it stands is refused`(edit: BlockEdit, reason: String) {
    let error = #expect(throws: PatchedBlock.Refusal.self) { try patched(edit) }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
  }

  @Test func `every edit gives a reason and names no more than it must`() {
    for edit in SeedEdits.all {
      #expect(!edit.reason.isEmpty && edit.digest.count == 8)
      #expect(edit.replacing.count <= 32, "\(edit.description) repeats more of the line than it must")
    }
  }

  @Test func `a program has its blocks where they go, and nothing where there is no block`() throws {
    let block = try PatchedBlock(
      Self.block, renames: RenameTable("## Names\n|a|b|\n|-|-|\n| `O` | `N` |\n| `import C` | `import D` |"), edits: [])
    let program = try Assembly(program: "a\n  //= 777-1\nb", name: "p", blocks: [block.name: block])
    #expect(
      program.text == """
        a
        #sourceLocation(file: "seed 777, block 1", line: 1)
          let a = Old()
        a.b(a)
        a.b(a)
        #sourceLocation(file: "p.swift", line: 3)
        b
        """)
    #expect(program.blocks == [block.name])
    #expect(throws: WorkshopError.self) { try Assembly(program: "//= 777-2", name: "p", blocks: [:]) }
  }
}
