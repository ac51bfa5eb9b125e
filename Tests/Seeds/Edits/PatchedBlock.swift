import Foundation

/// A block as it is compiled: renamed by the table, changed by its edits, nothing else.
struct PatchedBlock {
  struct Refusal: Error, CustomStringConvertible {
    let description: String
  }

  let name: BlockName
  let lines: [String]

  /// - Throws: `Refusal` for an edit that is not about this block as it stands: another line, a line that reads
  ///   otherwise by now, a fragment that is not there exactly once, a replacement that changes nothing or adds lines.
  init(_ block: SeedBlock, renames: RenameTable, edits: [BlockEdit]) throws {
    name = block.name
    var lines = block.lines.map(renames.renamed)
    for edit in edits where edit.block == block.name {
      guard block.lines.indices.contains(edit.line - 1) else {
        throw Refusal(description: "\(edit.description) is about a line that the block does not have")
      }
      let digest = BlockEdit.digest(of: block.lines[edit.line - 1])
      guard digest == edit.digest else {
        throw Refusal(description: "\(edit.description) is about another line than the one that is there (\(digest))")
      }
      let parts = lines[edit.line - 1].components(separatedBy: edit.replacing)
      guard parts.count == 2 else {
        throw Refusal(description: "\(edit.description) finds its fragment \(parts.count - 1) times instead of once")
      }
      guard edit.with != edit.replacing, !edit.with.contains("\n") else {
        throw Refusal(description: "\(edit.description) changes nothing, or adds lines")
      }
      lines[edit.line - 1] = parts.joined(separator: edit.with)
    }
    self.lines = lines
  }

  /// The numbers of the lines that differ from the block in more than renames.
  func changedLines(of block: SeedBlock, renames: RenameTable) -> Set<Int> {
    Set(zip(block.lines, lines).enumerated().filter { renames.renamed($1.0) != $1.1 }.map { $0.offset + 1 })
  }
}
