/// Bytes that arrived and are not parsed yet.
package struct HTTPInput {
  private(set) var bytes: [UInt8] = []
  private var start = 0
  /// Where the search for the next line feed continues, so that bytes arriving one by one are scanned once.
  private var scanned = 0

  package init() {}

  package var count: Int { bytes.count - start }

  package mutating func receive(_ span: borrowing RawSpan) {
    append(span, 0..<span.byteCount, to: &bytes)
  }

  /// The next line without its CRLF; nil until one is complete. A line longer than `limit` throws `tooLong`.
  package mutating func line(limit: Int, tooLong: HTTPFailure.Rule) throws(HTTPFailure) -> ArraySlice<UInt8>? {
    while scanned < bytes.count, bytes[scanned] != 0x0A { scanned += 1 }
    guard scanned < bytes.count else {
      // One more for a CR whose LF is still on its way.
      if count > limit + 1 { throw HTTPFailure(tooLong) }
      return nil
    }
    // The length first, as above: the same rule is named whether the line came whole or in pieces.
    if scanned - start > limit + 1 { throw HTTPFailure(tooLong) }
    guard scanned > start, bytes[scanned - 1] == 0x0D else { throw HTTPFailure(.bareLineFeed) }
    let line = bytes[start..<scanned - 1]
    scanned += 1
    start = scanned
    return line
  }

  /// Takes at most `limit` bytes.
  package mutating func take(_ limit: Int) -> [UInt8] {
    let end = start + min(limit, count)
    let taken = [UInt8](bytes[start..<end])
    start = end
    scanned = max(scanned, end)
    return taken
  }

  /// Forgets what was parsed. A connection at rest holds no buffer.
  package mutating func compact() {
    if start == bytes.count {
      bytes = []
    } else if start > 0 {
      bytes.removeFirst(start)
    }
    scanned -= start
    start = 0
  }
}
