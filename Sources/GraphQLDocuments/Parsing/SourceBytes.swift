/// What the bytes of a GraphQL source are (section 2.1 "Source Text").
enum SourceBytes {
  @inline(__always)
  static func isDigit(_ byte: UInt8) -> Bool {
    byte &- UInt8(ascii: "0") < 10
  }

  @inline(__always)
  static func isNameStart(_ byte: UInt8) -> Bool {
    (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_")
  }

  @inline(__always)
  static func isNamePart(_ byte: UInt8) -> Bool {
    isNameStart(byte) || isDigit(byte)
  }

  /// The length in bytes of the non-ASCII scalar at `index`; nil when the bytes there are not well-formed UTF-8.
  static func scalarLength(_ bytes: [UInt8], at index: Int) -> Int? {
    let length: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch bytes[index] {
    case 0xC2...0xDF: length = 2
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: length = 3
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    case 0xF1...0xF3: length = 4
    default: return nil
    }
    guard index + length <= bytes.count, second.contains(bytes[index + 1]),
      bytes[(index + 2)..<(index + length)].allSatisfy({ (0x80...0xBF).contains($0) })
    else { return nil }
    return length
  }
}
