/// A key that proves tokens, for one algorithm only (RFC 8725, section 3.1).
package struct TokenKey: Sendable, Hashable {
  /// What a verifier computes with. Numbers are big-endian bytes.
  package enum Material: Sendable, Hashable {
    case secret([UInt8])
    case rsa(modulus: [UInt8], exponent: [UInt8])
    case point(EllipticCurve, x: [UInt8], y: [UInt8])
    case ed25519([UInt8])
  }

  /// `kid`.
  package let id: String?
  package let algorithm: TokenAlgorithm
  package let material: Material

  /// Bits of the shortest RSA modulus (RFC 7518, section 3.3).
  package static let leastModulusBits = 2_048
  /// Bits of the longest RSA modulus that OpenSSL checks signatures by (`OPENSSL_RSA_MAX_MODULUS_BITS`). Of published
  /// keys, which cost a server what their issuer likes, `KeySetLimits.keyBits` allows fewer.
  package static let mostModulusBits = 16_384

  /// A key from its parts.
  ///
  /// - Throws: what is wrong with them. Whether a point is on its curve is found when the key is imported.
  package init(id: String?, algorithm: TokenAlgorithm, material: Material) throws(KeyRefusal) {
    self.id = id
    self.algorithm = algorithm
    self.material = material
    try check()
  }

  private func check() throws(KeyRefusal) {
    switch (algorithm.scheme, material) {
    case (.hmac(let hash), .secret(let bytes)):
      guard bytes.count >= hash.byteCount else { throw .shortSecret(bytes: bytes.count, needed: hash.byteCount) }
    case (.rsaPKCS1, .rsa(let modulus, let exponent)), (.rsaPSS, .rsa(let modulus, let exponent)):
      try Self.check(modulus: modulus, exponent: exponent)
    case (.ecdsa(_, let needed), .point(let curve, let x, let y)):
      guard curve == needed else { throw .unfittingAlgorithm(algorithm.rawValue) }
      guard x.count == curve.byteCount else { throw .wrongLength("x") }
      guard y.count == curve.byteCount else { throw .wrongLength("y") }
    case (.edDSA, .ed25519(let bytes)):
      guard bytes.count == 32 else { throw .wrongLength("x") }
      guard !Ed25519Point.hasSmallOrder(bytes) else { throw .smallOrder }
    case (.hmac, _), (.rsaPKCS1, _), (.rsaPSS, _), (.ecdsa, _), (.edDSA, _):
      throw .unfittingAlgorithm(algorithm.rawValue)
    }
  }

  private static func check(modulus: [UInt8], exponent: [UInt8]) throws(KeyRefusal) {
    guard modulus.first != 0 else { throw .malformedMember("n") }
    guard exponent.first != 0 else { throw .malformedMember("e") }
    let bits = RSAModulus.bitCount(modulus)
    guard bits >= leastModulusBits else { throw .shortModulus(bits: bits) }
    guard bits <= mostModulusBits else { throw .longModulus(bits: bits, most: mostModulusBits) }
    guard exponent.count <= 8, let last = exponent.last, last & 1 == 1, exponent != [1] else { throw .badExponent }
    guard !RSAModulus.isFactorable(modulus) else { throw .factorableModulus }
  }
}
