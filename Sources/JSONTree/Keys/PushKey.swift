/// Makes keys that sort by the time of their creation and do not collide between clients: eight characters for the
/// millisecond, twelve random ones. Within one millisecond the random part counts up.
///
/// The alphabet and the layout are those published for the Realtime Database. A clock that is set back does not disturb
/// the order of this generator's keys: it continues with the millisecond it had reached.
package struct PushKeyGenerator: Sendable {
  private static let alphabet = Array("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8)
  private static let timeDigits = 8
  private static let randomDigits = 12

  private var last: Int64 = -1
  private var digits: [UInt8] = Array(repeating: 0, count: randomDigits)

  package init() {}

  /// The next key.
  ///
  /// - Parameters:
  ///   - milliseconds: the time since 1970, at most 2^48 - 1.
  ///   - chance: twelve numbers are drawn for the first key of a millisecond.
  package mutating func next(milliseconds: Int64, chance: inout some RandomNumberGenerator) -> TreeKey {
    if milliseconds > last {
      last = max(0, milliseconds)
      for index in digits.indices { digits[index] = UInt8(chance.next() >> 58) }
    } else if !countUp() {
      // All random digits were at their end: the next millisecond begins early.
      last += 1
      for index in digits.indices { digits[index] = UInt8(chance.next() >> 58) }
    }
    var text = [UInt8](repeating: 0, count: Self.timeDigits)
    var rest = last
    for index in (0..<Self.timeDigits).reversed() {
      text[index] = Self.alphabet[Int(rest & 63)]
      rest >>= 6
    }
    text += digits.map { Self.alphabet[Int($0)] }
    return TreeKey(unchecked: String(decoding: text, as: UTF8.self))
  }

  private mutating func countUp() -> Bool {
    for index in digits.indices.reversed() {
      if digits[index] < 63 {
        digits[index] += 1
        return true
      }
      digits[index] = 0
    }
    return false
  }

  /// The time at which `key` was made, in milliseconds since 1970; nil when it is not such a key.
  package static func milliseconds(of key: TreeKey) -> Int64? {
    let bytes = Array(key.text.utf8)
    guard bytes.count == timeDigits + randomDigits else { return nil }
    var time: Int64 = 0
    for (index, byte) in bytes.enumerated() {
      guard let digit = alphabet.firstIndex(of: byte) else { return nil }
      if index < timeDigits { time = time << 6 | Int64(digit) }
    }
    return time
  }
}
