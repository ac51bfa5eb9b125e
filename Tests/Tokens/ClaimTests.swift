import MartletJSON
import MartletTokens
import Testing

@Suite struct ClaimTests {
  /// Checks claims that need no signature.
  static func refusal(_ claims: String, _ policy: TokenPolicy, at now: Duration) -> TokenRefusal? {
    do {
      try policy.check(TokenClaims(Array(claims.utf8), depth: 16), at: now)
      return nil
    } catch {
      return error
    }
  }

  @Test func `exp refuses from its moment on, and later by the skew`() throws {
    var policy = TokenPolicy(skew: .zero)
    #expect(Self.refusal(#"{"exp":100}"#, policy, at: .milliseconds(99_999)) == nil)
    #expect(Self.refusal(#"{"exp":100}"#, policy, at: .seconds(100)) == .expired(at: .seconds(100)))
    #expect(Self.refusal(#"{"exp":100.5}"#, policy, at: .milliseconds(100_499)) == nil)
    #expect(Self.refusal(#"{"exp":100.5}"#, policy, at: .milliseconds(100_500))?.code == "expired")
    #expect(Self.refusal(#"{"exp":1.005e2}"#, policy, at: .milliseconds(100_499)) == nil)
    policy.skew = .seconds(10)
    #expect(Self.refusal(#"{"exp":100}"#, policy, at: .milliseconds(109_999)) == nil)
    #expect(Self.refusal(#"{"exp":100}"#, policy, at: .seconds(110))?.code == "expired")
    #expect(try policy.end(of: TokenClaims(Array(#"{"exp":100}"#.utf8), depth: 16)) == .seconds(110))
  }

  @Test func `nbf refuses before its moment, and earlier by the skew`() {
    let policy = TokenPolicy(required: [], skew: .seconds(10))
    #expect(Self.refusal(#"{"nbf":100}"#, policy, at: .milliseconds(89_999)) == .notYetValid(until: .seconds(100)))
    #expect(Self.refusal(#"{"nbf":100}"#, policy, at: .seconds(90)) == nil)
  }

  @Test func `iat alone refuses nothing, and with a greatest age bounds both sides`() {
    var policy = TokenPolicy(required: [], skew: .seconds(10))
    #expect(Self.refusal(#"{"iat":1000}"#, policy, at: .zero) == nil)
    policy.maximumAge = .seconds(60)
    #expect(Self.refusal(#"{"iat":1000}"#, policy, at: .seconds(989)) == .issuedInFuture(.seconds(1_000)))
    #expect(Self.refusal(#"{"iat":1000}"#, policy, at: .seconds(990)) == nil)
    #expect(Self.refusal(#"{"iat":1000}"#, policy, at: .milliseconds(1_069_999)) == nil)
    #expect(Self.refusal(#"{"iat":1000}"#, policy, at: .seconds(1_070)) == .tooOld(.seconds(1_000)))
    #expect(Self.refusal("{}", policy, at: .zero) == .missingClaim("iat"))
  }

  @Test(arguments: [
    (#"{"exp":9007199254740993}"#, true), (#"{"exp":18446744073709551615}"#, true), (#"{"exp":1e300}"#, true),
    (#"{"exp":-1}"#, false), (#"{"exp":-1e300}"#, false), (#"{"exp":-9223372036854775808}"#, false),
    (#"{"exp":0}"#, false),
    (#"{"exp":-0.0}"#, false),
  ])
  func `times beyond any calendar are before or after now, and overflow nothing`(claims: String, isAccepted: Bool) {
    let now = Duration.seconds(1_800_000_000)
    #expect((Self.refusal(claims, TokenPolicy(), at: now) == nil) == isAccepted)
    #expect(Self.refusal(claims.replacing("exp", with: "nbf"), TokenPolicy(required: []), at: now) == nil || isAccepted)
  }

  @Test(arguments: [
    #"{"exp":"100"}"#, #"{"exp":null}"#, #"{"exp":true}"#, #"{"nbf":[1]}"#, #"{"iat":{}}"#, #"{"iss":1}"#,
    #"{"sub":["a"]}"#,
    #"{"jti":1}"#, #"{"aud":1}"#, #"{"aud":["a",1]}"#, #"{"aud":null}"#,
  ])
  func `a registered claim of the wrong type refuses the token even where no rule reads it`(claims: String) {
    #expect(Self.refusal(claims, TokenPolicy(required: []), at: .zero)?.code == "wrong-type")
  }

  @Test(arguments: ["[]", "null", "1", "\"a\""])
  func `claims that are not an object are refused`(claims: String) {
    #expect(Self.refusal(claims, TokenPolicy(required: []), at: .zero) == .notAnObject(.payload))
  }

  @Test func `claims that occur twice and numbers beyond a double are refused`() {
    #expect(Self.refusal(#"{"sub":"a","sub":"b"}"#, TokenPolicy(required: []), at: .zero)?.code == "malformed-json")
    #expect(Self.refusal(#"{"exp":1e400}"#, TokenPolicy(), at: .zero)?.code == "malformed-json")
  }

  @Test func `issuer and audience compare byte by byte`() {
    let policy = TokenPolicy(issuer: "https://caf\u{E9}.example", audiences: ["board", "x"], required: [])
    let now = Duration.zero
    let issuer = #""iss":"https://caf\u00e9.example""#
    #expect(Self.refusal(#"{\#(issuer),"aud":"board"}"#, policy, at: now) == nil)
    #expect(Self.refusal(#"{\#(issuer),"aud":["other","x"]}"#, policy, at: now) == nil)
    #expect(Self.refusal(#"{\#(issuer),"aud":["other"]}"#, policy, at: now) == .wrongAudience)
    #expect(Self.refusal(#"{\#(issuer),"aud":[]}"#, policy, at: now) == .wrongAudience)
    #expect(Self.refusal(#"{\#(issuer),"aud":"Board"}"#, policy, at: now) == .wrongAudience)
    #expect(Self.refusal(#"{\#(issuer)}"#, policy, at: now) == .missingClaim("aud"))
    #expect(Self.refusal(#"{"aud":"board"}"#, policy, at: now) == .missingClaim("iss"))
    #expect(
      Self.refusal(#"{"iss":"https://cafe\u0301.example","aud":"board"}"#, policy, at: now)
        == .wrongIssuer("https://cafe\u{301}.example"))
    #expect(Self.refusal(#"{"iss":"https://caf\u00e9.example/","aud":"x"}"#, policy, at: now)?.code == "wrong-issuer")
  }

  @Test func `required claims must be there, and exp is required unless said otherwise`() {
    #expect(Self.refusal("{}", TokenPolicy(), at: .zero) == .missingClaim("exp"))
    #expect(Self.refusal(#"{"scope":null}"#, TokenPolicy(required: ["scope"]), at: .zero) == nil)
    #expect(Self.refusal(#"{"Scope":1}"#, TokenPolicy(required: ["scope"]), at: .zero) == .missingClaim("scope"))
  }
}
