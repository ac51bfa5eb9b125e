/// Base64 with padding (RFC 4648 section 4), as far as the WebSocket handshake needs it.
package enum Base64 {
  private static let alphabet = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The text of `bytes`, padded to a multiple of four.
  package static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var bits: UInt32 = 0
      for byte in group { bits = bits << 8 | UInt32(byte) }
      bits <<= UInt32(3 - group.count) * 8
      for position in 0..<4 {
        let digit = Int(bits >> UInt32(18 - 6 * position)) & 63
        text.append(position <= group.count ? alphabet[digit] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// How many bytes `text` stands for; nil when it is not padded base64 without stray bits.
  package static func decodedCount(_ text: [UInt8]) -> Int? {
    guard !text.isEmpty, text.count % 4 == 0 else { return text.isEmpty ? 0 : nil }
    let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
    let digits = text.dropLast(padding).map { alphabet.firstIndex(of: $0) }
    guard digits.allSatisfy({ $0 != nil }), let last = digits.last ?? nil else { return nil }
    let stray = padding == 2 ? last & 15 : padding == 1 ? last & 3 : 0
    return stray == 0 ? text.count / 4 * 3 - padding : nil
  }

  /// The text of `bytes` in the alphabet for URLs (section 5), without padding.
  package static func encodeForURL(_ bytes: [UInt8]) -> String {
    let text = encode(bytes).utf8.compactMap { byte -> UInt8? in
      switch byte {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      case UInt8(ascii: "="): nil
      default: byte
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes `text` stands for, in either alphabet, with or without padding; a space is read as the plus sign that a
  /// form decoder made it from. Nil when it is neither.
  package static func decodeLeniently(_ text: some Sequence<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var digits = 0
    var padding = 0
    for byte in text {
      if byte == UInt8(ascii: "=") {
        padding += 1
        continue
      }
      guard padding == 0, let digit = digit(byte) else { return nil }
      bits = (bits << 6 | UInt32(digit)) & 0xFF_FFFF
      digits += 1
      if digits % 4 == 0 {
        bytes += [UInt8(bits >> 16), UInt8(bits >> 8 & 0xFF), UInt8(bits & 0xFF)]
        bits = 0
      }
    }
    guard padding <= 2 else { return nil }
    switch digits % 4 {
    case 0: return bytes
    case 2: return bytes + [UInt8(bits >> 4 & 0xFF)]
    case 3: return bytes + [UInt8(bits >> 10 & 0xFF), UInt8(bits >> 2 & 0xFF)]
    default: return nil
    }
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: " "): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
