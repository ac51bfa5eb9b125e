import MartletJSON
import MartletSockets

/// Makes tokens with HS256 and one fixed secret (RFC 7515, RFC 2104).
enum Mint {
  static let issuer = "https://own.example"
  private static let secret = Array("0123456789abcdef0123456789abcdef".utf8)

  /// The entry of an access file for the issuer of these tokens.
  static var entry: String {
    #"""
    {"issuer":"\#(issuer)","audience":"board","skew":0,"keys":{"kty":"oct","alg":"HS256","k":"\#(text(secret))"}}
    """#
  }

  /// A token for `subject` that ends at `end`, in seconds since 1970.
  static func token(
    _ subject: String, groups: [String] = [], audience: String = "board", until end: Double = 4_102_444_800,
    header: String = #"{"alg":"HS256"}"#
  ) -> String {
    let claims: JSONValue = [
      "iss": .string(issuer), "sub": .string(subject), "aud": .string(audience),
      "groups": .array(groups.map { .string($0) }), "exp": .double(end),
    ]
    return token(claims: claims.serialized(), header: header)
  }

  /// A token with these claims as they are.
  static func token(claims: [UInt8], header: String = #"{"alg":"HS256"}"#) -> String {
    let signed = text(Array(header.utf8)) + "." + text(claims)
    return signed + "." + text(code(Array(signed.utf8)))
  }

  private static func code(_ message: [UInt8]) -> [UInt8] {
    let key = secret + [UInt8](repeating: 0, count: 64 - secret.count)
    return Digest.sha256(key.map { $0 ^ 0x5C } + Digest.sha256(key.map { $0 ^ 0x36 } + message))
  }

  private static func text(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var text: [UInt8] = []
    var (bits, count) = (0, 0)
    for byte in bytes {
      (bits, count) = (bits << 8 | Int(byte), count + 8)
      while count >= 6 {
        count -= 6
        text.append(alphabet[bits >> count & 63])
      }
    }
    if count > 0 { text.append(alphabet[bits << (6 - count) & 63]) }
    return String(decoding: text, as: UTF8.self)
  }
}
