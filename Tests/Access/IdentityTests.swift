import MartletAccess
import MartletJSON
import Testing

@Suite struct IdentityTests {
  @Test func `identities with equal parts are equal and hash alike`() {
    let make = {
      Identity(
        provider: .oidc, subject: "ada", groups: ["staff"], claims: ["sub": "ada", "n": 1], expires: .seconds(10))
    }
    #expect(make() == make())
    #expect(make().hashValue == make().hashValue)
  }

  @Test func `composed and decomposed subjects and groups are different identities`() {
    let composed = "caf\u{E9}"
    let decomposed = "cafe\u{301}"
    #expect(
      Identity(provider: .oidc, subject: composed) != Identity(provider: .oidc, subject: decomposed))
    #expect(
      Identity(provider: .oidc, groups: [composed]) != Identity(provider: .oidc, groups: [decomposed]))
  }

  @Test func `each part distinguishes identities`() {
    let base = Identity(provider: .oidc, subject: "a", groups: ["g"], claims: ["c": 1], expires: .seconds(1))
    var others = [Identity](repeating: base, count: 5)
    others[0].provider = .userPools
    others[1].subject = nil
    others[2].groups = ["g", "g"]
    others[3].claims = ["c": 2]
    others[4].expires = nil
    for other in others { #expect(other != base) }
  }
}
