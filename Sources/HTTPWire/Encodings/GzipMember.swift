/// One member of a gzip file (RFC 1952): what an HTTP body with `Content-Encoding: gzip` is.
package struct GzipMember {
  /// The raw DEFLATE stream.
  package let compressed: ArraySlice<UInt8>
  private let checksum: UInt32
  private let length: UInt32

  /// Nil for bytes that are not one whole member.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count >= 18, bytes[0] == 0x1F, bytes[1] == 0x8B, bytes[2] == 8 else { return nil }
    let flags = bytes[3]
    guard flags & 0xE0 == 0 else { return nil }
    var rest = bytes[10..<(bytes.count - 8)]
    if flags & 0x04 != 0 {
      guard rest.count >= 2 else { return nil }
      let extra = Int(rest[rest.startIndex]) | Int(rest[rest.startIndex + 1]) << 8
      guard rest.count >= 2 + extra else { return nil }
      rest = rest.dropFirst(2 + extra)
    }
    // The file's name and a comment end with a zero.
    for flag in [0x08, 0x10] as [UInt8] where flags & flag != 0 {
      guard let end = rest.firstIndex(of: 0) else { return nil }
      rest = rest[(end + 1)...]
    }
    if flags & 0x02 != 0 {
      guard rest.count >= 2 else { return nil }
      rest = rest.dropFirst(2)
    }
    compressed = rest
    checksum = Self.number(bytes[(bytes.count - 8)...])
    length = Self.number(bytes[(bytes.count - 4)...])
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// Whether these are the bytes that were compressed.
  package func fits(_ bytes: [UInt8]) -> Bool {
    UInt32(truncatingIfNeeded: bytes.count) == length && Self.checksum(bytes) == checksum
  }

  /// CRC-32 as gzip computes it.
  package static func checksum(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~0) { sum, byte in sum >> 8 ^ table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] }
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { sum, _ in sum & 1 == 1 ? 0xEDB8_8320 ^ sum >> 1 : sum >> 1 }
  }
}
