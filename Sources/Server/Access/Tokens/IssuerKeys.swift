internal import MartletAccess
internal import MartletRuntime
internal import MartletSignatures
internal import MartletTokens

/// One issuer of a server: the keys in force, and the tokens that were verified with them. From any thread.
final class IssuerKeys: Sendable {
  private struct State {
    /// Nil while there are none.
    var keys: VerificationKeys?
    /// The keys that were installed last. An outage of their source takes them out of force and ends nothing that runs.
    var installed: Set<TokenKey> = []
    /// How often keys were installed.
    var generation = 0
    var cache: TokenCache
    var verifications = 0
    /// Keys that were brought into the form of the cryptographic library.
    var imports = 0
    /// Fetches the key set; nil while the server is not running.
    var driver: LoopBound<KeySetDriver>?
  }

  let issuer: CheckedIssuer
  /// Bounds on fetching the key set.
  let limits: KeySetLimits
  private let state: Lock<State>

  init(_ issuer: CheckedIssuer, _ limits: AccessLimits) {
    var issuer = issuer
    issuer.policy.limits = limits.tokens
    self.issuer = issuer
    self.limits = limits.keySets
    var state = State(cache: TokenCache(capacity: limits.tokens.remembered))
    if case .fixed(let set) = issuer.keys {
      state.keys = VerificationKeys(set, with: SystemVerifier())
      state.installed = Set(set.keys)
      state.imports = set.keys.count
    }
    self.state = Lock(state)
  }

  /// Whether the keys come from an address.
  var isPublished: Bool {
    if case .published = issuer.keys { true } else { false }
  }

  var verifications: Int { state.withLock { $0.verifications } }
  var imports: Int { state.withLock { $0.imports } }

  func mayHaveIssued(_ claims: TokenClaims) -> Bool {
    guard let name = issuer.policy.issuer else { return true }
    return claims.issuer.map { $0.utf8.elementsEqual(name.utf8) } ?? false
  }

  // MARK: Tokens

  /// The grant of a token that was verified before, by the digest of its text.
  func remembered(_ digest: [UInt8], at now: Duration) -> TokenGrant? {
    state.withLock { $0.cache.find(digest, at: now) }.map { grant($0.claims, $0.key, end: $0.end) }
  }

  /// Checks a token with the keys in force and remembers it when it is good.
  ///
  /// - Parameter claims: the token's own, which nothing has proved yet.
  func verify(
    _ token: CompactToken, _ claims: TokenClaims, _ digest: [UInt8], at now: Duration
  ) -> Result<TokenGrant, TokenRefusal> {
    guard let keys = state.withLock({ $0.keys }) else { return .failure(.unknownKey(nil)) }
    do throws(TokenRefusal) {
      state.withLock { $0.verifications += 1 }
      let key = try TokenChecker(issuer.policy).key(of: token, among: keys)
      try issuer.policy.check(claims, at: now)
      let end = issuer.policy.end(of: claims)
      let start = claims.notBefore.map { $0 - issuer.policy.skew }
      let entry = TokenCache.Entry(claims: claims, key: key, end: end, start: start)
      state.withLock { state in
        // Keys may have been replaced since they were read.
        if state.installed.contains(key) { state.cache.insert(entry, for: digest) }
      }
      return .success(grant(claims, key, end: end))
    } catch {
      return .failure(error)
    }
  }

  private func grant(_ claims: TokenClaims, _ key: TokenKey, end: Duration?) -> TokenGrant {
    TokenGrant(
      issuer: issuer.description, key: key,
      identity: claims.identity(groupsClaim: issuer.description.groupsClaim, end: end))
  }

  /// Whether a key is among those that were installed last.
  func hasHad(_ key: TokenKey) -> Bool { state.withLock { $0.installed.contains(key) } }

  // MARK: Keys

  /// Puts keys in force. Returns whether keys were taken out.
  func install(_ set: TokenKeySet) -> Bool {
    let keys = VerificationKeys(set, with: SystemVerifier())
    return state.withLock { state in
      let isWithdrawal = !state.installed.isSubset(of: set.keys)
      state.keys = keys
      state.installed = Set(set.keys)
      state.imports += set.keys.count
      state.generation += 1
      state.cache.retain(keys: set.keys)
      return isWithdrawal
    }
  }

  /// No key is in force until the source answers again.
  func withdraw() {
    state.withLock { state in
      state.keys = nil
      state.cache.removeAll()
    }
  }

  // MARK: The driver

  func attach(_ driver: LoopBound<KeySetDriver>?) { state.withLock { $0.driver = driver } }

  /// How often keys were installed.
  var generation: Int { state.withLock { $0.generation } }

  /// Hands a waiter to the driver. `generation` is what it was before the waiter's token was checked.
  func wait(_ waiter: KeyWaiter, since generation: Int) {
    guard let driver = state.withLock({ $0.driver }) else { return waiter.resume(.unavailable) }
    driver.loop.execute { driver.value.misses(waiter, since: generation) }
  }
}
