/// The two encodings of an ECDSA signature.
enum ECDSASignature {
  /// The DER encoding of a signature that is r and s as numbers of fixed length (RFC 7518, section 3.4); nil when it
  /// does not have exactly that length, or when one of them is zero.
  static func distinguishedEncoding(of signature: [UInt8], coordinateBytes: Int) -> [UInt8]? {
    guard signature.count == 2 * coordinateBytes,
      let r = integer(signature[..<coordinateBytes]), let s = integer(signature[coordinateBytes...])
    else { return nil }
    return element(tag: 0x30, r + s)
  }

  /// A positive INTEGER; nil for zero.
  private static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
    let digits = bytes.drop { $0 == 0 }
    guard let first = digits.first else { return nil }
    // A leading bit of one would make it negative.
    return element(tag: 0x02, (first & 0x80 != 0 ? [0] : []) + digits)
  }

  /// Contents are at most 138 bytes (P-521), so that the length needs one byte or two.
  private static func element(tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
    let length = UInt8(contents.count)
    return (length < 0x80 ? [tag, length] : [tag, 0x81, length]) + contents
  }

  /// The numbers of fixed length of a signature in DER; nil for anything else.
  static func fixedEncoding(of signature: [UInt8], coordinateBytes: Int) -> [UInt8]? {
    var rest = signature[...]
    guard rest.popFirst() == 0x30, let length = rest.popFirst(), length < 0x80, Int(length) == rest.count,
      let r = coordinate(&rest, coordinateBytes), let s = coordinate(&rest, coordinateBytes), rest.isEmpty
    else { return nil }
    return r + s
  }

  private static func coordinate(_ rest: inout ArraySlice<UInt8>, _ count: Int) -> [UInt8]? {
    guard rest.popFirst() == 0x02, let length = rest.popFirst(), length < 0x80, Int(length) <= rest.count else {
      return nil
    }
    let digits = rest.prefix(Int(length)).drop { $0 == 0 }
    rest = rest.dropFirst(Int(length))
    return digits.count <= count ? [UInt8](repeating: 0, count: count - digits.count) + digits : nil
  }
}
