/// Checks UTF-8 as it arrives, in pieces of any size (RFC 3629: no surrogates, no overlong forms, at most U+10FFFF).
///
/// A wrong byte is refused when it is seen, not when the text ends.
package struct UTF8Validator: Sendable {
  /// Continuation bytes still owed by the character begun.
  private var owed: UInt8 = 0
  /// Bounds of the next continuation byte; they are narrower after E0, ED, F0 and F4.
  private var low: UInt8 = 0x80
  private var high: UInt8 = 0xBF

  package init() {}

  /// Whether the text may end here.
  package var isComplete: Bool { owed == 0 }

  /// Takes `bytes` from index `start` on. False at the first byte that cannot be part of UTF-8.
  package mutating func accept(_ bytes: [UInt8], from start: Int) -> Bool {
    var index = start
    while index < bytes.count {
      if owed == 0 {
        index = firstNonASCII(bytes, from: index)
        if index == bytes.count { return true }
      }
      guard accept(bytes[index]) else { return false }
      index += 1
    }
    return true
  }

  private mutating func accept(_ byte: UInt8) -> Bool {
    if owed > 0 {
      guard byte >= low, byte <= high else { return false }
      (low, high) = (0x80, 0xBF)
      owed -= 1
      return true
    }
    switch byte {
    case 0x00...0x7F: owed = 0
    case 0xC2...0xDF: owed = 1
    case 0xE0: (owed, low) = (2, 0xA0)
    case 0xED: (owed, high) = (2, 0x9F)
    case 0xE1...0xEF: owed = 2
    case 0xF0: (owed, low) = (3, 0x90)
    case 0xF1...0xF3: owed = 3
    case 0xF4: (owed, high) = (3, 0x8F)
    default: return false
    }
    return true
  }
}

/// Whether all of `bytes` is UTF-8.
package func isUTF8(_ bytes: [UInt8]) -> Bool {
  var validator = UTF8Validator()
  return validator.accept(bytes, from: 0) && validator.isComplete
}

/// The longest prefix of `text` of at most `limit` bytes that ends on a character boundary.
package func truncatedUTF8(_ text: String, to limit: Int) -> [UInt8] {
  let bytes = [UInt8](text.utf8)
  guard bytes.count > limit else { return bytes }
  var end = max(0, limit)
  while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
  return [UInt8](bytes[..<end])
}
