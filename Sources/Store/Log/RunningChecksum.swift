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
    add(entry.indices, of: entry, offset: offset, head: head, time: time)
  }

  /// The same for an entry that is a part of `bytes`.
  mutating func add(_ part: Range<Int>, of bytes: [UInt8], offset: Int64, head: Int64, time: Int64) {
    // The sum is carried in a variable of its own, which stays in a register.
    var sum = value
    Self.mix(UInt64(bitPattern: offset), into: &sum)
    Self.mix(UInt64(bitPattern: head), into: &sum)
    Self.mix(UInt64(bitPattern: time), into: &sum)
    Self.mix(UInt64(part.count), into: &sum)
    let rest = part.upperBound - part.count % 8
    // Slicing checks the bounds; each load is of bytes within the part, and the buffer is used within the call only.
    unsafe bytes.withUnsafeBytes { all in
      let bytes = unsafe UnsafeRawBufferPointer(rebasing: all[part])
      for place in stride(from: 0, to: rest - part.lowerBound, by: 8) {
        unsafe Self.mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)), into: &sum)
      }
    }
    var word: UInt64 = 0
    for place in rest..<part.upperBound { word |= UInt64(bytes[place]) << UInt64(8 * (place - rest)) }
    Self.mix(word, into: &sum)
    value = sum
  }

  private static func mix(_ word: UInt64, into value: inout UInt64) {
    let product = (value ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    value = (product.high ^ product.low) &+ (value << 7 | value >> 57)
  }
}
