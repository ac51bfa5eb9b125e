internal import MartletAccess
internal import MartletRuntime
package import MartletTokens

/// What an access file accepts, in the order in which it is tried: API keys, tokens, what the custom authorizer
/// accepts, and callers without credentials.
struct Credentials: Sendable {
  var keys: APIKeyRing
  var tokens: TokenAuthority
  var authorizer: AuthorizerDesk?
  /// Access keys whose signatures are accepted.
  var signing: [SigningKey]
  /// Whether callers that show nothing are admitted as guests.
  var allowsGuests: Bool

  /// - Parameter previous: what was in force; what is configured the same keeps its keys and answers.
  init(
    _ file: AccessFile, after previous: Credentials?, _ limits: AccessLimits,
    digest: @escaping @Sendable ([UInt8]) -> [UInt8]
  ) {
    keys = file.keys
    tokens = TokenAuthority(file.issuers, after: previous?.tokens, limits, digest: digest)
    authorizer = file.authorizer.map { authorizer in
      if let known = previous?.authorizer, known.authorizer == authorizer { known } else { AuthorizerDesk(authorizer) }
    }
    signing = file.signing
    allowsGuests = file.allowsGuests
  }
}

/// The bounds of what an access file accepts, for the server's lifetime.
package struct AccessLimits: Sendable {
  package var tokens = TokenLimits()
  package var keySets = KeySetLimits()

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
enum UnresolvedCredential: Sendable {
  /// A token whose key has to be looked for at its issuer.
  case token(UnresolvedToken)
  /// The custom authorizer has to be asked.
  case authorizer(UnjudgedCredential)
}
