/// Reads one body and takes its framing off.
package struct HTTPBodyReader {
  private enum Phase {
    case data(left: Int)
    case untilClose
    case chunkSize
    case chunkData(left: Int)
    case chunkEnd
    case trailers(HTTPFieldReader)
    case ended
  }

  /// What `advance` met.
  package enum Step: Equatable {
    case data([UInt8])
    case ended(trailers: HTTPHeaders)
    case needMore
  }

  private var phase: Phase
  private var total = 0

  package init(_ framing: HTTPFraming) {
    switch framing {
    case .length(let length): phase = .data(left: length)
    case .chunked: phase = .chunkSize
    case .untilClose: phase = .untilClose
    }
  }

  package var endsWithConnection: Bool {
    if case .untilClose = phase { return true }
    return false
  }

  /// The next piece of the body.
  package mutating func advance(_ input: inout HTTPInput, limits: HTTPLimits) throws(HTTPFailure) -> Step {
    while true {
      switch phase {
      case .data(let left):
        if left == 0 { return end(HTTPHeaders()) }
        guard input.count > 0 else { return .needMore }
        let piece = input.take(left)
        phase = .data(left: left - piece.count)
        return try deliver(piece, limits)
      case .untilClose:
        guard input.count > 0 else { return .needMore }
        return try deliver(input.take(input.count), limits)
      case .chunkSize:
        guard let line = try input.line(limit: limits.chunkLineBytes, tooLong: .chunkSize) else { return .needMore }
        let size = try Self.chunkSize(line)
        if size > limits.bodyBytes - total { throw HTTPFailure(.bodyTooLarge) }
        phase = size == 0 ? .trailers(HTTPFieldReader()) : .chunkData(left: size)
      case .chunkData(let left):
        guard input.count > 0 else { return .needMore }
        let piece = input.take(left)
        phase = left == piece.count ? .chunkEnd : .chunkData(left: left - piece.count)
        return try deliver(piece, limits)
      case .chunkEnd:
        guard let line = try input.line(limit: 0, tooLong: .chunkEnd) else { return .needMore }
        precondition(line.isEmpty, "a line within a limit of zero is empty")
        phase = .chunkSize
      case .trailers(var reader):
        guard try reader.advance(&input, limits: limits) else {
          phase = .trailers(reader)
          return .needMore
        }
        try Self.checkTrailers(reader.headers)
        return end(reader.headers)
      case .ended:
        return .needMore
      }
    }
  }

  private mutating func end(_ trailers: HTTPHeaders) -> Step {
    phase = .ended
    return .ended(trailers: trailers)
  }

  private mutating func deliver(_ piece: [UInt8], _ limits: HTTPLimits) throws(HTTPFailure) -> Step {
    if piece.count > limits.bodyBytes - total { throw HTTPFailure(.bodyTooLarge) }
    total += piece.count
    return .data(piece)
  }

  /// Hexadecimal digits, then optional extensions, which are checked for control characters and ignored.
  private static func chunkSize(_ line: ArraySlice<UInt8>) throws(HTTPFailure) -> Int {
    let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }
    let rest = HTTPSyntax.trimmed(line[digits.endIndex...])
    guard !digits.isEmpty, digits.count <= 15, digits.allSatisfy({ hexadecimalDigit($0) != nil }),
      rest.isEmpty || rest.first == UInt8(ascii: ";"), HTTPSyntax.isFieldValue(rest)
    else { throw HTTPFailure(.chunkSize) }
    // Fifteen digits are 60 bits: the shift cannot overflow.
    return digits.reduce(0) { $0 << 4 | (hexadecimalDigit($1) ?? 0) }
  }

  private static func hexadecimalDigit(_ byte: UInt8) -> Int? {
    switch byte {
    case 0x30...0x39: Int(byte - 0x30)
    case 0x41...0x46: Int(byte - 0x41 + 10)
    case 0x61...0x66: Int(byte - 0x61 + 10)
    default: nil
    }
  }

  /// Framing, routing and authentication may not come after the body (RFC 9110 section 6.5.1).
  private static func checkTrailers(_ trailers: HTTPHeaders) throws(HTTPFailure) {
    let forbidden: [StaticString] = [
      "Transfer-Encoding", "Content-Length", "Host", "Connection", "Upgrade", "Expect", "TE", "Authorization",
      "Cookie", "Set-Cookie", "Content-Type", "Content-Encoding", "Content-Range", "Trailer",
    ]
    for name in forbidden where trailers.contains(name) { throw HTTPFailure(.trailerField) }
  }
}
