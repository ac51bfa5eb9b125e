internal import MartletAccess
internal import MartletJSON
internal import MartletRuntime
package import MartletTokens

/// What an access file accepts, in the order in which it is tried: API keys, tokens, what the custom authorizer
/// accepts, and callers without credentials.
struct AcceptedCredentials: Sendable {
  var keys: APIKeyRing
  var tokens: TokenAuthority
  var authorizer: AuthorizerDesk?
  /// Access keys whose signatures are accepted.
  var signing: [SigningKey]
  /// Whether callers that show nothing are admitted as guests.
  var allowsGuests: Bool
  /// Gives tokens of the server's own; nil where there is no sign-in.
  var signIn: SignInDesk?

  /// - Parameter previous: what was in force; what is configured the same keeps its keys and answers.
  init(
    _ file: AccessFile, after previous: AcceptedCredentials?, _ limits: AccessLimits,
    digest: @escaping @Sendable ([UInt8]) -> [UInt8]
  ) {
    keys = file.keys
    tokens = TokenAuthority(file.issuers, after: previous?.tokens, limits, digest: digest)
    authorizer = file.authorizer.map { authorizer in
      if let known = previous?.authorizer, known.authorizer == authorizer {
        known
      } else {
        AuthorizerDesk(authorizer, limits.authorizer)
      }
    }
    signing = file.signing
    allowsGuests = file.allowsGuests
    signIn = file.signIn.map { SignInDesk($0, limits, digest: digest) }
  }
}

/// The bounds of what an access file accepts, for the server's lifetime.
package struct AccessLimits: Sendable {
  package var tokens = TokenLimits()
  package var keySets = KeySetLimits()
  package var authorizer = AuthorizerLimits()
  /// Bytes of an `Authorization` field with a signature, and fields that it may name.
  package var (signatureBytes, signatureFields) = (4_096, 64)

  /// The defaults.
  package init() {}
}

/// What credentials come to.
enum CredentialFinding: Sendable {
  case granted(AccessControl.Grant)
  /// The issuer's keys or the authorizer decide about them.
  case unresolved(UnresolvedCredential)
  /// A signature, to be checked when the whole request is there.
  case signed(SignatureClaim)
  /// They are not accepted. The reason is a stable name for logs and metrics.
  case refused(String)
  /// There are none, and some are needed.
  case missing
}

/// Credentials that cannot be judged by what is known here.
indirect enum UnresolvedCredential: Sendable {
  /// A token whose key has to be looked for at its issuer.
  case token(UnresolvedToken)
  /// The custom authorizer has to be asked.
  case authorizer(UnjudgedCredential)
}

/// Exchanges what callers show for tokens of the server. From any thread.
struct SignInDesk: Sendable {
  /// What a caller is given.
  struct Answer {
    var token: String
    var user: String
    var seconds: Int64
  }

  struct Refusal: Error {
    var status: Int
    var message: String
    /// A stable name, for refused credentials.
    var reason: String?
  }

  /// Characters of a user's name. The Realtime Database allows as many.
  private static let nameLength = 1...128

  private let signIn: SignIn
  private let custom: TokenAuthority?
  private let digest: @Sendable ([UInt8]) -> [UInt8]

  init(_ signIn: SignIn, _ limits: AccessLimits, digest: @escaping @Sendable ([UInt8]) -> [UInt8]) {
    self.signIn = signIn
    self.digest = digest
    // It was checked when the access file was read.
    custom = signIn.custom.flatMap { try? CheckedIssuer($0) }.map {
      TokenAuthority([$0], after: nil, limits, digest: digest)
    }
  }

  /// Signs in.
  ///
  /// - Parameters:
  ///   - request: `{"anonymous": true}`, or `{"token": CUSTOM TOKEN}`.
  ///   - identifier: the name of an anonymous user.
  func answer(_ request: JSONValue, at now: Duration, identifier: () -> String) throws(Refusal) -> Answer {
    let seconds = now.components.seconds
    if let token = request["token"]?.string {
      let (user, claims) = try named(by: token, at: now)
      return try made(user, signIn.token(for: user, provider: "custom", claims: claims, at: seconds))
    }
    guard request["anonymous"]?.bool == true else {
      throw Refusal(status: 400, message: "The body is {\"token\": TOKEN} or {\"anonymous\": true}.")
    }
    guard signIn.allowsAnonymous else { throw Refusal(status: 403, message: "Anonymous users are not admitted.") }
    let user = identifier()
    return try made(user, signIn.token(for: user, provider: "anonymous", claims: [:], at: seconds))
  }

  private func made(_ user: String, _ token: String?) throws(Refusal) -> Answer {
    guard let token else { throw Refusal(status: 500, message: "The token could not be made.") }
    return Answer(token: token, user: user, seconds: signIn.lifetime)
  }

  /// The user that a custom token names, and the claims it gives them.
  private func named(by token: String, at now: Duration) throws(Refusal) -> (String, JSONObject) {
    guard let custom else { throw Refusal(status: 403, message: "Custom tokens are not accepted.") }
    let grant: TokenGrant
    switch custom.check(token, digest: digest(Array(token.utf8)), at: now) {
    case .accepted(let accepted): grant = accepted
    case .refused(let refusal):
      throw Refusal(status: 401, message: "The custom token is refused: \(refusal).", reason: refusal.code)
    case .needsKey, .unavailable:
      throw Refusal(status: 401, message: "No key fits the custom token.", reason: "unknown-key")
    }
    let all = grant.identity.claims
    guard let user = (all["uid"] ?? all["sub"])?.string, Self.nameLength.contains(user.unicodeScalars.count) else {
      throw Refusal(status: 400, message: "The custom token has no uid of 1 to 128 characters.")
    }
    guard let claims = (all["claims"] ?? [:]).object else {
      throw Refusal(status: 400, message: "The claims of the custom token are not an object.")
    }
    if let name = SignIn.reservedClaim(in: claims) {
      throw Refusal(status: 400, message: "The custom token gives its user the claim \"\(name)\", which is reserved.")
    }
    return (user, claims)
  }
}
