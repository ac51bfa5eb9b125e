/// The signature of a webhook's request, as the Standard Webhooks specification has it: HMAC-SHA256 over the id, the
/// time and the body, by a secret that both ends know.
package enum WebhookSignature {
  /// What is signed.
  package static func content(id: String, seconds: Int64, body: [UInt8]) -> [UInt8] {
    Array("\(id).\(seconds).".utf8) + body
  }

  /// The value of `webhook-signature`: one signature for each secret, so that a secret can be replaced while receivers
  /// still check by the old one.
  package static func field(_ codes: [[UInt8]]) -> String {
    codes.map { "v1,\(base64($0))" }.joined(separator: " ")
  }

  /// The bytes of a secret: what follows `whsec_` is base64, anything else stands for itself.
  ///
  /// - Throws: `ChannelError` (`signature`) for a secret that can be guessed or is not base64.
  package static func key(_ secret: String) throws(ChannelError) -> [UInt8] {
    let prefix = "whsec_"
    let key: [UInt8]
    if secret.hasPrefix(prefix) {
      guard let bytes = bytes(base64: secret.dropFirst(prefix.count)) else {
        throw ChannelError(.signature, "the secret is not base64 after \(prefix)")
      }
      key = bytes
    } else {
      key = Array(secret.utf8)
    }
    guard key.count >= shortest else {
      throw ChannelError(.signature, "the secret has \(key.count) bytes; \(shortest) are needed")
    }
    return key
  }

  private static let shortest = 16
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func base64(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for place in 0..<4 {
        text.append(place <= group.count ? alphabet[bits >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func bytes(base64 text: Substring) -> [UInt8]? {
    var bytes: [UInt8] = []
    var (bits, count) = (0, 0)
    var digits = Array(text.utf8)
    while digits.last == UInt8(ascii: "=") { digits.removeLast() }
    for digit in digits {
      guard let value = alphabet.firstIndex(of: digit) else { return nil }
      bits = (bits << 6 | value) & 0xFFFFFF
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(bits >> count & 0xFF))
      }
    }
    return bytes
  }
}
