import MartletJSON
import MartletTokens
import Testing

/// What becomes of the tokens of RFC 7515, 7520, 7797 and 8037 when something about them is other than they say, by the
/// categories of Project Wycheproof's vectors for JSON Web Signatures.
@Suite struct PublishedVectorTests {
  private struct Vector {
    let name: String
    let key: String
    let token: String
  }

  private static let vectors = [
    Vector(name: "7515 A.1", key: PublishedTokens.a1Key, token: PublishedTokens.a1),
    Vector(name: "7515 A.2", key: PublishedTokens.a2Key, token: PublishedTokens.a2),
    Vector(name: "7515 A.3", key: PublishedTokens.a3Key, token: PublishedTokens.a3),
    Vector(name: "7515 A.4", key: PublishedTokens.a4Key, token: PublishedTokens.a4),
    Vector(name: "7520 4.1", key: PublishedTokens.cookbookRSA, token: PublishedTokens.cookbookRS256),
    Vector(name: "7520 4.3", key: PublishedTokens.cookbookEC, token: PublishedTokens.cookbookES512),
    Vector(name: "7520 4.4", key: PublishedTokens.cookbookSecret, token: PublishedTokens.cookbookHS256),
    Vector(name: "8037 A.4", key: PublishedTokens.ed25519Key, token: PublishedTokens.ed25519),
  ]

  private static let algorithms: [TokenAlgorithm] = [.hs256, .rs256, .es256, .es512, .edDSA]

  private static func parts(_ token: String) throws -> (header: String, payload: String, signature: String) {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    try #require(parts.count == 3)
    return (parts[0], parts[1], parts[2])
  }

  /// A key with one member set or, for nil, removed.
  private static func key(_ text: String, _ name: String, _ value: JSONValue?) throws -> String {
    var object = try #require(JSONValue(parsing: text).object)
    object[name] = value
    return JSONValue.object(object).description
  }

  @Test func `a published token is refused without any of its parts, with one more, and in the JSON serialization`()
    throws
  {
    for vector in Self.vectors {
      let harness = try TokenHarness(keys: vector.key, algorithms: Self.algorithms)
      let (header, payload, signature) = try Self.parts(vector.token)
      #expect(harness.refusal(vector.token) == nil, "\(vector.name)")
      let others = [
        "", ".", "..", header, payload, signature, "\(header).\(payload)", "\(payload).\(signature)",
        "\(header).\(signature)", "\(header).\(payload).", "\(header)..\(signature)", ".\(payload).\(signature)",
        ".\(payload).", "\(vector.token).", ".\(vector.token)", "\(vector.token).foo", "\(vector.token).\(signature)",
        #"{"payload":"\#(payload)","protected":"\#(header)","signature":"\#(signature)"}"#,
        #"{"payload":"\#(payload)","signatures":[{"protected":"\#(header)","signature":"\#(signature)"}]}"#,
        vector.token + "\n", " " + vector.token, vector.token + "=", vector.token + "\u{0}",
        vector.token.replacing("_", with: "/").replacing("-", with: "+") + "+",
      ]
      for other in others { #expect(harness.refusal(other) != nil, "\(vector.name): \(other)") }
    }
  }

  @Test func `a published token is refused with any character of any part replaced`() throws {
    for vector in Self.vectors {
      let harness = try TokenHarness(keys: vector.key, algorithms: Self.algorithms)
      let characters = Array(vector.token)
      for position in stride(from: 0, to: characters.count, by: 11) where characters[position] != "." {
        var changed = characters
        changed[position] = changed[position] == "Q" ? "g" : "Q"
        #expect(harness.refusal(String(changed)) != nil, "\(vector.name), character \(position)")
      }
    }
  }

  @Test func `a published token is refused by each key that is not its own, and by its own for another use`() throws {
    for vector in Self.vectors {
      for other in Self.vectors where other.key != vector.key {
        let harness = try TokenHarness(keys: other.key, algorithms: Self.algorithms)
        #expect(harness.refusal(vector.token) != nil, "\(vector.name) by the key of \(other.name)")
      }
      let changes: [(name: String, value: JSONValue)] = [
        ("use", "enc"), ("use", 1), ("key_ops", ["sign"]), ("key_ops", []), ("key_ops", ["encrypt", "wrapKey"]),
        ("key_ops", "verify"), ("alg", "none"), ("alg", "HS1"), ("alg", "ES384"), ("alg", "PS512"), ("alg", "RSA-OAEP"),
        ("alg", 256), ("kty", "oct2"), ("kty", "rsa"), ("kid", "another"),
      ]
      for (name, value) in changes {
        let key = try Self.key(vector.key, name, value)
        let refusal = try TokenHarness(keys: key, algorithms: Self.algorithms).refusal(vector.token)
        // A token that names no key is checked with whatever the key is called.
        let isNamed = try JSONValue(parsing: vector.key)["kid"] != nil
        #expect((refusal != nil) == (name != "kid" || isNamed), "\(vector.name): \(name) is \(value)")
      }
      let usable = try Self.key(Self.key(vector.key, "use", "sig"), "key_ops", ["verify", "sign"])
      #expect(try TokenHarness(keys: usable, algorithms: Self.algorithms).refusal(vector.token) == nil)
    }
  }

  @Test func `a token with a character outside base64url is refused, also where the published file calls it valid`()
    throws
  {
    let harness = try TokenHarness(keys: PublishedTokens.zeroKey)
    let (header, payload, signature) = PublishedTokens.zeroKeyToken
    // 357 of the file, which has the same text as 367 and 370 with the other verdict: their padding is not in it.
    #expect(harness.refusal("\(header).\(payload).\(signature)") == nil)
    // What 367 and 370 are about.
    #expect(harness.refusal("\(header).\(payload).\(signature)=") == .malformedEncoding(.signature))
    #expect(harness.refusal("\(header).\(payload)==.\(signature)") == .malformedEncoding(.payload))
    // 372 and 373, "valid" in the file: the signature is not over these bytes either.
    #expect(harness.refusal("\(header.dropLast())?9.\(payload).\(signature)") == .malformedEncoding(.header))
    #expect(harness.refusal("\(header).\(payload)?.\(signature)") == .malformedEncoding(.payload))
  }

  @Test func `a payload beside the token is refused, also where its header says so`() throws {
    let harness = try TokenHarness(keys: PublishedTokens.a1Key)
    #expect(harness.refusal(PublishedTokens.encodedPayload) == nil)
    #expect(harness.refusal(PublishedTokens.unencodedPayload) == .unencodedPayload)
    let (header, _, signature) = try Self.parts(PublishedTokens.unencodedPayload)
    // The payload has a dot, and would be taken for two parts.
    #expect(harness.refusal("\(header).$.02.\(signature)") == .notThreeParts(4))
    #expect(harness.refusal("\(header).JC4wMg.\(signature)") == .unencodedPayload)
    // RFC 7520, 4.5: the same token as in 4.4, with its payload elsewhere.
    let (cookbook, _, code) = try Self.parts(PublishedTokens.cookbookHS256)
    #expect(try TokenHarness(keys: PublishedTokens.cookbookSecret).refusal("\(cookbook)..\(code)") == .wrongSignature)
  }
}
