/// Reads a block of header or trailer fields, line by line.
struct HTTPFieldReader {
  private(set) var headers = HTTPHeaders()
  private var byteCount = 0

  /// Takes lines from `input`; true when the empty line that ends the block has been read.
  mutating func advance(_ input: inout HTTPInput, limits: HTTPLimits) throws(HTTPFailure) -> Bool {
    while let line = try input.line(limit: max(0, limits.headerBytes - byteCount), tooLong: .headerTooLarge) {
      guard let first = line.first else { return true }
      byteCount += line.count + 2
      if byteCount > limits.headerBytes || headers.count >= limits.headerFields { throw HTTPFailure(.headerTooLarge) }
      if first == 0x20 || first == 0x09 { throw HTTPFailure(.foldedField) }
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw HTTPFailure(.fieldName) }
      let name = line[..<colon]
      guard HTTPSyntax.isToken(name) else { throw HTTPFailure(.fieldName) }
      let value = HTTPSyntax.trimmed(line[(colon + 1)...])
      guard HTTPSyntax.isFieldValue(value) else { throw HTTPFailure(.fieldValue) }
      headers.append(name: name, value: value)
    }
    return false
  }
}
