internal import CMartletOpenSSL
package import MartletTokens

/// Checks signatures with OpenSSL.
package struct SystemVerifier: SignatureVerifier {
  package init() {}

  package func imported(_ key: TokenKey) throws(KeyRefusal) -> any ImportedKey {
    switch key.material {
    case .secret(let secret):
      guard case .hmac(let hash) = key.algorithm.scheme else { throw .unfittingAlgorithm(key.algorithm.rawValue) }
      return SecretKey(secret: secret, hash: hash)
    case .rsa(let modulus, let exponent):
      // The arrays outlive the call, which copies them.
      let handle = unsafe martlet_key_rsa(modulus, modulus.count, exponent, exponent.count)
      return try unsafe PublicKey(handle, algorithm: key.algorithm, otherwise: .notImported)
    case .point(let curve, let x, let y):
      let point = [0x04] + x + y
      // As above.
      let handle = unsafe martlet_key_point(curve.rawValue, point, point.count)
      return try unsafe PublicKey(handle, algorithm: key.algorithm, otherwise: .notOnCurve)
    case .ed25519(let bytes):
      // As above.
      let handle = unsafe martlet_key_ed25519(bytes, bytes.count)
      return try unsafe PublicKey(handle, algorithm: key.algorithm, otherwise: .notImported)
    }
  }
}
