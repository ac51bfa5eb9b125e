/// The base64url encoding of RFC 7515, section 2: no padding, no white space, no line breaks.
package enum Base64URL {
  /// The bytes that `text` encodes; nil when it is not the one encoding of any bytes.
  ///
  /// A last character whose unused bits are not zero is refused, because several texts would otherwise stand for the
  /// same bytes, and a token could be altered without its signature failing.
  package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count * 3 / 4)
    var bits: UInt32 = 0
    var pending = 0
    for byte in text {
      guard let digit = digit(byte) else { return nil }
      bits = bits << 6 | UInt32(digit)
      pending += 6
      if pending >= 8 {
        pending -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(pending)))
        bits &= (1 << UInt32(pending)) - 1
      }
    }
    // Six bits over are a lone character, which encodes nothing.
    guard pending < 6, bits == 0 else { return nil }
    return bytes
  }

  /// The encoding of `bytes`.
  package static func encode(_ bytes: some Collection<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count * 4 + 2) / 3)
    var bits: UInt32 = 0
    var pending = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      pending += 8
      while pending >= 6 {
        pending -= 6
        text.append(alphabet[Int(bits >> UInt32(pending) & 0x3F)])
      }
      bits &= (1 << UInt32(pending)) - 1
    }
    if pending > 0 { text.append(alphabet[Int(bits << UInt32(6 - pending) & 0x3F)]) }
    return text
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
