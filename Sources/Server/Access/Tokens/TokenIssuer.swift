/// An issuer whose tokens a server accepts: JSON Web Tokens in compact form, as OpenID Connect providers, Cognito user
/// pools and login servers of one's own sign them.
///
/// ```swift
/// var issuer = TokenIssuer(issuer: "https://login.example", keys: .discovery)
/// issuer.audiences = ["board"]
/// configuration.access = .keys(try AccessFile(issuers: [issuer]))
/// ```
public struct TokenIssuer: Sendable, Hashable {
  /// Where the keys that prove the issuer's tokens come from.
  public enum Keys: Sendable, Hashable {
    /// A JSON Web Key Set, or one key, as text. It may hold shared secrets (HS256 and its kind).
    case set(String)
    /// The address of a published key set: `https`, or `http` on this machine. It is fetched when the server starts,
    /// looked at again as its answer says, and kept while its source cannot be reached.
    case url(String)
    /// The issuer's discovery document (`/.well-known/openid-configuration`) names the key set.
    case discovery
  }

  /// The `iss` of its tokens; nil accepts any, and then the keys alone decide.
  public var issuer: String?
  /// The audiences of which `aud` must name one; nil leaves `aud` unchecked, for issuers that serve this program alone.
  public var audiences: [String]?
  /// The keys that prove its tokens.
  public var keys: Keys
  /// The algorithms that are accepted, by their names of RFC 7518; nil for all that are implemented.
  public var algorithms: [String]?
  /// The claim that names the caller's groups; nil for `cognito:groups` of user pools and `groups` of all others.
  public var groupsClaim: String?
  /// Claims that must be there. A token without `exp` is then refused by default, as it would never end.
  public var requiredClaims = ["exp"]
  /// How far the clocks of issuer and server may differ.
  public var skew: Duration = .seconds(60)
  /// How long after its `iat` a token is accepted; nil for as long as its `exp` allows.
  public var maximumAge: Duration?

  /// An issuer with everything else by default.
  public init(issuer: String?, keys: Keys) {
    self.issuer = issuer
    self.keys = keys
  }
}
