import MartletTokens
import Testing

/// RSA signatures whose padding was altered before the private key was applied (RFC 8017, section 9.2): what the key
/// holder would never make, and what a forger can make under a small exponent where a verifier reads the padding
/// loosely.
@Suite struct PaddingTests {
  private static let signer = Result { try TokenSigner(.rs256) }
  private static let bytes = 256

  private static func padded(
    _ info: [UInt8], first: UInt8 = 0, type: UInt8 = 1, filler: UInt8 = 0xFF, separator: [UInt8] = [0],
    trailing: [UInt8] = [], fillers: Int? = nil
  ) -> [UInt8] {
    let rest = separator + info + trailing
    let count = fillers ?? bytes - 2 - rest.count
    let block = [first, type] + [UInt8](repeating: filler, count: count) + rest
    return block + [UInt8](repeating: 0, count: max(0, bytes - block.count))
  }

  /// The name of SHA-256 in DER, with its NULL and without.
  private static let sha256: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]

  private static func info(_ name: [UInt8], null: [UInt8] = [0x05, 0x00], _ hash: [UInt8]) -> [UInt8] {
    let algorithm = [0x06, UInt8(name.count)] + name + null
    let body = [0x30, UInt8(algorithm.count)] + algorithm + [0x04, UInt8(hash.count)] + hash
    return [0x30, UInt8(body.count)] + body
  }

  @Test func `a signature whose padding is not exactly that of its algorithm is refused`() throws {
    let signer = try Self.signer.get()
    let harness = try TokenHarness(keys: signer.published())
    let text = Mint.text(Array(#"{"alg":"RS256"}"#.utf8)) + "." + Mint.text(Array(#"{"sub":"ada"}"#.utf8))
    func refusal(_ block: [UInt8]) throws -> TokenRefusal? {
      harness.refusal(text + "." + Mint.text(try signer.raw(block)))
    }
    let hash = signer.digest(of: text)
    let info = Self.info(Self.sha256, hash)
    #expect(try refusal(Self.padded(info)) == nil, "the block that the algorithm asks for")
    #expect(try signer.raw(Self.padded(info)) == signer.signature(of: text))
    let garbage = [UInt8](repeating: 0x5A, count: 32)
    let sha1: [UInt8] = [0x2B, 0x0E, 0x03, 0x02, 0x1A]
    var sha512 = Self.sha256
    sha512[8] = 3
    // The lengths in BER, whose long form DER forbids.
    var long = info
    long.replaceSubrange(0..<2, with: [0x30, 0x81, info[1]])
    let blocks: [(String, [UInt8])] = [
      ("no NULL", Self.padded(Self.info(Self.sha256, null: [], hash))),
      ("a NULL of one byte", Self.padded(Self.info(Self.sha256, null: [0x05, 0x01, 0x00], hash))),
      (
        "garbage in the parameters",
        Self.padded(Self.info(Self.sha256, null: [0x05, 0x00, 0x04, 0x20] + garbage, hash))
      ),
      ("a length in long form", Self.padded(long)),
      ("a length of indefinite form", Self.padded([0x30, 0x80] + info.dropFirst(2) + [0, 0])),
      ("garbage behind the digest", Self.padded(info, trailing: garbage, fillers: 8)),
      ("eight bytes of padding", Self.padded(info, fillers: 8)),
      ("no padding", Self.padded(info, fillers: 0)),
      ("padding of zeros", Self.padded(info, filler: 0)),
      ("padding of ones", Self.padded(info, filler: 1)),
      ("block type 2", Self.padded(info, type: 2)), ("block type 0", Self.padded(info, type: 0)),
      ("no separator", Self.padded(info, separator: [])), ("two separators", Self.padded(info, separator: [0, 0])),
      ("the digest alone", Self.padded(hash)), ("an OCTET STRING alone", Self.padded([0x04, 0x20] + hash)),
      ("SHA-1's name", Self.padded(Self.info(sha1, hash))), ("SHA-512's name", Self.padded(Self.info(sha512, hash))),
      ("a short digest", Self.padded(Self.info(Self.sha256, Array(hash.prefix(20))))),
      ("another digest", Self.padded(Self.info(Self.sha256, garbage))),
      ("nothing", [UInt8](repeating: 0, count: Self.bytes)),
      ("one", [UInt8](repeating: 0, count: Self.bytes - 1) + [1]),
    ]
    for (name, block) in blocks {
      #expect(block.count == Self.bytes, "\(name)")
      #expect(try refusal(block) == .wrongSignature, "\(name)")
    }
  }
}
