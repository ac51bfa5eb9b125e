import MartletAccess
import MartletJSON
import MartletTokens
import Testing

@Suite struct TokenIdentityTests {
  static func identity(_ claims: String, groupsClaim: String? = nil) throws -> Identity {
    try TokenClaims(Array(claims.utf8), depth: 8).identity(groupsClaim: groupsClaim, end: .seconds(7))
  }

  @Test func `subject, groups, claims and end come from the token`() throws {
    let identity = try Self.identity(#"{"iss":"https://a","sub":"ada","groups":["x",1,"","y"],"roles":"r"}"#)
    #expect(identity.provider == .oidc)
    #expect(identity.subject == "ada")
    #expect(identity.groups == ["x", "y"])
    #expect(identity.claims["roles"] == "r")
    #expect(identity.expires == .seconds(7))
    #expect(try Self.identity(#"{"roles":"r"}"#, groupsClaim: "roles").groups == ["r"])
    #expect(try Self.identity(#"{"groups":{"a":1}}"#).groups == [])
  }

  @Test(arguments: [
    ("https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_a", IdentityProvider.userPools),
    ("https://cognito-idp.cn-north-1.amazonaws.com.cn/p", .userPools),
    ("https://cognito-idp.evil.example/amazonaws.com", .oidc),
    ("https://cognito-idp.evil.example/.amazonaws.com", .oidc),
    ("https://evil.example/https://cognito-idp.eu.amazonaws.com/", .oidc),
    ("http://cognito-idp.eu.amazonaws.com/p", .oidc),
  ])
  func `only an issuer on its own host is a user pool`(issuer: String, provider: IdentityProvider) throws {
    let identity = try Self.identity(#"{"iss":"\#(issuer)","cognito:groups":["a"],"groups":["b"]}"#)
    #expect(identity.provider == provider)
    #expect(identity.groups == (provider == .userPools ? ["a"] : ["b"]))
  }
}
