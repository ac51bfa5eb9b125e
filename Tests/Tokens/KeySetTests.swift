import MartletJSON
import MartletSignatures
import MartletTokens
import Testing

@Suite struct KeySetTests {
  static let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
  static let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"

  /// The reason for which the only key of a set is refused, by reading or by import.
  static func refusal(_ key: String, origin: TokenKeySet.Origin = .file) throws -> KeyRefusal? {
    let set = try TokenKeySet(Array(#"{"keys":[\#(key)]}"#.utf8), algorithms: TokenAlgorithm.allCases, origin: origin)
    let keys = VerificationKeys(set, with: SystemVerifier())
    #expect(keys.entries.count + keys.refused.count == 1)
    return keys.refused.first?.reason
  }

  @Test(arguments: [
    (#"1"#, KeyRefusal.notAnObject),
    (#"{}"#, .missingMember("kty")), (#"{"kty":1}"#, .wrongType("kty")), (#"{"kty":"DSA"}"#, .unknownType("DSA")),
    (#"{"kty":"rsa"}"#, .unknownType("rsa")),
    (#"{"kty":"RSA","n":"AQAB"}"#, .missingMember("e")), (#"{"kty":"RSA","e":"AQAB"}"#, .missingMember("n")),
    (#"{"kty":"RSA","n":"AQAB=","e":"AQAB"}"#, .malformedMember("n")),
    (#"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#, .shortModulus(bits: 17)),
    (#"{"kty":"RSA","n":"","e":"AQAB"}"#, .shortModulus(bits: 0)),
    (#"{"kty":"EC","crv":"P-256","x":"\#(x)"}"#, .missingMember("y")),
    (#"{"kty":"EC","crv":"P-257","x":"\#(x)","y":"\#(y)"}"#, .unknownCurve("P-257")),
    (#"{"kty":"EC","crv":"secp256k1","x":"\#(x)","y":"\#(y)"}"#, .unknownCurve("secp256k1")),
    (#"{"kty":"EC","crv":"P-384","x":"\#(x)","y":"\#(y)"}"#, .wrongLength("x")),
    (#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"AQAB"}"#, .wrongLength("y")),
    (#"{"kty":"EC","crv":"P-256","x":"\#(y)","y":"\#(x)"}"#, .notOnCurve),
    (#"{"kty":"EC","crv":"P-256","alg":"ES384","x":"\#(x)","y":"\#(y)"}"#, .unfittingAlgorithm("ES384")),
    (#"{"kty":"EC","crv":"P-256","alg":"RS256","x":"\#(x)","y":"\#(y)"}"#, .unfittingAlgorithm("RS256")),
    (#"{"kty":"EC","crv":"P-256","alg":"ES521","x":"\#(x)","y":"\#(y)"}"#, .unknownAlgorithm("ES521")),
    (#"{"kty":"EC","crv":"P-256","alg":"none","x":"\#(x)","y":"\#(y)"}"#, .unknownAlgorithm("none")),
    (#"{"kty":"EC","crv":"P-256","alg":"ECDH-ES","x":"\#(x)","y":"\#(y)"}"#, .unknownAlgorithm("ECDH-ES")),
    (#"{"kty":"EC","crv":"P-256","use":"enc","x":"\#(x)","y":"\#(y)"}"#, .notForSignatures("enc")),
    (#"{"kty":"EC","crv":"P-256","key_ops":["sign"],"x":"\#(x)","y":"\#(y)"}"#, .notForVerification),
    (#"{"kty":"EC","crv":"P-256","key_ops":"verify","x":"\#(x)","y":"\#(y)"}"#, .wrongType("key_ops")),
    (#"{"kty":"EC","crv":"P-256","kid":1,"x":"\#(x)","y":"\#(y)"}"#, .wrongType("kid")),
    (#"{"kty":"OKP","crv":"Ed25519","x":"\#(x)AA"}"#, .malformedMember("x")),
    (#"{"kty":"OKP","crv":"Ed25519","x":"AQAB"}"#, .wrongLength("x")),
    (#"{"kty":"OKP","crv":"X25519","x":"\#(x)"}"#, .unknownCurve("X25519")),
    (#"{"kty":"oct","k":""}"#, .shortSecret(bytes: 0, needed: 32)),
    (
      #"{"kty":"oct","alg":"HS256","k":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg"}"#,
      .shortSecret(bytes: 31, needed: 32)
    ),
    (#"{"kty":"oct","alg":"HS384","k":"\#(x)"}"#, .shortSecret(bytes: 32, needed: 48)),
    (#"{"kty":"oct","alg":"A128GCM","k":"\#(x)"}"#, .unknownAlgorithm("A128GCM")),
    (PublishedTokens.factorableKey, .factorableModulus),
    (MadeTokens.smallKey, .shortModulus(bits: 1_024)),
  ])
  func `unusable keys are refused with their reason`(key: String, reason: KeyRefusal) throws {
    #expect(try Self.refusal(key) == reason)
  }

  @Test func `a key of Ed25519 of a small order is refused, however it is encoded`() throws {
    var points: [[UInt8]] = []
    for last: UInt8 in [0x00, 0x80] {
      for first: UInt8 in [0, 1] { points.append([first] + [UInt8](repeating: 0, count: 30) + [last]) }
      for first: UInt8 in [0xEC, 0xED, 0xEE] {
        points.append([first] + [UInt8](repeating: 0xFF, count: 30) + [0x7F | last])
      }
    }
    for point in points {
      let key = #"{"kty":"OKP","crv":"Ed25519","x":"\#(Mint.text(point))"}"#
      #expect(try Self.refusal(key) == .smallOrder, "\(point)")
    }
  }

  @Test(arguments: [
    MadeTokens.exponent3Key, MadeTokens.secondKey, PublishedTokens.a2Key,
    #"{"kty":"EC","crv":"P-256","key_ops":["verify"],"use":"sig","x":"\#(x)","y":"\#(y)","d":"AQAB","unknown":[1]}"#,
  ])
  func `usable keys are accepted`(key: String) throws {
    #expect(try Self.refusal(key) == nil)
  }

  @Test func `a modulus or exponent with a leading zero, an even exponent and one of 1 are refused`() throws {
    guard case .object(var key) = try JSONValue(parsing: MadeTokens.secondKey) else { return }
    let modulus = try #require(Base64URL.decode((key["n"]?.string ?? "").utf8))
    key["n"] = .string(Mint.text([0] + modulus))
    #expect(try Self.refusal(JSONValue.object(key).description) == .malformedMember("n"))
    key["n"] = .string(Mint.text(modulus))
    for (exponent, reason) in [
      ([0, 1, 0, 1], KeyRefusal.malformedMember("e")), ([1], .badExponent), ([2], .badExponent), ([], .badExponent),
      ([UInt8](repeating: 1, count: 9), .badExponent),
    ] {
      key["e"] = .string(Mint.text(exponent))
      #expect(try Self.refusal(JSONValue.object(key).description) == reason)
    }
  }

  @Test func `a published set with a shared secret loses that key only`() throws {
    let set = try TokenKeySet(Array(MadeTokens.keys.utf8), algorithms: TokenAlgorithm.allCases, origin: .published)
    #expect(set.keys.count == 10)
    #expect(set.refused.map(\.reason) == [.publishedSecret, .publishedSecret, .publishedSecret])
    #expect(set.refused.map(\.id) == ["HS256", "HS384", "HS512"])
  }

  @Test(arguments: ["", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[],"keys":[]}"#, "<html>", #"{"kty":"RSA"}"#])
  func `what is not a key set is refused as a whole`(text: String) {
    #expect(throws: TokenKeySet.Malformed.self) {
      try TokenKeySet(Array(text.utf8), algorithms: TokenAlgorithm.allCases, origin: .published)
    }
  }

  @Test func `a set with too many keys is refused as a whole`() {
    let text = #"{"keys":[\#(Array(repeating: "{}", count: 101).joined(separator: ","))]}"#
    #expect(throws: TokenKeySet.Malformed.tooManyKeys(101, most: 100)) {
      try TokenKeySet(Array(text.utf8), algorithms: [], origin: .published)
    }
    var limits = KeySetLimits()
    limits.keys = 101
    #expect(throws: Never.self) {
      try TokenKeySet(Array(text.utf8), algorithms: [], origin: .published, limits: limits)
    }
    // A file is the operator's own.
    #expect(throws: Never.self) { try TokenKeySet(Array(text.utf8), algorithms: [], origin: .file) }
  }

  @Test func `a published RSA key of more bits than are allowed is refused, and one of a file is not`() throws {
    let set = Array(MadeTokens.keys.utf8)
    var limits = KeySetLimits()
    limits.keyBits = 2_047
    func refusals(_ origin: TokenKeySet.Origin) throws -> [KeyRefusal] {
      try TokenKeySet(set, algorithms: TokenAlgorithm.allCases, origin: origin, limits: limits).refused.map(\.reason)
    }
    #expect(try refusals(.published).contains(.longModulus(bits: 2_048, most: 2_047)))
    #expect(
      try !refusals(.file).contains { if case .longModulus = $0 { true } else { false } })
  }

  @Test func `a token that names a refused key gets that reason, and one that names two keys is refused`() throws {
    let refused = try TokenHarness(keys: #"{"keys":[\#(MadeTokens.smallKey),\#(MadeTokens.secondKey)]}"#)
    #expect(refused.refusal(MadeTokens.tokens["RS256"] ?? "") == .wrongSignature)
    #expect(refused.refusal(MadeTokens.smallKeyToken) == .keyRefused(.shortModulus(bits: 1_024)))
    let twice = try TokenHarness(keys: #"{"keys":[\#(MadeTokens.secondKey),\#(MadeTokens.secondKey)]}"#)
    #expect(twice.refusal(MadeTokens.tokens["RS256"] ?? "") == .ambiguousKey("RS256"))
  }

  @Test func `a token without a key's name is tried with a bounded number of keys`() throws {
    let four = Array(repeating: MadeTokens.secondKey, count: 4).joined(separator: ",")
    #expect(try TokenHarness(keys: #"{"keys":[\#(four)]}"#).refusal(MadeTokens.noKeyID) == .wrongSignature)
    #expect(try TokenHarness(keys: #"{"keys":[\#(four),\#(four)]}"#).refusal(MadeTokens.noKeyID) == .tooManyKeys)
    #expect(try TokenHarness(keys: #"{"keys":[]}"#).refusal(MadeTokens.noKeyID) == .unknownKey(nil))
  }
}
