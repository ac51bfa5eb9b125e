internal import CMartletOpenSSL
internal import MartletTokens

/// A private key that signs tokens for others' services: RSA (RS256) or the curve P-256 (ES256).
///
/// Unchecked, because the compiler does not know that OpenSSL allows signatures with one key from several threads: the
/// key is not changed after the initializer, and each signature has a context of its own.
@safe package final class PrivateKey: @unchecked Sendable {
  /// The algorithm's name in a token's header.
  package enum Algorithm: String, Sendable {
    case rs256 = "RS256"
    case es256 = "ES256"
  }

  package let algorithm: Algorithm
  private let handle: OpaquePointer

  /// Reads a key in PEM form; nil for a text without one, a key with a password, an RSA key of less than 2048 bits, and
  /// any other kind of key.
  package init?(pem: String) {
    let text = Array(pem.utf8)
    // The text outlives the call, which copies it.
    guard let key = unsafe martlet_private_key(text, text.count) else { return nil }
    // The reference that was just made.
    switch unsafe martlet_private_kind(key) {
    case Int32(MARTLET_PRIVATE_RSA): algorithm = .rs256
    case Int32(MARTLET_PRIVATE_P256): algorithm = .es256
    default:
      unsafe EVP_PKEY_free(key)
      return nil
    }
    unsafe handle = key
  }

  deinit {
    // The one reference that the initializer took.
    unsafe EVP_PKEY_free(handle)
  }

  /// The signature of a message as tokens have it (RFC 7518); nil when OpenSSL makes none.
  package func signature(of message: [UInt8]) -> [UInt8]? {
    var signature = [UInt8](repeating: 0, count: 1_024)
    var length = signature.count
    // The arrays outlive the call, which writes at most `length` bytes; the key lives as long as self.
    guard unsafe martlet_private_sign(handle, message, message.count, &signature, &length) == 1 else { return nil }
    signature.removeLast(signature.count - length)
    return algorithm == .rs256 ? signature : ECDSASignature.fixedEncoding(of: signature, coordinateBytes: 32)
  }

  /// A signed token with these parts, each as JSON text.
  package func token(header: [UInt8], claims: [UInt8]) -> String? {
    let content = Base64URL.encode(header) + [UInt8(ascii: ".")] + Base64URL.encode(claims)
    guard let signature = signature(of: content) else { return nil }
    return String(decoding: content + [UInt8(ascii: ".")] + Base64URL.encode(signature), as: UTF8.self)
  }
}
