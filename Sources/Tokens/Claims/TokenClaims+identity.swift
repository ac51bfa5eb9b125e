package import MartletAccess
internal import MartletJSON

extension TokenClaims {
  /// The identity that a token proves.
  ///
  /// - Parameters:
  /// - groupsClaim: The claim that names the caller's groups; nil for `cognito:groups` of user pools and `groups` of
  ///   all others. - end: When the token stops being accepted, from `TokenPolicy.end(of:)`.
  package func identity(groupsClaim: String? = nil, end: Duration?) -> Identity {
    let provider: IdentityProvider = isOfUserPool ? .userPools : .oidc
    let name = groupsClaim ?? (isOfUserPool ? "cognito:groups" : "groups")
    let groups: [String] =
      switch all[name] {
      case .string(let group)?: [group]
      case .array(let list)?: list.compactMap(\.string)
      case .null?, .bool?, .int?, .uint?, .double?, .object?, nil: []
      }
    return Identity(
      provider: provider, subject: subject, groups: groups.filter { !$0.isEmpty }, claims: all, expires: end)
  }

  /// Whether the issuer is a Cognito user pool, as AppSync distinguishes its two token providers.
  private var isOfUserPool: Bool {
    guard let issuer, issuer.utf8.starts(with: "https://cognito-idp.".utf8) else { return false }
    let host = issuer.utf8.dropFirst("https://".utf8.count).prefix { $0 != UInt8(ascii: "/") }
    return [".amazonaws.com", ".amazonaws.com.cn"].contains { suffix in
      host.count > suffix.utf8.count && host.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }
  }
}
