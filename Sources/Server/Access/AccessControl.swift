package import MartletAccess
package import MartletJSON
internal import MartletRuntime
internal import MartletTokens
internal import MartletWire

/// Which credentials the server accepts: any on the loopback network in development, else those of the access file, or
/// what the program decides.
///
/// API keys are random and long, so a plain SHA-256 of each is kept; comparison takes the same time wherever the first
/// difference is. Everything can be replaced while the server runs.
package final class AccessControl: Sendable {
  package enum Mode: Sendable {
    case development
    case file(AccessFile)
    /// `onConnect` decides alone.
    case program
  }

  private enum Accepted {
    case development
    case credentials(AcceptedCredentials)
    case program
  }

  /// What can be replaced while the server runs, together.
  private struct Policy {
    var accepted: Accepted
    var origins: OriginCheck
    /// Whether the access file lets queries show credentials.
    var takesQueryCredentials: Bool
  }

  private let policy: Lock<Policy>
  private let digest: @Sendable ([UInt8]) -> [UInt8]
  /// Time since 1970, by which keys and tokens expire.
  private let now: @Sendable () -> Duration
  /// Members of a `connection_init` payload, or of AppSync's authorization, that may hold credentials; lower case.
  private let members: [String]
  private let memberNames: [String]
  private let limits: AccessLimits
  /// Whether queries may show credentials whatever the access file says.
  private let queryCredentials: Bool

  /// The members looked at by default.
  package static let defaultMembers = ["x-api-key", "Authorization", "authToken"]

  /// - Parameters:
  ///   - queryCredentials: Whether queries may show credentials, where an endpoint's clients do so.
  ///   - limits: Bounds of tokens and key sets.
  ///   - digest: computes SHA-256.
  ///   - now: time since 1970.
  package init(
    _ mode: Mode, origins: OriginCheck, members: [String] = AccessControl.defaultMembers,
    queryCredentials: Bool = false, limits: AccessLimits = AccessLimits(),
    digest: @escaping @Sendable ([UInt8]) -> [UInt8], now: @escaping @Sendable () -> Duration = WallClock.sinceEpoch
  ) {
    self.members = members.map { $0.lowercased() }
    memberNames = members
    self.limits = limits
    self.queryCredentials = queryCredentials
    let (accepted, ofFile): (Accepted, Bool) =
      switch mode {
      case .development: (.development, false)
      case .program: (.program, false)
      case .file(let file):
        (.credentials(AcceptedCredentials(file, after: nil, limits, digest: digest)), file.takesQueryCredentials)
      }
    policy = Lock(Policy(accepted: accepted, origins: origins, takesQueryCredentials: ofFile))
    self.digest = digest
    self.now = now
  }

  private var accepted: Accepted { policy.withLock { $0.accepted } }
  package var origins: OriginCheck { policy.withLock { $0.origins } }
  /// Whether the query of a request may show credentials.
  var takesQueryCredentials: Bool { queryCredentials || policy.withLock { $0.takesQueryCredentials } }

  package var isDevelopment: Bool {
    if case .development = accepted { true } else { false }
  }

  /// What an access file accepts; nil where there is none.
  var credentials: AcceptedCredentials? {
    if case .credentials(let credentials) = accepted { credentials } else { nil }
  }

  /// Verifies tokens; nil where none are accepted.
  var tokens: TokenAuthority? { credentials?.tokens }
  /// Gives tokens of the server's own; nil where there is no sign-in.
  var signIn: SignInDesk? { credentials?.signIn }
  /// The custom authorizer, where one is asked.
  var authorizer: AuthorizerDesk? { credentials?.authorizer }

  /// Signatures of tokens that were checked.
  package var tokenVerifications: Int { tokens?.verifications ?? 0 }
  /// Texts that were read as tokens.
  package var tokensRead: Int { tokens?.read ?? 0 }
  /// Keys that were brought into the form of the cryptographic library.
  package var keyImports: Int { tokens?.imports ?? 0 }

  /// What admitted a client. The credentials stand beside it, because every connection keeps one.
  package indirect enum Grant: Sendable, Hashable {
    /// No credentials are needed.
    case development
    case key(APIKey)
    case token(TokenGrant)
    case authorizer(AuthorizerGrant)
    case signature(SigningKey)
    /// None were shown, and callers without are admitted.
    case guest
    /// Credentials are the program's affair.
    case program
  }

  /// Puts another access file in force, all of it at once. Sessions that withdrawn credentials admitted have to be
  /// judged again by `isGood`.
  ///
  /// - Returns: false, with nothing changed, for a server whose access is not by an access file.
  package func replace(_ file: AccessFile) -> Bool {
    policy.withLock { policy in
      guard case .credentials(let old) = policy.accepted else { return false }
      policy = Policy(
        accepted: .credentials(AcceptedCredentials(file, after: old, limits, digest: digest)),
        origins: OriginCheck(.origins(file.origins)), takesQueryCredentials: file.takesQueryCredentials)
      return true
    }
  }

  // MARK: Judging

  /// Judges a request by its headers.
  func judge(apiKey: String?, authorization: String?) -> CredentialFinding {
    judge(apiKey.map { [$0] } ?? authorization.map { [Self.bearer($0)] } ?? [])
  }

  /// Judges a request by what its query shows. A signature is over header fields, and stands in one of them.
  func judge(parameter text: String) -> CredentialFinding {
    RequestSignature.isSignature(text) ? .refused("signature-unexpected") : judge([text])
  }

  /// Judges a socket by the payload of its `connection_init` or by AppSync's authorization: each of the configured
  /// members may hold credentials, with or without `Bearer`.
  func judge(payload: JSONObject?) -> CredentialFinding {
    var shown: [String] = []
    for (name, value) in payload ?? JSONObject() where members.contains(name.lowercased()) {
      if let text = value.string { shown.append(Self.bearer(text)) }
    }
    return judge(shown)
  }

  private func judge(_ shown: [String]) -> CredentialFinding {
    switch accepted {
    case .development: return .granted(.development)
    case .program: return .granted(.program)
    case .credentials(let credentials):
      if shown.isEmpty { return credentials.allowsGuests ? .granted(.guest) : .missing }
      var finding = CredentialFinding.missing
      for text in shown {
        finding = judge(text, credentials)
        switch finding {
        case .granted, .unresolved, .signed: return finding
        case .refused, .missing: break
        }
      }
      return finding
    }
  }

  private func judge(_ text: String, _ credentials: AcceptedCredentials) -> CredentialFinding {
    if RequestSignature.isSignature(text) { return judge(signature: text, credentials) }
    let name = digest(Array(text.utf8))
    switch credentials.keys.find(name, at: now()) {
    case .accepted(let key): return .granted(.key(key))
    case .expired: return .refused("key-expired")
    case .unknown: break
    }
    guard !credentials.tokens.issuers.isEmpty, TokenAuthority.isToken(text) else {
      return byAuthorizer(text, name, credentials) ?? .refused("unknown-key")
    }
    let checked = credentials.tokens.check(text, digest: name, at: now())
    // A token that its issuer's keys refuse is not accepted by the authorizer either.
    if case .refused(let reason) = checked, reason.isOfNoIssuer, let other = byAuthorizer(text, name, credentials) {
      return other
    }
    return Self.finding(checked)
  }

  /// Reads a signature and finds its key, before its request has arrived.
  private func judge(signature text: String, _ credentials: AcceptedCredentials) -> CredentialFinding {
    do throws(RequestSignature.Failure) {
      let signature = try RequestSignature(text, bytes: limits.signatureBytes, fields: limits.signatureFields)
      let id = signature.accessKeyID
      guard let key = credentials.signing.first(where: { $0.accessKeyID.utf8.elementsEqual(id.utf8) }) else {
        return .refused("unknown-key")
      }
      guard signature.service == "appsync", key.region.map({ $0 == signature.region }) ?? true else {
        return .refused("signature-scope")
      }
      return .signed(SignatureClaim(signature: signature, key: key))
    } catch {
      return .refused(error.rawValue)
    }
  }

  /// Checks a signature over its request.
  func check(_ claim: SignatureClaim, over request: SignedRequest) -> CredentialFinding {
    let (seconds, attoseconds) = now().components
    do throws(RequestSignature.Failure) {
      try claim.check(request, at: seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    } catch {
      return .refused(error.rawValue)
    }
    // Other keys may have been put in force while the request arrived.
    let grant = Grant.signature(claim.key)
    return isGood(grant) ? .granted(grant) : .refused("unknown-key")
  }

  /// What the custom authorizer says; nil where none is asked.
  private func byAuthorizer(_ text: String, _ digest: [UInt8], _ credentials: AcceptedCredentials) -> CredentialFinding?
  {
    guard let authorizer = credentials.authorizer else { return nil }
    guard text.utf8.count <= limits.tokens.tokenBytes else { return .refused(TokenRefusal.tooLarge.code) }
    if let grant = authorizer.remembered(digest, at: now()) { return .granted(.authorizer(grant)) }
    return .unresolved(.authorizer(UnjudgedCredential(text: text, digest: digest)))
  }

  private static func finding(_ finding: TokenAuthority.Finding) -> CredentialFinding {
    switch finding {
    case .accepted(let grant): .granted(.token(grant))
    case .refused(let reason): .refused(reason.code)
    case .needsKey(let token): .unresolved(.token(token))
    case .unavailable: .refused("no-keys")
    }
  }

  /// Looks for the key of a token and judges it again, or asks the custom authorizer. `completion` is called once, on
  /// any thread.
  func resolve(_ unresolved: UnresolvedCredential, _ completion: @escaping @Sendable (CredentialFinding) -> Void) {
    switch unresolved {
    case .token(let token):
      guard let tokens else { return completion(.refused("no-keys")) }
      tokens.resolve(token, now: now) { completion(Self.finding($0)) }
    case .authorizer(let credential):
      guard let authorizer else { return completion(.refused("unknown-key")) }
      authorizer.resolve(credential) { [self] outcome in
        switch outcome {
        case .accepted(let identity):
          // Another one may have been put in force meanwhile.
          let grant = Grant.authorizer(authorizer.grant(identity))
          completion(isGood(grant) ? .granted(grant) : .refused("authorizer-replaced"))
        case .refused: completion(.refused("authorizer-refused"))
        case .failed(let failure): completion(.refused(failure.code))
        }
      }
    }
  }

  /// Whether what admitted a client would still do so.
  package func isGood(_ grant: Grant) -> Bool {
    switch (grant, accepted) {
    case (.key(let key), .credentials(let credentials)): credentials.keys.stillAccepts(key, at: now())
    case (.token(let grant), .credentials(let credentials)): credentials.tokens.stillAccepts(grant, at: now())
    case (.authorizer(let grant), .credentials(let credentials)):
      credentials.authorizer?.authorizer == grant.authorizer && grant.identity.expires.map { now() < $0 } ?? true
    case (.signature(let key), .credentials(let credentials)): credentials.signing.contains(key)
    case (.guest, .credentials(let credentials)): credentials.allowsGuests
    case (_, .development), (.program, .program): true
    case (.development, .credentials), (.program, .credentials), (_, .program): false
    }
  }

  /// Whether there is a key of this name, for what its holder has left behind. Of tokens and of what an authorizer
  /// says only their connection knows whether they have ended.
  func hasKey(_ name: String, of provider: IdentityProvider) -> Bool {
    guard let credentials else { return true }
    return switch provider {
    case .apiKey:
      credentials.keys.keys.contains { key in
        key.name.utf8.elementsEqual(name.utf8) && key.expires.map { now() < $0 } ?? true
      }
    case .iam: credentials.signing.contains { $0.accessKeyID.utf8.elementsEqual(name.utf8) }
    case .guest, .userPools, .oidc, .identityPool, .function, .system: true
    }
  }

  /// Whether a request with this API key is admitted.
  package func accepts(apiKey: String) -> Bool {
    if case .granted = judge(apiKey: apiKey, authorization: nil) { true } else { false }
  }

  /// What a request shows under the configured names, in the form a socket's payload has.
  ///
  /// - Parameter parameter: what its query shows, which stands for `Authorization`.
  package func credentials(_ field: (String) -> String?, parameter: String? = nil) -> JSONObject {
    var found = JSONObject()
    for name in memberNames {
      if let value = field(name) {
        found[name] = .string(value)
      } else if let parameter, name.lowercased() == "authorization" {
        found[name] = .string("Bearer " + parameter)
      }
    }
    return found
  }

  private static func bearer(_ header: String) -> String {
    let name = "bearer "
    // A token has hundreds of bytes, of which the first few decide.
    let isNamed =
      header.utf8.count >= name.utf8.count
      && zip(header.utf8, name.utf8).allSatisfy { $0 >= 0x20 && $0 | 0x20 == $1 }
    return isNamed ? String(decoding: header.utf8.dropFirst(name.utf8.count), as: UTF8.self) : header
  }
}
