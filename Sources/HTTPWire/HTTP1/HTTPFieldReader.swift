/// Reads a block of header or trailer fields, line by line.
package struct HTTPFieldReader {
  /// Room for the fields of an ordinary request, so that they are not moved while they are read.
  private static let usual = (fields: 8, bytes: 256)

  package private(set) var headers = HTTPHeaders()
  private var byteCount = 0

  package init() {}

  /// Takes lines from `input`; true when the empty line that ends the block has been read.
  package mutating func advance(_ input: inout HTTPInput, limits: HTTPLimits) throws(HTTPFailure) -> Bool {
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
      if headers.isEmpty { headers.reserve(fields: Self.usual.fields, bytes: Self.usual.bytes) }
      headers.append(name: name, value: value)
    }
    return false
  }
}
