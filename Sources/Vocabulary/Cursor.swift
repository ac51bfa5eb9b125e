/// A place in the change log: everything up to and including `offset` has been seen.
///
/// `term` names one run of the server in the log's lineage, so that a restored older copy cannot be mistaken for the
/// log a client has followed. Clients treat the text form as opaque; only the offset's order is used, to drop repeats.
public struct Cursor: Hashable, Sendable, CustomStringConvertible {
  /// The random name of the server run that wrote the log from some offset on.
  public var term: UInt64
  /// Dense number of a change in commit order, starting at 1. Zero stands before the first change.
  public var offset: Int64

  /// The position after change `offset`, as written under `term`.
  public init(term: UInt64, offset: Int64) {
    self.term = term
    self.offset = offset
  }

  /// The wire form, `TERM-OFFSET` in lower-case hexadecimal and decimal: `9f03a1-1042`.
  public var description: String {
    "\(String(term, radix: 16))-\(offset)"
  }

  /// Reads the wire form; nil when the text is not one.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].utf8.count <= 16, parts[1].utf8.count <= 19,
      parts[0].utf8.allSatisfy(Self.isHexadecimalDigit), parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let term = UInt64(parts[0], radix: 16), let offset = Int64(parts[1])
    else { return nil }
    self.init(term: term, offset: offset)
  }

  private static func isHexadecimalDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
  }
}
