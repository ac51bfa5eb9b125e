internal import CMartletOpenSSL
internal import MartletTokens

/// A public key in OpenSSL's form.
///
/// Unchecked, because the compiler does not know that OpenSSL allows checks with one key from several threads: the key
/// is not changed after the initializer, its reference count is atomic, and each check has a context of its own.
@safe final class PublicKey: ImportedKey, @unchecked Sendable {
  private let handle: OpaquePointer
  private let scheme: TokenAlgorithm.Scheme

  /// Takes the reference that `handle` is; nil throws `refusal`.
  init(_ handle: OpaquePointer?, algorithm: TokenAlgorithm, otherwise refusal: KeyRefusal) throws(KeyRefusal) {
    guard let handle = unsafe handle else { throw refusal }
    unsafe self.handle = handle
    scheme = algorithm.scheme
  }

  deinit {
    // The one reference that the initializer took.
    unsafe EVP_PKEY_free(handle)
  }

  func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    switch scheme {
    case .hmac: false
    case .rsaPKCS1(let hash): isWhole(signature) && check(signature, message, digest: hash.name, isPSS: false)
    case .rsaPSS(let hash): isWhole(signature) && check(signature, message, digest: hash.name, isPSS: true)
    case .ecdsa(let hash, let curve):
      if let encoded = ECDSASignature.distinguishedEncoding(of: signature, coordinateBytes: curve.byteCount) {
        check(encoded, message, digest: hash.name, isPSS: false)
      } else {
        false
      }
    case .edDSA: signature.count == 64 && check(signature, message, digest: nil, isPSS: false)
    }
  }

  /// An RSA signature is as long as the modulus (RFC 8017, section 8): OpenSSL also accepts PSS signatures without
  /// their leading zeros.
  private func isWhole(_ signature: [UInt8]) -> Bool {
    // The key lives as long as self.
    unsafe signature.count == Int(EVP_PKEY_get_size(handle))
  }

  private func check(_ signature: [UInt8], _ message: [UInt8], digest: String?, isPSS: Bool) -> Bool {
    // Every pointer lives for the call; the key lives as long as self.
    unsafe martlet_key_verifies(
      handle, digest, isPSS ? 1 : 0, signature, signature.count, message, message.count) == 1
  }
}

extension TokenAlgorithm.Hash {
  /// OpenSSL's name.
  var name: String {
    switch self {
    case .sha256: "SHA256"
    case .sha384: "SHA384"
    case .sha512: "SHA512"
    }
  }
}
