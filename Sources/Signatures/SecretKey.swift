internal import CMartletOpenSSL
internal import MartletTokens

/// A shared secret that authenticates messages by HMAC.
struct SecretKey: ImportedKey {
  let secret: [UInt8]
  let hash: TokenAlgorithm.Hash

  func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    guard let code = code(of: message), code.count == signature.count else { return false }
    // Both arrays have that length and outlive the call, which takes the same time wherever they differ.
    return unsafe CRYPTO_memcmp(code, signature, code.count) == 0
  }

  func code(of message: [UInt8]) -> [UInt8]? {
    var code = [UInt8](repeating: 0, count: hash.byteCount)
    var length: UInt32 = 0
    let digest =
      switch hash {
      case .sha256: unsafe EVP_sha256()
      case .sha384: unsafe EVP_sha384()
      case .sha512: unsafe EVP_sha512()
      }
    // The arrays outlive the call; the result has the digest's length.
    let written = unsafe HMAC(digest, secret, Int32(secret.count), message, message.count, &code, &length)
    return unsafe written != nil && Int(length) == code.count ? code : nil
  }
}
