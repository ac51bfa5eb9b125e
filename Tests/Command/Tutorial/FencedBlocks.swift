import Foundation

/// The fenced code blocks of a document.
struct FencedBlocks {
  struct Block {
    let language: String
    let text: String
  }

  let blocks: [Block]

  init(_ document: String) {
    var blocks: [Block] = []
    var language: String?
    var lines: [Substring] = []
    for line in document.split(separator: "\n", omittingEmptySubsequences: false) {
      if let open = language {
        if line == "```" {
          blocks.append(Block(language: open, text: lines.joined(separator: "\n")))
          language = nil
        } else {
          lines.append(line)
        }
      } else if line.hasPrefix("```") {
        language = String(line.dropFirst(3))
        lines = []
      }
    }
    self.blocks = blocks
  }

  func texts(_ language: String) -> [String] {
    blocks.filter { $0.language == language }.map(\.text)
  }

  /// Lines without their common leading spaces, for comparing snippets with files.
  static func unindented(_ text: String) -> [Substring] {
    text.split(separator: "\n").map { $0.drop { $0 == " " } }
  }
}
