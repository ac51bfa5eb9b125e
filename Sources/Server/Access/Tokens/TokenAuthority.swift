internal import MartletAccess
internal import MartletJSON
internal import MartletRuntime
internal import MartletSignatures
internal import MartletTokens
internal import MartletVocabulary

/// A caller that a token admitted.
package struct TokenGrant: Sendable, Hashable {
  /// The issuer as it was configured then.
  let issuer: TokenIssuer
  let key: TokenKey
  let identity: Identity
}

/// Verifies bearer tokens for all doors of a server, with the keys of its issuers that are in force. From any thread.
///
/// Equal tokens are verified once while they are good.
final class TokenAuthority: Sendable {
  /// What becomes of a token.
  enum Finding: Sendable {
    case accepted(TokenGrant)
    case refused(TokenRefusal)
    /// No key in force fits; another look at the issuer's key set may find it. `resolve` takes that look.
    case needsKey(UnresolvedToken)
    /// There are no keys to check it with for now.
    case unavailable
  }

  let issuers: [IssuerKeys]
  private let digest: @Sendable ([UInt8]) -> [UInt8]
  private let limits: TokenLimits
  /// How many texts were read as tokens.
  private let readings = Lock(0)

  /// - Parameters:
  ///   - previous: An authority whose issuers keep their keys where their description is the same.
  ///   - limits: Bounds that are the same for the server's lifetime.
  init(
    _ issuers: [CheckedIssuer], after previous: TokenAuthority?, _ limits: AccessLimits,
    digest: @escaping @Sendable ([UInt8]) -> [UInt8]
  ) {
    self.digest = digest
    self.limits = limits.tokens
    self.issuers = issuers.map { issuer in
      previous?.issuers.first { $0.issuer.description == issuer.description } ?? IssuerKeys(issuer, limits)
    }
  }

  /// Signatures that were checked, over all issuers.
  var verifications: Int { issuers.reduce(0) { $0 + $1.verifications } }

  /// Keys that were brought into the form of the cryptographic library, over all issuers.
  var imports: Int { issuers.reduce(0) { $0 + $1.imports } }
  /// Texts that were read as tokens: those that were not remembered.
  var read: Int { readings.withLock { $0 } }

  /// Whether text has the form of a token, so that it is not taken for an API key.
  static func isToken(_ text: String) -> Bool { text.utf8.count { $0 == UInt8(ascii: ".") } >= 2 }

  /// Judges a token by the keys in force.
  ///
  /// - Parameters:
  ///   - name: The digest of the token's text.
  ///   - now: Time since 1970.
  func check(_ token: String, digest name: [UInt8], at now: Duration) -> Finding {
    guard token.utf8.count <= limits.tokenBytes else { return .refused(.tooLarge) }
    for issuer in issuers {
      if let known = issuer.remembered(name, at: now) { return .accepted(known) }
    }
    let text: CompactToken
    let claims: TokenClaims
    do throws(TokenRefusal) {
      readings.withLock { $0 += 1 }
      text = try CompactToken(Array(token.utf8), limits: limits)
      // Not believed yet: the issuer that it claims says with whose keys it is checked.
      claims = try TokenClaims(text.payload, depth: limits.depth)
    } catch {
      return .refused(error)
    }
    var refusal = TokenRefusal.wrongIssuer(claims.issuer ?? "")
    var unresolved: UnresolvedToken?
    for issuer in issuers where issuer.mayHaveIssued(claims) {
      let generation = issuer.generation
      switch issuer.verify(text, claims, name, at: now) {
      case .success(let grant): return .accepted(grant)
      case .failure(let error):
        refusal = error
        if case .unknownKey = error, issuer.isPublished, unresolved == nil {
          unresolved = UnresolvedToken(token: token, issuer: issuer, generation: generation)
        }
      }
    }
    return unresolved.map { .needsKey($0) } ?? .refused(refusal)
  }

  /// Looks for the key of a token at its issuer, where that is allowed and may help, and judges it again.
  ///
  /// - Parameter completion: called once, on any thread.
  func resolve(
    _ unresolved: UnresolvedToken, now: @escaping @Sendable () -> Duration,
    _ completion: @escaping @Sendable (Finding) -> Void
  ) {
    unresolved.issuer.wait(
      KeyWaiter { [self] outcome in
        switch outcome {
        case .retry:
          let finding = check(unresolved.token, digest: digest(Array(unresolved.token.utf8)), at: now())
          if case .needsKey = finding { completion(.refused(.unknownKey(nil))) } else { completion(finding) }
        case .refused: completion(.refused(.unknownKey(nil)))
        case .unavailable: completion(.unavailable)
        }
      }, since: unresolved.generation)
  }

  /// Whether what a token admitted may continue: not when its issuer was removed or described otherwise, or its key was
  /// withdrawn.
  func stillAccepts(_ grant: TokenGrant, at now: Duration) -> Bool {
    guard grant.identity.expires.map({ now < $0 }) ?? true else { return false }
    return issuers.contains { $0.issuer.description == grant.issuer && $0.hasHad(grant.key) }
  }
}

/// A token whose key is not known yet.
struct UnresolvedToken: Sendable {
  let token: String
  let issuer: IssuerKeys
  /// How often the issuer's keys had been installed when the token was checked.
  let generation: Int
}

/// A caller that waits for a look at a key set.
final class KeyWaiter: Sendable {
  enum Outcome: Sendable { case retry, refused, unavailable }

  let resume: @Sendable (Outcome) -> Void

  init(_ resume: @escaping @Sendable (Outcome) -> Void) { self.resume = resume }
}
