import Foundation

/// A page turned to text whose code has neither fences nor numbers nor indentation.
///
/// Lines in a row that read as code are a block; inside open brackets every line does. A name that is declared a second
/// time begins a block of its own, together with the comments above it: the page showed two variants beside each other.
/// A single line is a block only if it declares something. Blocks with the signs of another language are set apart.
enum PlainCode {
  static func blocks(_ lines: [String]) -> [FoundBlock] {
    var blocks: [FoundBlock] = []
    var open: [String] = []
    var declared: Set<String> = []
    var depth = 0

    func close() {
      if open.count > 1 || !declared.isEmpty { blocks.append((isForeign(open) ? .other : .swift, open)) }
      (open, declared, depth) = ([], [], 0)
    }

    for line in lines {
      guard depth > 0 || reads(line) else {
        close()
        continue
      }
      if depth == 0, let name = declaredName(line), !declared.insert(name).inserted {
        var comments: [String] = []
        while let last = open.last, last.hasPrefix("//") { comments.insert(open.removeLast(), at: 0) }
        close()
        open = comments
        declared = [name]
      }
      open.append(line)
      depth = max(0, depth + SwiftText.depthChange(line))
    }
    close()
    return blocks
  }

  private static let declarations = ["let", "var", "func", "class", "struct", "enum", "import", "val", "const"]

  /// Whether a line outside of brackets is code.
  private static func reads(_ line: String) -> Bool {
    if line.hasPrefix("//") || line.hasPrefix("@") || line.hasPrefix("}") { return true }
    if line.hasPrefix("."), line.dropFirst().first?.isLetter == true { return true }
    if declaredName(line) != nil || line.hasPrefix("import ") { return true }
    return isCall(line)
  }

  /// The name that `let`, `var`, `func` and their like declare.
  private static func declaredName(_ line: String) -> String? {
    let words = line.split(separator: " ", maxSplits: 1)
    guard words.count == 2, declarations.contains(String(words[0])), words[0] != "import" else { return nil }
    let name = words[1].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    let rest = words[1].dropFirst(name.count).drop { $0 == " " }
    guard !name.isEmpty, let next = rest.first ?? (words[0] == "let" ? ";" : nil) else { return nil }
    return ":=(<{;".contains(next) ? String(name) : nil
  }

  /// A statement that calls something and goes on after that with nothing that prose would go on with.
  private static func isCall(_ line: String) -> Bool {
    let callee = line.prefix { $0.isLetter || $0.isNumber || "_.?!".contains($0) }
    let rest = line.dropFirst(callee.count)
    guard callee.first?.isLetter == true, callee.contains("."), rest.first == "(" else { return false }
    var depth = 0
    for (offset, character) in rest.enumerated() {
      if character == "(" { depth += 1 }
      if character == ")" { depth -= 1 }
      guard depth == 0 else { continue }
      let after = rest.dropFirst(offset + 1).trimmingCharacters(in: .whitespaces)
      return after.isEmpty || ["//", "{", ".", ";"].contains { after.hasPrefix($0) }
    }
    return true
  }

  private static func isForeign(_ lines: [String]) -> Bool {
    lines.contains { line in
      line.hasSuffix(";") || line.hasPrefix("val ") || line.hasPrefix("const ") || line.hasPrefix("import com.")
    }
  }
}
