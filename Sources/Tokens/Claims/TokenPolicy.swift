internal import MartletJSON

/// What an accepted token must claim.
package struct TokenPolicy: Sendable, Hashable {
  /// The only issuer that is accepted; nil for any.
  package var issuer: String?
  /// The audiences the program answers to: `aud` must name one of them. Nil leaves `aud` unchecked, which a server may
  /// do only when its issuer issues tokens for nothing else.
  package var audiences: [String]?
  /// Claims that must be there, whatever they say.
  package var required: [String]
  /// How far the clocks of issuer and server may differ.
  package var skew: Duration
  /// How long after `iat` a token is accepted; nil for as long as `exp` allows. A token without `iat` is then refused,
  /// and so is one issued in the future.
  package var maximumAge: Duration?
  /// Algorithms that are accepted, in the order in which a key without `alg` takes one of them.
  package var algorithms: [TokenAlgorithm]
  package var limits: TokenLimits

  /// Clocks that are kept by NTP differ by less than a second, unattended ones by a minute.
  package static let defaultSkew = Duration.seconds(60)

  package init(
    issuer: String? = nil, audiences: [String]? = nil, required: [String] = ["exp"],
    skew: Duration = Self.defaultSkew, maximumAge: Duration? = nil,
    algorithms: [TokenAlgorithm] = TokenAlgorithm.allCases, limits: TokenLimits = TokenLimits()
  ) {
    self.issuer = issuer
    self.audiences = audiences
    self.required = required
    self.skew = skew
    self.maximumAge = maximumAge
    self.algorithms = algorithms
    self.limits = limits
  }

  /// Checks claims at `now`, a time since 1970.
  ///
  /// - Throws: the first rule that they break.
  package func check(_ claims: TokenClaims, at now: Duration) throws(TokenRefusal) {
    for name in required where claims.all[name] == nil { throw .missingClaim(name) }
    if let issuer {
      guard let claimed = claims.issuer else { throw .missingClaim("iss") }
      guard claimed.hasSameBytes(as: issuer) else { throw .wrongIssuer(claimed) }
    }
    if let audiences {
      guard let claimed = claims.audiences else { throw .missingClaim("aud") }
      let isMeant = claimed.contains { name in audiences.contains { $0.hasSameBytes(as: name) } }
      guard isMeant else { throw .wrongAudience }
    }
    try checkTimes(claims, at: now)
  }

  private func checkTimes(_ claims: TokenClaims, at now: Duration) throws(TokenRefusal) {
    if let end = claims.expires, now >= end + skew { throw .expired(at: end) }
    if let start = claims.notBefore, now + skew < start { throw .notYetValid(until: start) }
    guard let maximumAge else { return }
    guard let issued = claims.issued else { throw .missingClaim("iat") }
    if issued > now + skew { throw .issuedInFuture(issued) }
    if now >= issued + maximumAge + skew { throw .tooOld(issued) }
  }

  /// The time at which a token with these claims stops being accepted, since 1970; nil for never.
  package func end(of claims: TokenClaims) -> Duration? {
    let byAge = maximumAge.flatMap { age in claims.issued.map { $0 + age + skew } }
    return [claims.expires.map { $0 + skew }, byAge].compactMap { $0 }.min()
  }
}
