import MartletJSON
import MartletTokens
import Testing

@testable import MartletSignatures

@Suite struct SignatureTests {
  @Test(arguments: [
    (PublishedTokens.a1Key, PublishedTokens.a1), (PublishedTokens.a2Key, PublishedTokens.a2),
    (PublishedTokens.a3Key, PublishedTokens.a3), (PublishedTokens.a4Key, PublishedTokens.a4),
    (PublishedTokens.ed25519Key, PublishedTokens.ed25519), (PublishedTokens.a1Key, PublishedTokens.encodedPayload),
    (PublishedTokens.cookbookRSA, PublishedTokens.cookbookRS256),
    (PublishedTokens.cookbookEC, PublishedTokens.cookbookES512),
    (PublishedTokens.cookbookSecret, PublishedTokens.cookbookHS256),
  ])
  func `published tokens are accepted by their keys`(key: String, token: String) throws {
    let algorithms: [TokenAlgorithm] = [.rs256, .es256, .es512, .edDSA, .hs256]
    #expect(try TokenHarness(keys: key, algorithms: algorithms).refusal(token) == nil)
  }

  @Test func `a key without an algorithm takes the first allowed one that fits, and no other`() throws {
    let token = PublishedTokens.cookbookPS384
    #expect(
      try TokenHarness(keys: PublishedTokens.cookbookRSA, algorithms: [.es256, .ps384, .rs256]).refusal(token) == nil)
    #expect(
      try TokenHarness(keys: PublishedTokens.cookbookRSA, algorithms: [.rs256, .ps384]).refusal(token)
        == .algorithmMismatch(token: .ps384, key: .rs256))
  }

  @Test(arguments: TokenAlgorithm.allCases)
  func `every algorithm accepts its token and refuses it with any one byte of the signature changed`(
    algorithm: TokenAlgorithm
  ) throws {
    let harness = try TokenHarness(keys: MadeTokens.keys)
    let token = try #require(MadeTokens.tokens[algorithm.rawValue])
    #expect(harness.refusal(token) == nil)
    let dot = try #require(token.lastIndex(of: "."))
    let signed = String(token[...dot])
    let signature = try #require(Base64URL.decode(token[token.index(after: dot)...].utf8))
    for position in stride(from: 0, to: signature.count, by: 7) {
      var changed = signature
      changed[position] ^= 0x10
      #expect(harness.refusal(signed + Mint.text(changed)) == .wrongSignature)
    }
    for changed in [[], Array(signature.dropLast()), signature + [0], [0] + signature, Array(signature.dropFirst())] {
      #expect(harness.refusal(signed + Mint.text(changed)) == .wrongSignature)
    }
  }

  @Test func `a token is refused under the key of every other algorithm`() throws {
    let document = try JSONValue(parsing: MadeTokens.keys)["keys"]?.array ?? []
    #expect(document.count == TokenAlgorithm.allCases.count)
    for (position, algorithm) in document.enumerated() {
      // The key as it is, but under the name of another one: only its algorithm distinguishes it.
      for other in TokenAlgorithm.allCases where other.rawValue != algorithm["alg"]?.string {
        guard case .object(var key) = document[position] else { continue }
        key["kid"] = .string(other.rawValue)
        let harness = try TokenHarness(keys: JSONValue.object(key).description)
        let refusal = harness.refusal(try #require(MadeTokens.tokens[other.rawValue]))
        guard case .algorithmMismatch(other, _) = refusal else {
          Issue.record("\(other) under \(algorithm): \(String(describing: refusal))")
          continue
        }
      }
    }
  }

  @Test(arguments: [
    (MadeTokens.derES256, TokenRefusal.wrongSignature),
    (MadeTokens.hmacWithPublicPEM, .algorithmMismatch(token: .hs256, key: .rs256)),
    (MadeTokens.hmacWithModulus, .algorithmMismatch(token: .hs256, key: .rs256)),
    (MadeTokens.pssShortSalt, .wrongSignature), (MadeTokens.pssLongSalt, .wrongSignature),
    (MadeTokens.pssUnderRS256, .wrongSignature),
    (MadeTokens.rs512WithRS256Key, .algorithmMismatch(token: .rs512, key: .rs256)),
    (MadeTokens.otherKey, .wrongSignature), (MadeTokens.unknownKeyID, .unknownKey("gone")),
    (MadeTokens.embeddedKey, .wrongSignature), (PublishedTokens.a5, .unsigned),
  ])
  func `forged tokens are refused with their reason`(token: String, refusal: TokenRefusal) throws {
    #expect(try TokenHarness(keys: MadeTokens.keys).refusal(token) == refusal)
  }

  @Test(arguments: [MadeTokens.rStartsWithZero, MadeTokens.sStartsWithZero, MadeTokens.noKeyID, MadeTokens.b64True])
  func `unusual but valid tokens are accepted`(token: String) throws {
    #expect(try TokenHarness(keys: MadeTokens.keys).refusal(token) == nil)
  }

  @Test func `every combination of r and s at the edges of the group is refused without an error`() throws {
    let harness = try TokenHarness(keys: MadeTokens.keys)
    let token = try #require(MadeTokens.tokens["ES256"])
    let signed = try #require(token.lastIndex(of: ".")).utf16Offset(in: token)
    let order: [UInt8] =
      [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8)
      + [0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51]
    var below = order
    below[31] -= 1
    let zero = [UInt8](repeating: 0, count: 32)
    var one = zero
    one[31] = 1
    for r in [zero, one, below, order, [UInt8](repeating: 0xFF, count: 32)] {
      for s in [zero, one, below, order, [UInt8](repeating: 0xFF, count: 32)] {
        #expect(harness.refusal(String(token.prefix(signed + 1)) + Mint.text(r + s)) == .wrongSignature)
      }
    }
  }

  @Test func `an RSA signature without its leading zero is refused`() throws {
    let harness = try TokenHarness(keys: MadeTokens.pssKey)
    #expect(harness.refusal(MadeTokens.pssStartsWithZero) == nil)
    #expect(harness.refusal(MadeTokens.pssWithoutItsZero) == .wrongSignature)
  }

  @Test func `r and s are encoded as the shortest positive integers`() {
    func encoded(_ r: [UInt8], _ s: [UInt8]) -> [UInt8]? {
      ECDSASignature.distinguishedEncoding(of: r + s, coordinateBytes: 2)
    }
    #expect(encoded([0, 1], [0x80, 0]) == [0x30, 8, 2, 1, 1, 2, 3, 0, 0x80, 0])
    #expect(encoded([0, 0], [0, 1]) == nil)
    #expect(encoded([0, 1], [0]) == nil)
    let long = ECDSASignature.distinguishedEncoding(of: [UInt8](repeating: 0xFF, count: 132), coordinateBytes: 66)
    #expect(long?.prefix(6) == [0x30, 0x81, 138, 2, 67, 0])
  }
}
