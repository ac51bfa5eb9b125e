/// Which block of which seed: `000-3` is the third of seed 000.
struct BlockName: Hashable, Sendable, CustomStringConvertible {
  let seed: String
  let number: Int

  init(_ seed: String, _ number: Int) {
    self.seed = seed
    self.number = number
  }

  /// Reads `000-3`.
  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "-")
    guard parts.count == 2, let number = Int(parts[1]) else { return nil }
    self.init(String(parts[0]), number)
  }

  var description: String { "\(seed)-\(number)" }
}

/// The code blocks of a document, in its order, by the shape the document has.
struct SeedBlock: Sendable {
  enum Language: String, Sendable {
    case swift, graphql
    /// Code in languages that are none of this package's business.
    case other
  }

  let name: BlockName
  let language: Language
  let lines: [String]
}

/// A document with code in it. Three shapes are known: Markdown with fences; a page turned to text whose code lines
/// carry their numbers, under a line with the language's name; a page turned to text without any such sign.
struct SeedDocument {
  let seed: String
  let blocks: [SeedBlock]

  init(seed: String, text: String) {
    self.seed = seed
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      String(line.last == "\r" ? line.dropLast() : line)
    }
    let found =
      if lines.contains(where: { $0.hasPrefix("```") }) {
        FencedCode.blocks(lines)
      } else if NumberedCode.isShape(of: lines) {
        NumberedCode.blocks(lines)
      } else {
        PlainCode.blocks(lines)
      }
    let ours = found.filter { $0.language != .other }
    blocks = ours.enumerated().map { index, block in
      SeedBlock(name: BlockName(seed, index + 1), language: block.language, lines: block.lines)
    }
  }
}

/// A block before it has a name.
typealias FoundBlock = (language: SeedBlock.Language, lines: [String])
