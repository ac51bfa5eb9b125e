/// A signature algorithm of RFC 7518, section 3, or RFC 8037. `none` is not among them.
package enum TokenAlgorithm: String, Sendable, Hashable, CaseIterable {
  case rs256 = "RS256"
  case rs384 = "RS384"
  case rs512 = "RS512"
  case ps256 = "PS256"
  case ps384 = "PS384"
  case ps512 = "PS512"
  case es256 = "ES256"
  case es384 = "ES384"
  case es512 = "ES512"
  case edDSA = "EdDSA"
  case hs256 = "HS256"
  case hs384 = "HS384"
  case hs512 = "HS512"

  /// The hash that the algorithm applies first; EdDSA has its own inside.
  package enum Hash: Sendable, Hashable {
    case sha256, sha384, sha512

    /// Bytes of the digest.
    package var byteCount: Int {
      switch self {
      case .sha256: 32
      case .sha384: 48
      case .sha512: 64
      }
    }
  }

  /// What kind of key the algorithm needs, and how it signs.
  package enum Scheme: Sendable, Hashable {
    case hmac(Hash)
    case rsaPKCS1(Hash)
    case rsaPSS(Hash)
    case ecdsa(Hash, EllipticCurve)
    case edDSA
  }

  package var scheme: Scheme {
    switch self {
    case .hs256: .hmac(.sha256)
    case .hs384: .hmac(.sha384)
    case .hs512: .hmac(.sha512)
    case .rs256: .rsaPKCS1(.sha256)
    case .rs384: .rsaPKCS1(.sha384)
    case .rs512: .rsaPKCS1(.sha512)
    case .ps256: .rsaPSS(.sha256)
    case .ps384: .rsaPSS(.sha384)
    case .ps512: .rsaPSS(.sha512)
    case .es256: .ecdsa(.sha256, .p256)
    case .es384: .ecdsa(.sha384, .p384)
    case .es512: .ecdsa(.sha512, .p521)
    case .edDSA: .edDSA
    }
  }
}

/// A curve of RFC 7518, section 6.2.1.1.
package enum EllipticCurve: String, Sendable, Hashable, CaseIterable {
  case p256 = "P-256"
  case p384 = "P-384"
  case p521 = "P-521"

  /// Bytes of one coordinate, and of each half of a signature.
  package var byteCount: Int {
    switch self {
    case .p256: 32
    case .p384: 48
    case .p521: 66
    }
  }
}
