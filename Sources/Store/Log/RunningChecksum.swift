/// A checksum over everything the log has held so far, carried from row to row.
///
/// Two stores whose checksums agree at an offset have folded the same groups up to there, and a log whose checksums can
/// be computed again is undamaged: divergence and damage are one comparison. It guards against faults and not against
/// people, so it is a fast 64-bit mix and not a cryptographic digest.
struct RunningChecksum: Equatable {
  private(set) var value: UInt64

  /// Of a log that has held nothing.
  static let empty = RunningChecksum(0x6D61_7274_6C65_7431)

  init(_ value: UInt64) {
    self.value = value
  }

  /// Adds one row: its entry, its offset, its group's first offset and its group's time.
  mutating func add(_ entry: [UInt8], offset: Int64, head: Int64, time: Int64) {
    mix(UInt64(bitPattern: offset))
    mix(UInt64(bitPattern: head))
    mix(UInt64(bitPattern: time))
    mix(UInt64(entry.count))
    let words = entry.count / 8
    // Each load is of eight bytes within the array, and the buffer is used within the call only.
    unsafe entry.withUnsafeBytes { bytes in
      for word in 0..<words {
        unsafe mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8 * word, as: UInt64.self)))
      }
    }
    var word: UInt64 = 0
    for (place, byte) in entry[(8 * words)...].enumerated() { word |= UInt64(byte) << (8 * UInt64(place)) }
    mix(word)
  }

  private mutating func mix(_ word: UInt64) {
    let product = (value ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    value = (product.high ^ product.low) &+ (value << 7 | value >> 57)
  }
}
