/// Why a key of a set is not used.
package enum KeyRefusal: Error, Sendable, Hashable {
  case notAnObject
  case missingMember(String)
  case wrongType(String)
  /// A member that is not base64url, or not in its shortest form.
  case malformedMember(String)
  case unknownType(String)
  case unknownCurve(String)
  /// `alg` that is not implemented, or is not for signatures.
  case unknownAlgorithm(String)
  /// `alg` that a key of this type or curve cannot have.
  case unfittingAlgorithm(String)
  /// The key has no `alg`, and no accepted algorithm fits its type and curve.
  case noFittingAlgorithm
  /// `use` is not `sig`.
  case notForSignatures(String)
  /// `key_ops` does not contain `verify`.
  case notForVerification
  case shortModulus(bits: Int)
  case longModulus(bits: Int, most: Int)
  /// A public exponent that is even, below 3 or longer than 64 bits.
  case badExponent
  /// A modulus made by the faulty generator of CVE-2017-15361, which can be factored.
  case factorableModulus
  /// A secret shorter than the hash (RFC 7518, section 3.2).
  case shortSecret(bytes: Int, needed: Int)
  /// A shared secret in a set that any client can fetch.
  case publishedSecret
  /// Coordinates of another length than the curve's.
  case wrongLength(String)
  /// A point that is not on its curve.
  case notOnCurve
  /// A point of Ed25519 of a small order: signatures by it can be made without a secret.
  case smallOrder
  /// The cryptographic library refused the key.
  case notImported
}

extension KeyRefusal: CustomStringConvertible {
  /// A clause for an operator.
  package var description: String {
    switch self {
    case .notAnObject: "it is not a JSON object"
    case .missingMember(let name): "it has no \"\(name)\""
    case .wrongType(let name): "\"\(name)\" has the wrong type"
    case .malformedMember(let name): "\"\(name)\" is not base64url in its shortest form"
    case .unknownType(let type): "the key type \(TokenRefusal.quoted(type)) is not implemented"
    case .unknownCurve(let curve): "the curve \(TokenRefusal.quoted(curve)) is not implemented"
    case .unknownAlgorithm(let name): "its algorithm \(TokenRefusal.quoted(name)) is not one for signatures"
    case .unfittingAlgorithm(let name): "its algorithm \(TokenRefusal.quoted(name)) does not fit its type"
    case .noFittingAlgorithm: "it has no \"alg\", and no accepted algorithm fits its type"
    case .notForSignatures(let use): "its \"use\" is \(TokenRefusal.quoted(use)), not \"sig\""
    case .notForVerification: "its \"key_ops\" do not contain \"verify\""
    case .shortModulus(let bits): "it has \(bits) bits, and RSA keys need \(TokenKey.leastModulusBits)"
    case .longModulus(let bits, let most): "it has \(bits) bits, and RSA keys may have \(most)"
    case .badExponent: "its public exponent is even, below 3 or longer than 64 bits"
    case .factorableModulus: "its modulus can be factored (CVE-2017-15361)"
    case .shortSecret(let bytes, let needed): "its secret has \(bytes) bytes, and its algorithm needs \(needed)"
    case .publishedSecret: "a published key set must not contain shared secrets"
    case .wrongLength(let name): "\"\(name)\" does not have the length of its curve"
    case .notOnCurve: "its point is not on its curve"
    case .smallOrder: "its point has a small order"
    case .notImported: "the cryptographic library refused it"
    }
  }
}
