import MartletSignatures
import MartletTokens
import Testing

@Suite struct TokenFormTests {
  @Test func `base64url round-trips and each text stands for its own bytes`() {
    for count in 0..<40 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
      #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
    }
    for text in [
      "A", "AB", "AAB", "AA==", "AA=", "A A", "AA\n", "A+", "A/", "A.", "AAAAA", "AAAAAB", "é", " AA", "AA ",
    ] {
      #expect(Base64URL.decode(text.utf8) == nil, "\(text)")
    }
    #expect(Base64URL.decode("AA".utf8) == [0])
    #expect(Base64URL.decode("AQ".utf8) == [1])
    #expect(Base64URL.decode("".utf8) == [])
    #expect(Base64URL.decode("-_-_".utf8) == [0xFB, 0xFF, 0xBF])
  }

  @Test(arguments: [
    ("", TokenRefusal.notThreeParts(1)), ("a.b", .notThreeParts(2)), ("a.b.c.d", .notThreeParts(4)),
    ("a.b.c.d.e", .notThreeParts(5)), (#"{"payload":"Zm9v","signatures":[]}"#, .notThreeParts(1)),
    ("..", .malformedJSON(.header, "JSON, byte 0: the text ends inside a value")),
    (".e30.", .malformedJSON(.header, "JSON, byte 0: the text ends inside a value")),
    ("?.e30.AA", .malformedEncoding(.header)), ("e30=.e30.AA", .malformedEncoding(.header)),
    (" e30.e30.AA", .malformedEncoding(.header)), ("e30.e3A.", .missingAlgorithm),
    ("eyJhbGciOiJIUzI1NiJ9.e3B.AA", .malformedEncoding(.payload)),
    ("eyJhbGciOiJIUzI1NiJ9.e30.AA\n", .malformedEncoding(.signature)),
    ("eyJhbGciOiJIUzI1NiJ9.e30.AA==", .malformedEncoding(.signature)),
  ])
  func `a token that is not three parts of base64url is refused`(token: String, reason: TokenRefusal) throws {
    #expect(try TokenHarness(keys: Mint.keys).refusal(token) == reason)
  }

  @Test func `white space inside the parts is refused even where the signature covers it`() throws {
    let harness = try TokenHarness(keys: Mint.keys)
    let header = "eyJhbGciOiJIUzI1NiJ9"
    #expect(harness.refusal(Mint.token(encodedHeader: header, encodedClaims: "e30")) == nil)
    for claims in ["e30 ", " e30", "e3\n0", "e30=", "e31", "e30####"] {
      #expect(
        harness.refusal(Mint.token(encodedHeader: header, encodedClaims: claims)) == .malformedEncoding(.payload))
    }
    #expect(
      harness.refusal(Mint.token(encodedHeader: header + "    ", encodedClaims: "e30")) == .malformedEncoding(.header))
  }

  @Test(arguments: [
    (#"{"alg":"HS256"}"#, TokenRefusal?.none), (#" { "kid" : "k", "alg" : "HS256" } "#, nil),
    (#"{"alg":"HS256","typ":"JWT"}"#, nil), (#"{"alg":"HS256","typ":"application/AT+JWT"}"#, nil),
    (#"{"alg":"HS256","typ":"JOSE","x5c":["AA"],"jku":"https://example.com","unknown":{"a":[1]}}"#, nil),
    (#"{"alg":"HS256","typ":"logout+jwt"}"#, .otherKind("logout+jwt")),
    (#"{"alg":"HS256","typ":"application/dpop+JWT"}"#, .otherKind("dpop+jwt")),
    (#"{"alg":"HS256","typ":1}"#, .wrongType(.header, "typ")),
    (#"{"alg":"HS256","kid":1}"#, .wrongType(.header, "kid")),
    (#"{"alg":"HS256","kid":null}"#, .wrongType(.header, "kid")),
    (#"{}"#, .missingAlgorithm), (#"{"alg":1}"#, .wrongType(.header, "alg")), (#"{"alg":"none"}"#, .unsigned),
    (#"{"alg":"NONE"}"#, .unsigned), (#"{"alg":"nOnE"}"#, .unsigned), (#"{"alg":""}"#, .unknownAlgorithm("")),
    (#"{"alg":"hs256"}"#, .unknownAlgorithm("hs256")), (#"{"alg":"HS256 "}"#, .unknownAlgorithm("HS256 ")),
    (#"{"alg":"A128KW"}"#, .unknownAlgorithm("A128KW")),
    (#"[]"#, .notAnObject(.header)), (#""HS256""#, .notAnObject(.header)),
    (#"{"alg":"HS256","alg":"none"}"#, .malformedJSON(.header, "JSON, byte 16: this member occurs twice")),
    (#"{"alg":"none","\u0061lg":"HS256"}"#, .malformedJSON(.header, "JSON, byte 15: this member occurs twice")),
    (#"{"alg":"HS256"}x"#, .malformedJSON(.header, "JSON, byte 15: something follows the value")),
    (#"{"alg":"HS256","crit":[]}"#, .malformedCritical("it must be a list with names")),
    (#"{"alg":"HS256","crit":"b64"}"#, .malformedCritical("it must be a list with names")),
    (#"{"alg":"HS256","crit":[1]}"#, .malformedCritical("each entry must be a string")),
    (#"{"alg":"HS256","crit":["exp"]}"#, .malformedCritical("it names a parameter that is not in the header")),
    (#"{"alg":"HS256","crit":["exp"],"exp":1}"#, .notUnderstood("exp")),
    (#"{"alg":"HS256","crit":["alg"]}"#, .malformedCritical("it names a registered parameter")),
    (#"{"alg":"HS256","crit":["b64","b64"],"b64":true}"#, .malformedCritical("a name occurs twice")),
    (#"{"alg":"HS256","crit":["b64"],"b64":true}"#, nil),
    (#"{"alg":"HS256","crit":["b64"],"b64":false}"#, .unencodedPayload),
    (#"{"alg":"HS256","b64":false}"#, .unencodedPayload), (#"{"alg":"HS256","b64":"x"}"#, .wrongType(.header, "b64")),
  ])
  func `a header is accepted or refused as the specifications say`(header: String, reason: TokenRefusal?) throws {
    #expect(try TokenHarness(keys: Mint.keys).refusal(Mint.token(header: header)) == reason)
  }

  @Test func `sizes and nesting are limited`() throws {
    var harness = try TokenHarness(keys: Mint.keys)
    let large = #"{"a":"\#(String(repeating: "x", count: 9_000))"}"#
    #expect(harness.refusal(Mint.token(claims: large), at: .zero) == nil)
    #expect(harness.refusal(Mint.token(header: String(large.dropLast()) + #","alg":"HS256"}"#)) == .tooLarge)
    let huge = #"{"a":"\#(String(repeating: "x", count: 12_400))"}"#
    #expect(harness.refusal(Mint.token(claims: huge)) == .tooLarge)
    harness.policy.limits.tokenBytes = 20_000
    #expect(harness.refusal(Mint.token(claims: huge), at: .zero) == nil)
    func nested(_ depth: Int) -> String {
      #"{"a":"# + String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1) + "}"
    }
    #expect(harness.refusal(Mint.token(claims: nested(16)), at: .zero) == nil)
    #expect(harness.refusal(Mint.token(claims: nested(17)), at: .zero)?.code == "malformed-json")
    let header = #"{"alg":"HS256","a":\#(String(repeating: "[", count: 16))\#(String(repeating: "]", count: 16))}"#
    #expect(harness.refusal(Mint.token(header: header))?.code == "malformed-json")
  }

  @Test func `an algorithm outside the list is refused whatever keys there are`() throws {
    var harness = try TokenHarness(keys: MadeTokens.keys)
    harness.policy.algorithms = [.es256]
    for (name, token) in MadeTokens.tokens {
      let algorithm = try #require(TokenAlgorithm(rawValue: name))
      #expect(harness.refusal(token) == (algorithm == .es256 ? nil : .algorithmNotAllowed(algorithm)))
    }
  }

  @Test func `text from a token is shortened and escaped where an operator reads it`() {
    let refusal = TokenRefusal.unknownAlgorithm("\u{1B}[31m\"\n\u{202E}" + String(repeating: "x", count: 100))
    #expect(!refusal.description.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
    #expect(refusal.description.count < 160)
  }
}
