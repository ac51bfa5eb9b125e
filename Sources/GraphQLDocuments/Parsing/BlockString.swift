/// The rules of block strings that reading and printing share (section 2.10.4, "Block Strings").
enum BlockString {
  /// Removes the indentation all lines but the first share, then blank lines at both ends.
  static func dedented(_ lines: [[UInt8]]) -> ArraySlice<[UInt8]> {
    let indentations = lines.dropFirst().lazy
      .map { (indent: indentation($0), length: $0.count) }
      .filter { $0.indent < $0.length }
    let common = indentations.map(\.indent).min() ?? 0
    let cut = lines.enumerated().map { index, line in
      index == 0 ? line : Array(line.dropFirst(common))
    }
    guard let first = cut.firstIndex(where: { indentation($0) < $0.count }),
      let last = cut.lastIndex(where: { indentation($0) < $0.count })
    else { return [] }
    return cut[first...last]
  }

  /// Whether `text` can be written as a block string and read back the same.
  static func canRepresent(_ text: String) -> Bool {
    if text.isEmpty { return true }
    var lines: [[UInt8]] = [[]]
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\n"): lines.append([])
      // A carriage return would be read back as a line end; other controls are unpleasant to read raw.
      case UInt8(ascii: "\t"): lines[lines.count - 1].append(byte)
      case 0..<0x20, 0x7F: return false
      default: lines[lines.count - 1].append(byte)
      }
    }
    // Printed on lines of their own, below an empty first line, so that all of them take part in the dedent.
    return dedented([[]] + lines).elementsEqual(lines)
  }

  /// How many spaces and tabs `line` starts with.
  private static func indentation(_ line: [UInt8]) -> Int {
    line.firstIndex { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") } ?? line.count
  }
}
