/// SHA-256 (FIPS 180-4), by which persisted operations are named and requests to AWS are signed. It is written for
/// clarity: a client hashes each document once, and signs a handful of texts for each connection.
package enum SHA256 {
  /// The 32-byte digest of `message`.
  package static func digest(_ message: [UInt8]) -> [UInt8] {
    var words: [UInt32] = [
      0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19,
    ]
    let padded = SecureHashBlocks.padded(message)
    var schedule = [UInt32](repeating: 0, count: 64)
    for start in stride(from: 0, to: padded.count, by: 64) {
      SecureHashBlocks.load(padded, at: start, into: &schedule)
      for index in 16..<64 {
        let (early, late) = (schedule[index - 15], schedule[index - 2])
        let first = turned(early, 7) ^ turned(early, 18) ^ early >> 3
        let second = turned(late, 17) ^ turned(late, 19) ^ late >> 10
        schedule[index] = schedule[index - 16] &+ first &+ schedule[index - 7] &+ second
      }
      absorb(schedule, &words)
    }
    return SecureHashBlocks.bytes(of: words)
  }

  /// HMAC-SHA256 (RFC 2104) of `message`: 32 bytes.
  package static func authentication(of message: [UInt8], key: [UInt8]) -> [UInt8] {
    var block = key.count > 64 ? digest(key) : key
    block += repeatElement(0, count: 64 - block.count)
    return digest(block.map { $0 ^ 0x5C } + digest(block.map { $0 ^ 0x36 } + message))
  }

  private static func absorb(_ schedule: [UInt32], _ words: inout [UInt32]) {
    var (a, b, c, d) = (words[0], words[1], words[2], words[3])
    var (e, f, g, h) = (words[4], words[5], words[6], words[7])
    for index in 0..<64 {
      let upper = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
      let choice = (e & f) ^ (~e & g)
      let first = h &+ upper &+ choice &+ constants[index] &+ schedule[index]
      let lower = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)
      let majority = (a & b) ^ (a & c) ^ (b & c)
      (h, g, f, e) = (g, f, e, d &+ first)
      (d, c, b, a) = (c, b, a, first &+ lower &+ majority)
    }
    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { words[index] &+= word }
  }

  private static func turned(_ word: UInt32, _ count: UInt32) -> UInt32 {
    word >> count | word << (32 - count)
  }

  /// The first 32 bits of the fractions of the cube roots of the first 64 primes.
  private static let constants: [UInt32] = [
    0x428A_2F98, 0x7137_4491, 0xB5C0_FBCF, 0xE9B5_DBA5, 0x3956_C25B, 0x59F1_11F1, 0x923F_82A4, 0xAB1C_5ED5,
    0xD807_AA98, 0x1283_5B01, 0x2431_85BE, 0x550C_7DC3, 0x72BE_5D74, 0x80DE_B1FE, 0x9BDC_06A7, 0xC19B_F174,
    0xE49B_69C1, 0xEFBE_4786, 0x0FC1_9DC6, 0x240C_A1CC, 0x2DE9_2C6F, 0x4A74_84AA, 0x5CB0_A9DC, 0x76F9_88DA,
    0x983E_5152, 0xA831_C66D, 0xB003_27C8, 0xBF59_7FC7, 0xC6E0_0BF3, 0xD5A7_9147, 0x06CA_6351, 0x1429_2967,
    0x27B7_0A85, 0x2E1B_2138, 0x4D2C_6DFC, 0x5338_0D13, 0x650A_7354, 0x766A_0ABB, 0x81C2_C92E, 0x9272_2C85,
    0xA2BF_E8A1, 0xA81A_664B, 0xC24B_8B70, 0xC76C_51A3, 0xD192_E819, 0xD699_0624, 0xF40E_3585, 0x106A_A070,
    0x19A4_C116, 0x1E37_6C08, 0x2748_774C, 0x34B0_BCB5, 0x391C_0CB3, 0x4ED8_AA4A, 0x5B9C_CA4F, 0x682E_6FF3,
    0x748F_82EE, 0x78A5_636F, 0x84C8_7814, 0x8CC7_0208, 0x90BE_FFFA, 0xA450_6CEB, 0xBEF9_A3F7, 0xC671_78F2,
  ]
}
