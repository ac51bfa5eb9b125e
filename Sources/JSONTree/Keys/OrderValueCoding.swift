/// Writes order values as bytes whose `memcmp` order is the order of the values, so that a store finds children by
/// them.
///
/// | value | bytes |
/// | --- | --- |
/// | null, false, true | 00, 01, 02 |
/// | number | 03, the next double at or below it with its bits in order, what an integer adds to that in two bytes |
/// | text | 04, its UTF-8 with first bytes in UTF-16 order and 00 as 00 FF, 00 00 |
/// | object | 05 |
///
/// No value's bytes begin with those of another one.
package enum OrderValueCoding {
  private static let number: UInt8 = 3
  private static let text: UInt8 = 4
  private static let object: UInt8 = 5
  private static let numberBytes = 11

  /// Above every first byte of a value, and of a key that follows one.
  package static let afterAll: UInt8 = 0xFF

  /// Appends the bytes of `value`.
  package static func append(_ value: OrderValue, to bytes: inout [UInt8]) {
    switch value {
    case .null: bytes.append(0)
    case .object: bytes.append(object)
    case .scalar(.bool(let flag)): bytes.append(flag ? 2 : 1)
    case .scalar(.double(let value)): append(value, adding: 0, to: &bytes)
    case .scalar(.int(let value)):
      var base = Double(value)
      // Rounding up would put the integer before doubles that are below it.
      if base >= 0x1p63 || Int64(base) > value { base = base.nextDown }
      append(base, adding: UInt16(truncatingIfNeeded: value &- Int64(base)), to: &bytes)
    case .scalar(.string(let string)):
      bytes.append(text)
      for byte in string.utf8 {
        bytes.append(TextOrder.rank(byte))
        if byte == 0 { bytes.append(0xFF) }
      }
      bytes.append(contentsOf: [0, 0])
    }
  }

  private static func append(_ value: Double, adding rest: UInt16, to bytes: inout [UInt8]) {
    bytes.append(number)
    let bits = value.bitPattern
    let ordered = bits >> 63 == 1 ? ~bits : bits | 1 << 63
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: ordered >> shift))
    }
    bytes.append(UInt8(rest >> 8))
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// How many bytes the value takes with which `bytes` begin; nil when they are damaged.
  package static func length(in bytes: ArraySlice<UInt8>) -> Int? {
    guard let type = bytes.first else { return nil }
    switch type {
    case 0, 1, 2, object: return 1
    case number: return bytes.count >= numberBytes ? numberBytes : nil
    case text:
      var place = bytes.startIndex + 1
      while place + 1 < bytes.endIndex {
        guard bytes[place] == 0 else {
          place += 1
          continue
        }
        if bytes[place + 1] == 0 { return place + 2 - bytes.startIndex }
        place += 2
      }
      return nil
    default: return nil
    }
  }
}
