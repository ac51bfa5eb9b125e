import Foundation

/// A program's text: its own lines, and the blocks where they go.
struct Assembly {
  let text: String
  /// The blocks in it.
  let blocks: [BlockName]

  /// Errors of the compiler name the block and the line in it: `seed 000, block 3`.
  init(program: String, name: String, blocks: [BlockName: PatchedBlock]) throws {
    var lines: [String] = []
    var used: [BlockName] = []
    for (index, line) in program.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      guard let place = Self.place(line) else {
        lines.append(String(line))
        continue
      }
      guard let block = blocks[place] else { throw WorkshopError(description: "there is no block \(place)") }
      used.append(place)
      lines.append("#sourceLocation(file: \"seed \(place.seed), block \(place.number)\", line: 1)")
      lines += block.lines
      lines.append("#sourceLocation(file: \"\(name).swift\", line: \(index + 2))")
    }
    text = lines.joined(separator: "\n")
    self.blocks = used
  }

  /// The block that a line `//= 000-1` stands for.
  static func place(_ line: some StringProtocol) -> BlockName? {
    let text = line.trimmingCharacters(in: .whitespaces)
    return text.hasPrefix("//= ") ? BlockName(text.dropFirst(4)) : nil
  }
}
