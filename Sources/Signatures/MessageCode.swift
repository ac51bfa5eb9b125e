internal import MartletTokens

/// Codes that authenticate messages by a shared secret.
package enum MessageCode {
  /// HMAC-SHA256 of a message: 32 bytes; nil for a secret that OpenSSL refuses.
  package static func sha256(of message: [UInt8], by secret: [UInt8]) -> [UInt8]? {
    SecretKey(secret: secret, hash: .sha256).code(of: message)
  }
}
