public import MartletJSON

/// The caller of a request or the owner of a connection, as admission established it.
///
/// It carries what rules may read and nothing secret: no token, no key. Two callers with equal identities are treated
/// alike everywhere.
public struct Identity: Sendable, Hashable {
  /// How the caller proved its identity.
  public var provider: IdentityProvider
  /// The caller's stable name with its provider: a token's `sub`, an API key's name, an access key's id. Nil for a
  /// guest.
  public var subject: String?
  /// The groups that the provider states for the caller, in its order.
  public var groups: [String]
  /// The verified claims of the caller's token, or what a custom authorizer returned. Empty for a guest.
  public var claims: JSONObject
  /// When the identity ends, as time since 1970 by the calendar clock; nil for an identity without an end.
  public var expires: Duration?
  /// What of the rules' permissions the credentials carry, such as those of an API key for reading only.
  package var scope = AccessScope.everything

  /// An identity with the given parts.
  ///
  /// A program that decides by `ServerConfiguration.onConnect` names itself as the provider:
  ///
  /// ```swift
  /// .accept(as: Identity(provider: .function, subject: "ada", groups: ["editors"]))
  /// ```
  public init(
    provider: IdentityProvider, subject: String? = nil, groups: [String] = [], claims: JSONObject = JSONObject(),
    expires: Duration? = nil
  ) {
    self.provider = provider
    self.subject = subject
    self.groups = groups
    self.claims = claims
    self.expires = expires
  }

  /// A caller without credentials. Only rules for the public apply to it.
  public static let guest = Identity(provider: .guest)

  /// The program itself, and every caller of a server in development: no rule applies to it.
  public static let system = Identity(provider: .system)

  /// Text compares by its bytes, because Swift's `==` takes composed and decomposed forms for equal.
  public static func == (left: Identity, right: Identity) -> Bool {
    left.provider == right.provider && left.expires == right.expires && left.scope == right.scope
      && left.subjectBytes == right.subjectBytes
      && left.groups.count == right.groups.count
      && zip(left.groups, right.groups).allSatisfy { Array($0.utf8) == Array($1.utf8) }
      && left.claims == right.claims
  }

  /// Hashes text by its bytes, as `==` compares it.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(provider)
    hasher.combine(subjectBytes)
    hasher.combine(groups.map { Array($0.utf8) })
    hasher.combine(claims)
    hasher.combine(expires)
    hasher.combine(scope)
  }

  private var subjectBytes: [UInt8]? { subject.map { Array($0.utf8) } }
}

/// How a caller proved its identity. The names are those of `@auth`'s `provider` argument, with two more for callers
/// that prove nothing.
public enum IdentityProvider: String, Sendable, Hashable, CaseIterable {
  /// No credentials.
  case guest
  /// A key of the access file.
  case apiKey
  /// A token of a Cognito user pool.
  case userPools
  /// A token of any other issuer.
  case oidc
  /// A request signed with temporary credentials of an identity pool.
  case identityPool
  /// A request signed with a configured access key.
  case iam
  /// A custom authorizer: a closure of the program or an HTTP endpoint.
  case function
  /// The program itself, or any caller of a server in development.
  case system
}
