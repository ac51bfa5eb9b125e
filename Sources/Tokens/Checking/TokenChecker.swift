/// Decides whether a token is accepted. Holds no state: keys and time are arguments.
package struct TokenChecker: Sendable {
  package let policy: TokenPolicy

  package init(_ policy: TokenPolicy) {
    self.policy = policy
  }

  /// A token whose signature is right, and the key that made it.
  package struct Verified: Sendable {
    package let token: CompactToken
    package let key: TokenKey
  }

  /// Checks form, header and signature, but no claims: the payload may be any bytes.
  package func verify(_ text: [UInt8], with keys: VerificationKeys) throws(TokenRefusal) -> Verified {
    let token = try CompactToken(text, limits: policy.limits)
    return Verified(token: token, key: try key(of: token, among: keys))
  }

  /// The key that made the signature of a token that has been read, after its header was checked.
  package func key(of token: CompactToken, among keys: VerificationKeys) throws(TokenRefusal) -> TokenKey {
    let header = token.header
    guard policy.algorithms.contains(header.algorithm) else { throw .algorithmNotAllowed(header.algorithm) }
    if let kind = header.kind, Self.isOtherKind(kind) { throw .otherKind(kind) }
    for entry in try keys.candidates(for: header, limit: policy.limits.keysTried)
    where entry.imported.verifies(token.signature, of: token.signedBytes) {
      return entry.key
    }
    throw .wrongSignature
  }

  /// Checks everything and returns the claims.
  ///
  /// - Parameter now: Time since 1970.
  package func check(
    _ text: [UInt8], with keys: VerificationKeys, at now: Duration
  ) throws(TokenRefusal) -> TokenClaims {
    let verified = try verify(text, with: keys)
    let claims = try TokenClaims(verified.token.payload, depth: policy.limits.depth)
    try policy.check(claims, at: now)
    return claims
  }

  /// Explicitly typed tokens (RFC 8725, section 3.11) are for one purpose. Access tokens are `at+jwt` (RFC 9068);
  /// others, such as `logout+jwt`, must not be taken for one.
  private static func isOtherKind(_ kind: String) -> Bool {
    kind.hasSuffix("+jwt") && kind != "at+jwt"
  }
}
