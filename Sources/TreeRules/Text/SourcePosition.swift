/// A position in a rules file. Lines and columns count from 1; columns count Unicode scalars.
package struct SourcePosition: Hashable, Comparable, Sendable, CustomStringConvertible {
  package var line: Int
  package var column: Int

  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  package static func < (left: SourcePosition, right: SourcePosition) -> Bool {
    (left.line, left.column) < (right.line, right.column)
  }

  package var description: String { "line \(line), column \(column)" }
}

/// The lines of a text, to turn offsets into positions. Offsets count Unicode scalars.
struct LineTable: Sendable {
  private let starts: [Int]

  init(_ scalars: [Unicode.Scalar]) {
    var starts = [0]
    for (index, scalar) in scalars.enumerated() where scalar == "\n" { starts.append(index + 1) }
    self.starts = starts
  }

  func position(of offset: Int) -> SourcePosition {
    var (low, high) = (0, starts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= offset { low = middle } else { high = middle }
    }
    return SourcePosition(line: low + 1, column: offset - starts[low] + 1)
  }
}
