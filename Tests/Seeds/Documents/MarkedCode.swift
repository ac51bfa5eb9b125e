/// Markdown: a block is what stands between fences, in the language the fence names.
enum FencedCode {
  static func blocks(_ lines: [String]) -> [FoundBlock] {
    var blocks: [FoundBlock] = []
    var open: FoundBlock?
    for line in lines {
      guard line.hasPrefix("```") else {
        open?.lines.append(line)
        continue
      }
      if let block = open {
        blocks.append(block)
        open = nil
      } else {
        open = (SeedBlock.Language(rawValue: String(line.dropFirst(3))) ?? .other, [])
      }
    }
    return blocks
  }
}

/// A page turned to text with line numbers: a line with the language's name, perhaps one with a file's name, then lines
/// that begin with 1, 2, 3 and so on. The first that does not have the next number ends the block.
enum NumberedCode {
  static let markers = ["Swift": SeedBlock.Language.swift, "GraphQL": .graphql]

  static func isShape(of lines: [String]) -> Bool {
    lines.indices.contains { start(after: $0, in: lines) != nil }
  }

  static func blocks(_ lines: [String]) -> [FoundBlock] {
    var blocks: [FoundBlock] = []
    for (index, line) in lines.enumerated() {
      guard let language = markers[line], let start = start(after: index, in: lines) else { continue }
      var code: [String] = []
      for line in lines[start...] {
        let number = "\(code.count + 1)"
        guard line.hasPrefix(number) else { break }
        code.append(String(line.dropFirst(number.count)))
      }
      blocks.append((language, code))
    }
    return blocks
  }

  /// The line numbered 1 behind a marker.
  private static func start(after marker: Int, in lines: [String]) -> Int? {
    guard markers[lines[marker]] != nil else { return nil }
    return [marker + 1, marker + 2].first { lines.indices.contains($0) && lines[$0].hasPrefix("1") }
  }
}
