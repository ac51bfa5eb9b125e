/// What SHA-1 and SHA-256 do alike (FIPS 180-4, sections 5.1.1, 5.2.1 and 6): blocks of sixteen words.
package enum SecureHashBlocks {
  /// The message with its padding: whole blocks of 64 bytes.
  package static func padded(_ message: [UInt8]) -> [UInt8] {
    var padded = message
    padded.append(0x80)
    padded.append(contentsOf: repeatElement(0, count: (120 - padded.count % 64) % 64))
    let bitCount = UInt64(message.count) &* 8
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      padded.append(UInt8(truncatingIfNeeded: bitCount >> shift))
    }
    return padded
  }

  /// Writes the words of the block at `start` to the beginning of a schedule.
  package static func load(_ padded: [UInt8], at start: Int, into schedule: inout [UInt32]) {
    for index in 0..<16 {
      let at = start + index * 4
      schedule[index] =
        UInt32(padded[at]) << 24 | UInt32(padded[at + 1]) << 16 | UInt32(padded[at + 2]) << 8 | UInt32(padded[at + 3])
    }
  }

  /// The digest that the words are.
  package static func bytes(of words: [UInt32]) -> [UInt8] {
    words.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) } }
  }
}
