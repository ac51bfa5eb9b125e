/// One part of a multipart body.
package struct MultipartPart: Equatable, Sendable {
  package var headers: HTTPHeaders
  package var body: [UInt8]

  package init(headers: HTTPHeaders = HTTPHeaders(), body: [UInt8]) {
    self.headers = headers
    self.body = body
  }
}

/// Reads a multipart body (RFC 2046 section 5.1) from bytes in any cut. Lines may end in LF alone.
///
/// A part is delivered as soon as the boundary after it has arrived, whether or not it was the last: what follows a
/// boundary may be long in coming. Bytes before the first boundary and after the last are skipped.
package struct MultipartReader {
  private enum State {
    case preamble
    /// After a boundary: another part, or the end.
    case delimited
    case header(HTTPHeaders, byteCount: Int)
    case body(HTTPHeaders)
    case ended
    case failed(MultipartFailure)
  }

  /// What a search for the next boundary found.
  private enum Search {
    case found(contentEnd: Int, next: Int)
    case needMore
  }

  package let limits: MultipartLimits
  /// Parts read so far, empty ones not counted.
  package private(set) var partCount = 0
  /// Two hyphens and the boundary.
  private let delimiter: [UInt8]
  private var state = State.preamble
  private var bytes: [UInt8] = []
  /// Where what is not consumed begins; always the start of a line, or what follows a boundary.
  private var start = 0
  /// Everything before this has been searched.
  private var scanned = 0

  /// - Parameter boundary: 1 to 70 bytes, as the content type names it.
  package init(boundary: [UInt8], limits: MultipartLimits = MultipartLimits()) throws(MultipartFailure) {
    guard (1...70).contains(boundary.count), boundary.allSatisfy(Self.isBoundaryByte), boundary.last != 0x20 else {
      throw MultipartFailure(.boundary)
    }
    delimiter = [0x2D, 0x2D] + boundary
    self.limits = limits
  }

  /// Takes the boundary from a content type, quoted or not, also where it needed quotes and has none. What follows
  /// after a comma is ignored: some servers repeat the client's Accept header there.
  package init(contentType: String, limits: MultipartLimits = MultipartLimits()) throws(MultipartFailure) {
    let text = HTTPSyntax.split(Array(contentType.utf8)[...], at: UInt8(ascii: ","))[0]
    guard let type = MediaType(text, leniently: true), type.type.utf8.elementsEqual("multipart".utf8) else {
      throw MultipartFailure(.contentType)
    }
    guard let boundary = type["boundary"] else { throw MultipartFailure(.boundary) }
    try self.init(boundary: Array(boundary.utf8), limits: limits)
  }

  /// Whether the closing boundary has been read.
  package var hasEnded: Bool {
    if case .ended = state { return true }
    return false
  }

  /// Takes bytes as they arrived and appends the parts they complete. What was complete before a failure is appended.
  package mutating func receive(_ piece: [UInt8], parts: inout [MultipartPart]) throws(MultipartFailure) {
    if case .failed(let failure) = state { throw failure }
    if hasEnded { return }
    bytes.append(contentsOf: piece)
    do throws(MultipartFailure) {
      while try step(&parts) {}
    } catch {
      state = .failed(error)
      bytes = []
      throw error
    }
    compact()
  }

  /// The peer sends nothing more.
  ///
  /// - Throws: `truncated` when the closing boundary has not been read.
  package mutating func inputEnded() throws(MultipartFailure) {
    if case .failed(let failure) = state { throw failure }
    if !hasEnded { throw MultipartFailure(.truncated, part: partCount) }
  }

  // MARK: Steps

  /// Makes one step; false when more bytes are needed.
  private mutating func step(_ parts: inout [MultipartPart]) throws(MultipartFailure) -> Bool {
    switch state {
    case .preamble:
      guard case .found(_, let next) = try search() else { return false }
      begin(.delimited, at: next)
      return true
    case .delimited: return try stepBehindDelimiter()
    case .header(let headers, let byteCount): return try stepHeader(headers, byteCount)
    case .body(let headers):
      guard case .found(let end, let next) = try search() else { return false }
      parts.append(MultipartPart(headers: headers, body: [UInt8](bytes[start..<end])))
      partCount += 1
      begin(.delimited, at: next)
      return true
    case .ended:
      begin(.ended, at: bytes.count)
      return false
    case .failed: return false
    }
  }

  private mutating func begin(_ state: State, at position: Int) {
    self.state = state
    start = position
    scanned = position
  }

  /// Two hyphens end the body; white space and a line end begin the next part.
  private mutating func stepBehindDelimiter() throws(MultipartFailure) -> Bool {
    while start < bytes.count, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
    guard start < bytes.count else { return false }
    if bytes[start] == 0x0A {
      begin(.header(HTTPHeaders(), byteCount: 0), at: start + 1)
      return true
    }
    guard bytes[start] == 0x0D || bytes[start] == 0x2D else { throw failure(.delimiter) }
    guard start + 1 < bytes.count else { return false }
    switch (bytes[start], bytes[start + 1]) {
    case (0x0D, 0x0A): begin(.header(HTTPHeaders(), byteCount: 0), at: start + 2)
    case (0x2D, 0x2D): begin(.ended, at: bytes.count)
    default: throw failure(.delimiter)
    }
    return true
  }

  /// Reads one header line. A boundary instead of one ends a part that has no content at all, which is left out.
  private mutating func stepHeader(_ headers: HTTPHeaders, _ byteCount: Int) throws(MultipartFailure) -> Bool {
    if start < bytes.count, matchesDelimiter(at: start) == true {
      begin(.delimited, at: start + delimiter.count)
      return true
    }
    while scanned < bytes.count, bytes[scanned] != 0x0A { scanned += 1 }
    let length = scanned - start
    if byteCount + length > limits.headerBytes + 1 { throw failure(.headerTooLarge) }
    guard scanned < bytes.count else { return false }
    let next = scanned + 1
    var line = bytes[start..<scanned]
    if line.last == 0x0D { line = line.dropLast() }
    if line.isEmpty {
      begin(.body(headers), at: next)
      return true
    }
    guard headers.count < limits.headerFields else { throw failure(.headerTooLarge) }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw failure(.field) }
    let name = HTTPSyntax.trimmed(line[..<colon])
    let value = HTTPSyntax.trimmed(line[(colon + 1)...])
    guard HTTPSyntax.isToken(name), HTTPSyntax.isFieldValue(value) else { throw failure(.field) }
    var longer = headers
    longer.append(name: name, value: value)
    begin(.header(longer, byteCount: byteCount + length), at: next)
    return true
  }

  // MARK: Searching

  /// Looks for a boundary at the start of a line. The line end before it belongs to it.
  private mutating func search() throws(MultipartFailure) -> Search {
    if scanned == start {
      guard let matches = matchesDelimiter(at: start) else { return .needMore }
      if matches { return .found(contentEnd: start, next: start + delimiter.count) }
    }
    while scanned < bytes.count {
      if bytes[scanned] == 0x0A {
        guard let matches = matchesDelimiter(at: scanned + 1) else { return try needMore() }
        if matches {
          let end = scanned > start && bytes[scanned - 1] == 0x0D ? scanned - 1 : scanned
          if end - start > limits.partBytes { throw failure(.partTooLarge) }
          return .found(contentEnd: end, next: scanned + 1 + delimiter.count)
        }
      }
      scanned += 1
    }
    return try needMore()
  }

  private func needMore() throws(MultipartFailure) -> Search {
    // Up to two bytes may be the line end of a boundary, whose first bytes may follow them.
    if scanned - start > limits.partBytes + 2 { throw failure(.partTooLarge) }
    return .needMore
  }

  /// Whether the delimiter is at a position; nil when more bytes are needed to decide.
  private func matchesDelimiter(at position: Int) -> Bool? {
    let count = min(delimiter.count, bytes.count - position)
    for index in 0..<count where bytes[position + index] != delimiter[index] { return false }
    return count == delimiter.count ? true : nil
  }

  private mutating func compact() {
    if start == bytes.count {
      bytes = []
    } else if start > 0 {
      bytes.removeFirst(start)
    }
    scanned -= start
    start = 0
  }

  private func failure(_ rule: MultipartFailure.Rule) -> MultipartFailure {
    MultipartFailure(rule, part: partCount)
  }

  /// bchars (RFC 2046 section 5.1.1).
  private static func isBoundaryByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x20, 0x27...0x29, 0x2B...0x2F, 0x3A, 0x3D, 0x3F, 0x5F: true
    default: false
    }
  }
}
