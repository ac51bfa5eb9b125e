/// An OpenID Connect provider and this program's registration there.
public struct OIDCConfiguration: Sendable, Hashable {
  /// The issuer, whose discovery document names its addresses: `https`, or `http` on this machine.
  public var issuer: String
  /// The program's id at the provider. Programs on a user's device have no secret (RFC 8252, section 8.5).
  public var clientID: String
  /// What is asked for. Without `offline_access` many providers give no refresh token.
  public var scopes = ["openid", "offline_access"]
  /// The audience that tokens are asked for, where the provider wants it named.
  public var audience: String?
  /// Whether the server is shown the id token in place of the access token, as user pools of Cognito need it for rules
  /// about groups.
  public var showsIDToken = false
  /// How long before its end a token is renewed; half of its lifetime where that is less.
  public var lead: Duration = .seconds(60)
  /// The name under which tokens are kept; nil for one of issuer and client.
  public var storageName: String?

  /// A provider and a client id, everything else by default.
  public init(issuer: String, clientID: String) {
    self.issuer = issuer
    self.clientID = clientID
  }

  var name: String { storageName ?? "martlet-oidc \(issuer) \(clientID)" }
}

/// Why no user is signed in, or a sign-in failed.
public struct OIDCError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of thing is wrong.
  public enum Code: String, Sendable {
    /// No user is signed in, or the provider does not take the refresh token any longer: sign in again.
    case signInRequired
    /// The user, or the provider, refused to sign in.
    case refused
    /// The user took longer than the provider waits.
    case expired
    /// The provider cannot be reached, or answers with an error of its own.
    case unreachable
    /// What the provider answered cannot be used.
    case malformed
    /// An answer that is not to what was asked: another state, or another issuer.
    case mismatch
    /// The storage failed.
    case storage
  }

  /// What kind of thing is wrong.
  public let code: Code
  /// One sentence, without tokens.
  public let description: String

  package init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }
}
