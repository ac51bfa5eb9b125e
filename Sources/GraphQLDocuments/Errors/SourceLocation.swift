/// A place in a source text.
///
/// Lines end with `\n`, `\r\n` or `\r`. Columns count Unicode scalars from the start of the line. Both start at 1.
public struct SourceLocation: Hashable, Sendable, CustomStringConvertible {
  /// The line, starting at 1.
  public var line: Int
  /// The Unicode scalar within the line, starting at 1.
  public var column: Int
  /// The byte within the UTF-8 source, starting at 0.
  public var offset: Int

  /// The place at `line` and `column`, which is byte `offset`.
  public init(line: Int, column: Int, offset: Int = 0) {
    self.line = line
    self.column = column
    self.offset = offset
  }

  /// `line:column`.
  public var description: String {
    "\(line):\(column)"
  }
}

/// Where a node of a document was written.
///
/// It does not take part in equality: any two compare equal, so that nodes compare by content. `source` has the place.
package struct Location: Hashable, Sendable {
  package var line: UInt32
  package var column: UInt32
  package var offset: UInt32

  /// The place of nodes that were made by code rather than written.
  package static let none = Location(line: 0, column: 0, offset: 0)

  package init(line: UInt32, column: UInt32, offset: UInt32) {
    self.line = line
    self.column = column
    self.offset = offset
  }

  /// The place as errors show it, or nil when the node was not written in a source.
  package var source: SourceLocation? {
    line == 0 ? nil : SourceLocation(line: Int(line), column: Int(column), offset: Int(offset))
  }

  package static func == (left: Location, right: Location) -> Bool { true }

  package func hash(into hasher: inout Hasher) {}
}
