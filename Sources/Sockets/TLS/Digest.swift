internal import CMartletOpenSSL

/// Digests by OpenSSL.
package enum Digest {
  /// SHA-256 of some bytes: 32 bytes.
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
    // Both arrays outlive the call; the result has the digest's length.
    _ = unsafe SHA256(bytes, bytes.count, &result)
    return result
  }
}
