import MartletJSON
import MartletTokens
import Testing

/// Tokens that are made by rule for every algorithm, each with what the specifications say of it (RFC 7515, 7518, 8037,
/// 8725). A token that is only altered in its form is signed again, so that its form alone decides.
@Suite struct GeneratedTokenTests {
  /// A signer for each algorithm, and their keys in one set.
  private struct Signers {
    var all: [TokenSigner] = []
    let harness: TokenHarness

    init() throws {
      var rsa: TokenSigner?
      for algorithm in TokenAlgorithm.allCases {
        let signer = try TokenSigner(algorithm, rsa: rsa)
        if case .rsaPKCS1 = algorithm.scheme, rsa == nil { rsa = signer }
        all.append(signer)
      }
      let keys = try all.map { try $0.published() }
      harness = try TokenHarness(keys: "{\"keys\":[\(keys.joined(separator: ","))]}")
    }

    /// Why a token is refused; nil when it is accepted.
    func refusal(_ signed: String, _ signature: [UInt8]) -> TokenRefusal? {
      harness.refusal(signed + "." + Mint.text(signature))
    }
  }

  private static let signers = Result { try Signers() }

  private static func header(_ signer: TokenSigner, _ more: String = "", as name: String? = nil) -> String {
    let algorithm = signer.algorithm.rawValue
    return Mint.text(Array("{\"alg\":\"\(name ?? algorithm)\",\"kid\":\"\(algorithm)\"\(more)}".utf8))
  }

  private static let claims = Mint.text(Array(#"{"sub":"ada"}"#.utf8))

  @Test func `each algorithm accepts its own token, and no alteration of the encoding that is signed with it`() throws {
    let signers = try Self.signers.get()
    for signer in signers.all {
      let (header, claims) = (Self.header(signer), Self.claims)
      let good = header + "." + claims
      #expect(signers.refusal(good, try signer.signature(of: good)) == nil, "\(signer.algorithm)")
      for altered in ["=", "==", " ", "\n", "\t", "+", "/", "%3D", "\u{0}", "é"] {
        for (text, part) in [
          (header + altered + "." + claims, TokenRefusal.Part.header), (good + altered, .payload),
          (altered + good, .header), (header + "." + altered + claims, .payload),
        ] {
          let refusal = signers.refusal(text, try signer.signature(of: text))
          #expect(refusal == .malformedEncoding(part), "\(signer.algorithm): \(altered) in the \(part)")
        }
      }
      // The last character of 13 bytes has four bits that encode nothing.
      let loose = header + "." + claims.dropLast() + Self.next(claims.last)
      #expect(signers.refusal(loose, try signer.signature(of: loose)) == .malformedEncoding(.payload))
    }
  }

  /// The character that encodes one more.
  private static func next(_ character: Character?) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    return String(alphabet[(character.flatMap { alphabet.firstIndex(of: $0) } ?? 0) + 1])
  }

  @Test func `each algorithm refuses a signature of another length, of other bytes, or in another encoding`() throws {
    let signers = try Self.signers.get()
    for signer in signers.all {
      let text = Self.header(signer) + "." + Self.claims
      let good = try signer.signature(of: text)
      var others: [[UInt8]] = [
        [], [0], Array(good.dropLast()), Array(good.dropFirst()), good + [0], [0] + good, good + good,
        good.map { _ in 0 }, good.map { _ in 0xFF }, good.reversed(), try signer.signature(of: text + "A"),
        try signer.signature(of: Self.claims + "." + Self.header(signer)),
      ]
      for bit in stride(from: 0, to: good.count * 8, by: 31) {
        var changed = good
        changed[bit / 8] ^= 1 << UInt8(bit % 8)
        others.append(changed)
      }
      for other in others where other != good {
        #expect(signers.refusal(text, other) == .wrongSignature, "\(signer.algorithm): \(other.count) bytes")
      }
      let encoded = Mint.text(good)
      for altered in ["=", " ", "\n", "."] {
        #expect(signers.harness.refusal(text + "." + encoded + altered) != nil, "\(signer.algorithm)")
      }
    }
  }

  @Test func `a token whose header names another algorithm than its key's is refused, also where that one signed it`()
    throws
  {
    let signers = try Self.signers.get()
    for signer in signers.all {
      for other in signers.all where other.algorithm != signer.algorithm {
        let text = Self.header(signer, as: other.algorithm.rawValue) + "." + Self.claims
        for signature in [try signer.signature(of: text), try other.signature(of: text)] {
          #expect(
            signers.refusal(text, signature)
              == .algorithmMismatch(token: other.algorithm, key: signer.algorithm))
        }
      }
      for name in ["none", "None", "NONE", "nOnE"] {
        let text = Self.header(signer, as: name) + "." + Self.claims
        #expect(signers.refusal(text, []) == .unsigned)
        #expect(signers.refusal(text, try signer.signature(of: text)) == .unsigned)
      }
    }
  }

  @Test func `headers that must not be accepted are refused by each algorithm, though they are signed`() throws {
    let signers = try Self.signers.get()
    let rows: [(more: String, code: String?)] = [
      (#","typ":"JWT""#, nil), (#","typ":"at+jwt""#, nil), (#","cty":"JWT""#, nil),
      (#","crit":["b64"],"b64":true"#, nil),
      (#","jwk":{"kty":"oct","k":"AAAA"}"#, nil), (#","x5u":"http://127.0.0.1:1/""#, nil),
      (#","typ":"logout+jwt""#, "other-kind"), (#","typ":"secevent+jwt""#, "other-kind"), (#","typ":[]"#, "wrong-type"),
      (#","crit":[]"#, "malformed-critical"), (#","crit":["exp"],"exp":1"#, "not-understood"),
      (#","crit":["kid"]"#, "malformed-critical"), (#","crit":["b64"]"#, "malformed-critical"),
      (#","crit":["http://example.com/x"],"http://example.com/x":1"#, "not-understood"),
      (#","b64":false"#, "unencoded-payload"), (#","b64":false,"crit":["b64"]"#, "unencoded-payload"),
      (#","b64":0"#, "wrong-type"), (#","alg":"none""#, "malformed-json"), (#","kid":"other""#, "malformed-json"),
      (#","\u0061lg":"none""#, "malformed-json"), (#","x":[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]"#, "malformed-json"),
      (#"}{"#, "malformed-json"), (#","x":1e999"#, "malformed-json"), (",\"x\":\"\u{1}\"", "malformed-json"),
    ]
    for signer in signers.all {
      for (more, code) in rows {
        let text = Self.header(signer, more) + "." + Self.claims
        #expect(signers.refusal(text, try signer.signature(of: text))?.code == code, "\(signer.algorithm): \(more)")
      }
      for bytes in ["", "{}", "[]", "\"alg\"", "null", "{", "\u{FEFF}{}"] {
        let text = Mint.text(Array(bytes.utf8)) + "." + Self.claims
        #expect(signers.refusal(text, try signer.signature(of: text)) != nil, "\(signer.algorithm): \(bytes)")
      }
    }
  }

  @Test func `numbers of an ECDSA signature are taken in their range and their fixed length alone`() throws {
    let signers = try Self.signers.get()
    for signer in signers.all {
      guard case .ecdsa(_, let curve) = signer.algorithm.scheme else { continue }
      let text = Self.header(signer) + "." + Self.claims
      let good = try signer.signature(of: text)
      let (r, s) = (Array(good.prefix(curve.byteCount)), Array(good.suffix(curve.byteCount)))
      let order = try Self.order(of: curve)
      // A signature with the other s of the two is right as well: a token's signature is not its name.
      #expect(signers.refusal(text, r + Self.difference(order, s)) == nil, "\(curve)")
      let zero = [UInt8](repeating: 0, count: curve.byteCount)
      let one = Array(zero.dropLast()) + [1]
      let others = [
        s + r, r + r, zero + s, r + zero, zero + zero, one + one, order + s, r + order, Self.difference(order, r) + s,
        try signer.distinguishedSignature(of: text), Array(good.dropLast(2)), r, [0] + r + [0] + s,
      ]
      for other in others { #expect(signers.refusal(text, other) == .wrongSignature, "\(curve): \(other.count) bytes") }
    }
  }

  /// The order of a curve's group (FIPS 186-4, D.1.2).
  private static func order(of curve: EllipticCurve) throws -> [UInt8] {
    let digits =
      switch curve {
      case .p256: "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551"
      case .p384:
        "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973"
      case .p521:
        "01" + String(repeating: "F", count: 64)
          + "FA51868783BF2F966B7FCC0148F709A5D03BB5C9B8899C47AEBB6FB71E91386409"
      }
    let numbers = try digits.map { digit in try #require(digit.hexDigitValue) }
    return stride(from: 0, to: numbers.count, by: 2).map { UInt8(numbers[$0] << 4 | numbers[$0 + 1]) }
  }

  private static func difference(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
    var result = left
    var borrow = 0
    for index in result.indices.reversed() {
      let value = Int(left[index]) - Int(right[index]) - borrow
      result[index] = UInt8(truncatingIfNeeded: value)
      borrow = value < 0 ? 1 : 0
    }
    return result
  }

  @Test func `an RSA signature is padded as its algorithm says, with its hash and its length of salt`() throws {
    let signers = try Self.signers.get()
    let digests = ["SHA1", "SHA256", "SHA384", "SHA512", "SHA512-256", "SHA3-256"]
    for signer in signers.all {
      let text = Self.header(signer) + "." + Self.claims
      switch signer.algorithm.scheme {
      case .rsaPKCS1(let hash):
        for salt in [Int32(0), 20, 32, 64] {
          let other = try signer.signature(of: text, padding: .pss(salt: salt))
          #expect(signers.refusal(text, other) == .wrongSignature)
        }
        for digest in digests {
          let refusal = signers.refusal(text, try signer.signature(of: text, digest: digest))
          #expect((refusal == nil) == (digest == "SHA\(hash.byteCount * 8)"), "\(signer.algorithm): \(digest)")
        }
      case .rsaPSS(let hash):
        #expect(signers.refusal(text, try signer.signature(of: text, padding: .pkcs1)) == .wrongSignature)
        for salt in [0, 1, 20, 31, 32, 33, 47, 48, 49, 63, 64, 65, 100] {
          let refusal = signers.refusal(text, try signer.signature(of: text, padding: .pss(salt: Int32(salt))))
          #expect((refusal == nil) == (salt == hash.byteCount), "\(signer.algorithm): salt of \(salt)")
        }
      case .hmac, .ecdsa, .edDSA: continue
      }
    }
  }

  @Test func `a signature of Ed25519 whose number is not reduced is refused, and so is one that needs no secret`()
    throws
  {
    let signers = try Self.signers.get()
    let signer = try #require(signers.all.first { $0.algorithm == .edDSA })
    let text = Self.header(signer) + "." + Self.claims
    let good = try signer.signature(of: text)
    // The order of the group, little-endian (RFC 8032, section 5.1).
    let order: [UInt8] =
      [0xED, 0xD3, 0xF5, 0x5C, 0x1A, 0x63, 0x12, 0x58, 0xD6, 0x9C, 0xF7, 0xA2, 0xDE, 0xF9, 0xDE, 0x14]
      + [UInt8](repeating: 0, count: 15) + [0x10]
    var sum = Array(good.suffix(32))
    var carry = 0
    for index in sum.indices {
      carry += Int(sum[index]) + Int(order[index])
      sum[index] = UInt8(truncatingIfNeeded: carry)
      carry >>= 8
    }
    #expect(signers.refusal(text, good.prefix(32) + sum) == .wrongSignature)
    let neutral: [UInt8] = [1] + [UInt8](repeating: 0, count: 31)
    for r in [neutral, [UInt8](repeating: 0, count: 32), [0xEE] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]] {
      for s in [[UInt8](repeating: 0, count: 32), Array(good.suffix(32)), order] {
        #expect(signers.refusal(text, r + s) == .wrongSignature)
      }
    }
  }
}
