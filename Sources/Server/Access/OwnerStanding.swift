internal import MartletAccess
internal import MartletJSON
internal import MartletTokens

/// Whether what was made in an identity's name may continue without a request of it.
struct OwnerStanding: Equatable {
  /// Why not, as a clause; nil where it may, and where the server cannot know.
  var withdrawal: String?
  /// When the identity ends, as time since 1970; nil for no end that is known.
  var end: Duration?
}

extension AccessControl {
  /// How an identity stands under the credentials in force.
  ///
  /// Keys are looked up by their names. A token's caller stands as long as its issuer is accepted: whether the issuer
  /// has ended the account is in no token.
  ///
  /// - Parameters:
  ///   - needsAllRights: Whether a key that was restricted to some operations or models counts as withdrawn.
  ///   - now: Time since 1970.
  func standing(of identity: Identity, needsAllRights: Bool, at now: Duration) -> OwnerStanding {
    guard let credentials else { return OwnerStanding() }
    switch identity.provider {
    case .system, .identityPool: return OwnerStanding()
    case .apiKey:
      guard let key = credentials.keys.keys.first(where: { Self.names(identity, $0.name) }) else {
        return OwnerStanding(withdrawal: "its owner's key was withdrawn")
      }
      if let end = key.expires, now >= end { return OwnerStanding(withdrawal: "its owner's key has expired") }
      if needsAllRights, key.scope != .everything {
        return OwnerStanding(withdrawal: "its owner's key has lost rights")
      }
      return OwnerStanding(end: key.expires)
    case .userPools, .oidc:
      let name = identity.claims["iss"]?.string ?? ""
      let isAccepted = credentials.tokens.issuers.contains { issuer in
        issuer.issuer.description.issuer.map { $0.utf8.elementsEqual(name.utf8) } ?? true
      }
      return OwnerStanding(withdrawal: isAccepted ? nil : "the issuer of its owner's token is no longer accepted")
    case .iam:
      guard let key = credentials.signing.first(where: { Self.names(identity, $0.accessKeyID) }) else {
        return OwnerStanding(withdrawal: "its owner's access key was withdrawn")
      }
      let isMember = identity.groups.allSatisfy { group in key.groups.contains { $0.utf8.elementsEqual(group.utf8) } }
      return OwnerStanding(withdrawal: isMember ? nil : "its owner's access key has lost groups")
    case .function:
      return OwnerStanding(withdrawal: credentials.authorizer == nil ? "no authorizer is asked about its owner" : nil)
    case .guest:
      return OwnerStanding(withdrawal: credentials.allowsGuests ? nil : "guests are no longer accepted")
    }
  }

  private static func names(_ identity: Identity, _ name: String) -> Bool {
    identity.subject?.utf8.elementsEqual(name.utf8) ?? false
  }
}
