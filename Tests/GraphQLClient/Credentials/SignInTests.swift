import MartletVocabulary
import MartletWire
import Testing

@testable import MartletGraphQLClient

/// Signing in on another device and with a browser, as transcripts.
@Suite struct SignInTests {
  private static func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

  private static let answer =
    #"{"device_code":"d","user_code":"AB-CD","verification_uri":"https://x/","expires_in":60,"interval":5}"#

  private static func device(_ body: String = answer, status: Int = 200) throws -> DeviceSignIn {
    try DeviceSignIn(status: status, body: Array(body.utf8), at: .zero)
  }

  @Test func `the provider is asked as often as it allows, until it answers or the code ends`() throws {
    var signIn = try Self.device()
    #expect(signIn.code.userCode == "AB-CD" && signIn.code.page == "https://x/" && signIn.code.life == .seconds(60))
    #expect(signIn.first(at: .zero) == .ask(at: Self.at(5), deviceCode: "d"))
    #expect(signIn.received(.error("authorization_pending"), at: Self.at(5)) == .ask(at: Self.at(10), deviceCode: "d"))
    #expect(signIn.received(.error("slow_down"), at: Self.at(10)) == .ask(at: Self.at(20), deviceCode: "d"))
    let lost = TokenAnswer.failed(OIDCError(.unreachable, "x"))
    #expect(signIn.received(lost, at: Self.at(20)) == .ask(at: Self.at(40), deviceCode: "d"))
    let tokens = TokenSet(access: "a")
    var good = signIn
    #expect(good.received(.tokens(tokens), at: Self.at(40)) == .done(tokens))
    guard case .fail(let late) = signIn.received(.error("authorization_pending"), at: Self.at(40)) else {
      return #expect(Bool(false), "it asked beyond the end")
    }
    #expect(late.code == .expired)
  }

  @Test(arguments: [
    ("access_denied", OIDCError.Code.refused), ("expired_token", .expired), ("invalid_grant", .refused),
  ])
  func `a refusal ends it`(error: String, code: OIDCError.Code) throws {
    var signIn = try Self.device()
    guard case .fail(let failure) = signIn.received(.error(error), at: Self.at(5)) else {
      return #expect(Bool(false), "it goes on")
    }
    #expect(failure.code == code)
  }

  @Test(arguments: ["{}", "x", #"{"device_code":"d","user_code":"u","verification_uri":"p","expires_in":0}"#])
  func `an answer without a code is refused`(body: String) {
    #expect(throws: OIDCError.self) { try Self.device(body) }
    #expect(throws: OIDCError.self) { try Self.device(Self.answer, status: 500) }
  }

  @Test func `a browser's answer counts only for its own request and its own provider`() throws {
    var oidc = OIDCConfiguration(issuer: "https://login.example", clientID: "board & co")
    oidc.audience = "api"
    var random = SeededRandom(seed: 1)
    let signIn = DesktopSignIn(
      authorization: "https://login.example/authorize?x=1", redirect: "http://127.0.0.1:9/cb", oidc, using: &random)
    let other = DesktopSignIn(authorization: "https://a", redirect: "b", oidc, using: &random)
    #expect(signIn.state != other.state && signIn.verifier != other.verifier && signIn.verifier.utf8.count == 43)
    #expect(signIn.page.hasPrefix("https://login.example/authorize?x=1&response_type=code&client_id=board%20%26%20co&"))
    let challenge = Base64.encodeForURL(SHA256.digest(Array(signIn.verifier.utf8)))
    #expect(signIn.page.contains("code_challenge=\(challenge)&code_challenge_method=S256"))
    #expect(!signIn.page.contains(signIn.verifier))
    let callback = "http://127.0.0.1:9/cb?code=c%2F1&state=\(signIn.state)"
    #expect(try signIn.code(from: callback) == "c/1")
    #expect(try signIn.code(from: callback + "&iss=https%3A%2F%2Flogin.example#x") == "c/1")
    let wrong: [(String, OIDCError.Code)] = [
      ("http://127.0.0.1:9/cb", .mismatch), ("http://a/?code=c", .mismatch),
      ("http://a/?code=c&state=\(other.state)", .mismatch), (callback + "&iss=https%3A%2F%2Fevil.example", .mismatch),
      ("http://a/?state=\(signIn.state)&error=access_denied", .refused),
      ("http://a/?state=\(signIn.state)", .malformed),
      (callback + "&code=d", .malformed), (callback + "&x=%G1", .malformed),
    ]
    for (text, code) in wrong {
      let error = #expect(throws: OIDCError.self, "\(text)") { try signIn.code(from: text) }
      #expect(error?.code == code, "\(text)")
    }
  }
}
