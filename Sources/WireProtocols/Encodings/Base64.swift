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
}
