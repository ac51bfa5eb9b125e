internal import MartletAccess
internal import MartletRuntime
package import MartletTokens

/// What an access file accepts, in the order in which it is tried: API keys, tokens, and callers without credentials.
struct Credentials: Sendable {
  var keys: APIKeyRing
  var tokens: TokenAuthority
  /// Whether callers that show nothing are admitted as guests.
  var allowsGuests: Bool

  init(
    _ file: AccessFile, after previous: TokenAuthority?, _ limits: AccessLimits,
    digest: @escaping @Sendable ([UInt8]) -> [UInt8]
  ) {
    keys = file.keys
    tokens = TokenAuthority(file.issuers, after: previous, limits, digest: digest)
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
  /// A token whose key has to be looked for.
  case unresolved(UnresolvedToken)
  /// They are not accepted. The reason is a stable name for logs and metrics.
  case refused(String)
  /// There are none, and some are needed.
  case missing
}
