/// SHA-1 (FIPS 180-4), which RFC 6455 uses to prove that a server understood a handshake. Not for anything secret.
package enum SHA1 {
  /// The 20-byte digest of `message`.
  package static func digest(_ message: [UInt8]) -> [UInt8] {
    var state = State()
    let padded = SecureHashBlocks.padded(message)
    var schedule = [UInt32](repeating: 0, count: 80)
    for start in stride(from: 0, to: padded.count, by: 64) {
      SecureHashBlocks.load(padded, at: start, into: &schedule)
      for index in 16..<80 {
        let mixed = schedule[index - 3] ^ schedule[index - 8] ^ schedule[index - 14] ^ schedule[index - 16]
        schedule[index] = rotate(mixed, by: 1)
      }
      state.absorb(schedule)
    }
    return SecureHashBlocks.bytes(of: state.words)
  }

  private struct State {
    var words: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]

    mutating func absorb(_ schedule: [UInt32]) {
      var (a, b, c, d, e) = (words[0], words[1], words[2], words[3], words[4])
      for index in 0..<80 {
        let choice: UInt32
        let constant: UInt32
        switch index / 20 {
        case 0: (choice, constant) = ((b & c) | (~b & d), 0x5A82_7999)
        case 1: (choice, constant) = (b ^ c ^ d, 0x6ED9_EBA1)
        case 2: (choice, constant) = ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC)
        default: (choice, constant) = (b ^ c ^ d, 0xCA62_C1D6)
        }
        let next = rotate(a, by: 5) &+ choice &+ e &+ constant &+ schedule[index]
        (e, d, c, b, a) = (d, c, rotate(b, by: 30), a, next)
      }
      words[0] &+= a
      words[1] &+= b
      words[2] &+= c
      words[3] &+= d
      words[4] &+= e
    }
  }

  private static func rotate(_ word: UInt32, by count: UInt32) -> UInt32 {
    word << count | word >> (32 - count)
  }
}
