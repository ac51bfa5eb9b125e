import Testing

@testable import MartletHTTPWire
@testable import MartletWire

@Suite struct EncodingTests {
  static func hexadecimal(_ digest: some Sequence<UInt8>) -> String {
    digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// The examples of FIPS 180-4, and lengths around the padding's edges against each other.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (String(repeating: "a", count: 1_000), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"),
  ]) func `SHA-256 of known texts`(text: String, digest: String) {
    #expect(Self.hexadecimal(SHA256.digest(Array(text.utf8))) == digest)
  }

  /// Cases 1, 2 and 6 of RFC 4231: keys shorter and longer than a block.
  @Test(arguments: [
    (
      [UInt8](repeating: 0x0B, count: 20), "Hi There",
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
  ])
  func `HMAC-SHA256 gives the vectors of RFC 4231`(key: [UInt8], message: String, digest: String) {
    #expect(Self.hexadecimal(SHA256.authentication(of: Array(message.utf8), key: key)) == digest)
  }

  @Test(arguments: [
    ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
    ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    ("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
  ])
  func `SHA-1 gives the digests of FIPS 180`(text: String, digest: String) {
    #expect(Self.hexadecimal(SHA1.digest(Array(text.utf8))) == digest)
  }

  @Test func `SHA-1 pads every length round a block boundary`() {
    // Digests of runs of "a" differ for each length and never trap.
    let digests = (50...130).map { SHA1.digest([UInt8](repeating: 0x61, count: $0)) }
    #expect(Set(digests).count == digests.count)
    #expect(digests.allSatisfy { $0.count == 20 })
  }

  @Test(arguments: ["": "", "f": "Zg==", "fo": "Zm8=", "foo": "Zm9v", "foob": "Zm9vYg==", "fooba": "Zm9vYmE="])
  func `base64 gives the vectors of RFC 4648`(vector: (key: String, value: String)) {
    #expect(Base64.encode(Array(vector.key.utf8)) == vector.value)
    #expect(Base64.decodedCount(Array(vector.value.utf8)) == vector.key.utf8.count)
  }

  @Test(arguments: ["Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zm9v ", "Zm-_", "=Zm9"])
  func `text that is not base64 has no decoded length`(text: String) {
    #expect(Base64.decodedCount(Array(text.utf8)) == nil)
  }

  @Test(
    arguments: [
      [0xC0, 0xAF], [0xC1, 0x81], [0xE0, 0x80, 0xAF], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
      [0xF0, 0x80, 0x80, 0xAF], [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0x80],
      [0xFE], [0xFF], [0xC3, 0x28], [0xE2, 0x28, 0xA1], [0xF0, 0x28, 0x8C, 0xBC],
    ] as [[UInt8]])
  func `a sequence UTF-8 forbids is refused at its first wrong byte`(bytes: [UInt8]) {
    #expect(!isUTF8(bytes))
    var validator = UTF8Validator()
    var accepted = 0
    for byte in bytes {
      guard validator.accept([byte], from: 0) else { break }
      accepted += 1
    }
    #expect(accepted < bytes.count)
  }

  @Test func `the validator agrees with the standard library on short sequences`() {
    let interesting: [UInt8] = [
      0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEF, 0xF0, 0xF1,
      0xF4, 0xF5, 0xFF,
    ]
    for first in interesting {
      for second in interesting {
        for third in interesting {
          let bytes = [first, second, third, 0x80]
          #expect(isUTF8(bytes) == (String(validating: bytes, as: UTF8.self) != nil))
          #expect(isUTF8(Array(bytes[..<3])) == (String(validating: bytes[..<3], as: UTF8.self) != nil))
        }
      }
    }
  }

  @Test func `a wrong byte is found after any length of ASCII`() {
    for count in 0..<40 {
      #expect(!isUTF8([UInt8](repeating: 0x61, count: count) + [0xFF]))
      #expect(isUTF8([UInt8](repeating: 0x61, count: count) + Array("é€😀".utf8)))
    }
  }

  @Test func `text is cut between characters`() {
    #expect(truncatedUTF8("aé", to: 3) == Array("aé".utf8))
    #expect(truncatedUTF8("aé", to: 2) == Array("a".utf8))
    #expect(truncatedUTF8("😀", to: 3).isEmpty)
  }
}
