import MartletAccess
import MartletJSON
import Testing

@testable import MartletServer

/// Which identities an access file in force still accepts, without a request of theirs.
@Suite struct OwnerStandingTests {
  private static func standing(
    _ text: String, _ identity: Identity, needsAllRights: Bool = true, now: Duration = .seconds(1_000)
  ) throws -> OwnerStanding {
    let access = AccessControl(
      .file(try AccessFile(text)), origins: OriginCheck(.origins(nil)), digest: { $0 }, now: { now })
    return access.standing(of: identity, needsAllRights: needsAllRights, at: now)
  }

  private static let digest = Keys.digests["ada"] ?? ""

  @Test(
    arguments: [
      ("", nil, nil), (#", "expires": 2000"#, nil, 2_000), (#", "expires": 1000"#, "expired", nil),
      (#", "operations": ["read"]"#, "rights", nil),
    ] as [(String, String?, Int?)])
  func `a key stands until it ends, with all of its rights`(members: String, reason: String?, end: Int?) throws {
    let file = #"{"keys": [{"name": "ada", "sha256": "\#(Self.digest)"\#(members)}]}"#
    let ada = try Self.standing(file, Identity(provider: .apiKey, subject: "ada"))
    #expect((ada.withdrawal != nil) == (reason != nil))
    if let reason { #expect(ada.withdrawal?.contains(reason) == true) }
    #expect(ada.end == end.map { .seconds($0) })
    #expect(try Self.standing(file, Identity(provider: .apiKey, subject: "bob")).withdrawal != nil)
  }

  @Test func `a restricted key stands where not all rights are needed`() throws {
    let file = #"{"keys": [{"name": "ada", "sha256": "\#(Self.digest)", "operations": ["read"]}]}"#
    let ada = Identity(provider: .apiKey, subject: "ada")
    #expect(try Self.standing(file, ada, needsAllRights: false).withdrawal == nil)
  }

  @Test func `the caller of a token stands as long as its issuer is accepted`() throws {
    let file = #"{"tokens": [{"issuer": "https://login.example", "audience": ["app"]}]}"#
    func caller(_ issuer: String) -> Identity {
      Identity(provider: .oidc, subject: "ada", claims: ["iss": .string(issuer)])
    }
    #expect(try Self.standing(file, caller("https://login.example")).withdrawal == nil)
    #expect(try Self.standing(file, caller("https://other.example")).withdrawal != nil)
  }

  @Test func `an access key stands with its groups, guests and authorizers where they are accepted`() throws {
    let file = #"""
      {"signing": [{"accessKeyID": "AKID", "secretAccessKey": "0123456789abcdef", "groups": ["staff"]}]}
      """#
    func key(_ id: String, _ groups: [String]) -> Identity { Identity(provider: .iam, subject: id, groups: groups) }
    #expect(try Self.standing(file, key("AKID", ["staff"])).withdrawal == nil)
    #expect(try Self.standing(file, key("AKID", ["staff", "chiefs"])).withdrawal != nil)
    #expect(try Self.standing(file, key("OTHER", [])).withdrawal != nil)
    #expect(try Self.standing(file, Identity(provider: .function, subject: "ada")).withdrawal != nil)
    #expect(try Self.standing(file, .guest).withdrawal != nil)
    #expect(try Self.standing(file, .system).withdrawal == nil)
  }

  @Test func `in development every identity stands`() {
    let access = AccessControl(.development, origins: OriginCheck(.loopbackOnly), digest: { $0 })
    let ada = Identity(provider: .apiKey, subject: "ada")
    #expect(access.standing(of: ada, needsAllRights: true, at: .zero) == OwnerStanding())
  }

  @Test func `an owner is recognised by provider, issuer and name, whatever else its token says`() {
    func caller(_ subject: String?, _ claims: JSONObject, _ provider: IdentityProvider = .oidc) -> Caller {
      var caller = Caller(nil)
      caller.identity = Identity(provider: provider, subject: subject, claims: claims)
      return caller
    }
    let owner = ChannelOwner(ChannelOwner.json(of: caller("ada", ["iss": "a", "iat": 1]).identity))
    #expect(owner.isSame(as: caller("ada", ["iss": "a", "iat": 2])))
    #expect(!owner.isSame(as: caller("ada", ["iss": "b", "iat": 1])))
    #expect(!owner.isSame(as: caller("bob", ["iss": "a", "iat": 1])))
    #expect(!owner.isSame(as: caller("ada", ["iss": "a"], .apiKey)))
    let nameless = ChannelOwner(ChannelOwner.json(of: caller(nil, [:]).identity))
    #expect(!nameless.isSame(as: caller(nil, [:])))
    #expect(!ChannelOwner(.null).isSame(as: caller(nil, [:], .system)))
  }
}
