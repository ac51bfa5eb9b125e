internal import CMartletOpenSSL
internal import MartletTokens

/// A public key in OpenSSL's form, with a check that is prepared once and copied for each signature.
///
/// Unchecked, because the compiler does not know that OpenSSL allows copies of one check from several threads: it is
/// not changed after the initializer, reference counts of what it holds are atomic, and each signature has a copy.
@safe final class PublicKey: ImportedKey, @unchecked Sendable {
  private let prepared: OpaquePointer
  /// Bytes of an RSA signature: as many as the modulus has.
  private let modulusBytes: Int
  private let scheme: TokenAlgorithm.Scheme

  /// Takes the reference that `handle` is; nil throws `refusal`.
  init(_ handle: OpaquePointer?, algorithm: TokenAlgorithm, otherwise refusal: KeyRefusal) throws(KeyRefusal) {
    guard let handle = unsafe handle else { throw refusal }
    // The check has a reference of its own.
    defer { unsafe EVP_PKEY_free(handle) }
    scheme = algorithm.scheme
    modulusBytes = unsafe Int(EVP_PKEY_get_size(handle))
    let made =
      switch scheme {
      case .hmac: throw KeyRefusal.unfittingAlgorithm(algorithm.rawValue)
      case .rsaPKCS1(let hash), .ecdsa(let hash, _): unsafe martlet_check_prepared(handle, hash.name, 0)
      case .rsaPSS(let hash): unsafe martlet_check_prepared(handle, hash.name, 1)
      case .edDSA: unsafe martlet_check_prepared(handle, nil, 0)
      }
    guard let made = unsafe made else { throw .notImported }
    unsafe prepared = made
  }

  deinit {
    // The one reference that the initializer took.
    unsafe EVP_MD_CTX_free(prepared)
  }

  func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    switch scheme {
    case .hmac: return false
    // An RSA signature is as long as the modulus (RFC 8017, section 8): OpenSSL also accepts PSS signatures without
    // their leading zeros.
    case .rsaPKCS1, .rsaPSS: return signature.count == modulusBytes && check(signature, message)
    case .ecdsa(_, let curve):
      guard let encoded = ECDSASignature.distinguishedEncoding(of: signature, coordinateBytes: curve.byteCount) else {
        return false
      }
      return check(encoded, message)
    case .edDSA: return signature.count == 64 && check(signature, message)
    }
  }

  private func check(_ signature: [UInt8], _ message: [UInt8]) -> Bool {
    // Every pointer lives for the call; what is prepared lives as long as self.
    unsafe martlet_check(prepared, signature, signature.count, message, message.count) == 1
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
