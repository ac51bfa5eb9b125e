/// A sum of numbers without rounding: what is added can be taken out again, in any order, and the result is the same as
/// that of a fresh addition.
///
/// A fixed-point number with digits for the smallest and the largest double (a superaccumulator). Rounded once, when
/// `value` is read. 560 bytes.
package struct ExactSum: Sendable, Hashable {
  /// 32 bits each, the least significant first; carries are settled later. One is at digit `unit`.
  private var digits = [Int64](repeating: 0, count: digitCount)
  /// Additions since carries were settled.
  private var additions = 0

  /// The digit that counts ones: 34 digits of 32 bits hold 2^-1074, the smallest double.
  private static let unit = 34
  /// 2^1024 and 2^32 additions of it fit above.
  private static let digitCount = 68
  /// Carries must be settled before a digit overflows: each addition changes one by less than 2^32.
  private static let additionsWithoutCarry = 1 << 30

  /// Zero.
  package init() {}

  /// Adds a whole number.
  package mutating func add(_ number: Int64) { accumulate(number.magnitude, at: 0, isNegative: number < 0) }

  /// Takes out a whole number that was added.
  package mutating func subtract(_ number: Int64) { accumulate(number.magnitude, at: 0, isNegative: number >= 0) }

  /// Adds a finite number.
  package mutating func add(_ number: Double) { accumulate(number, isNegative: number.sign == .minus) }

  /// Takes out a finite number that was added.
  package mutating func subtract(_ number: Double) { accumulate(number, isNegative: number.sign == .plus) }

  private mutating func accumulate(_ number: Double, isNegative: Bool) {
    guard number.isFinite, number != 0 else { return }
    // The significand as a whole number, times 2^exponent.
    let exponent = max(Int(number.exponentBitPattern), 1) - 1_075
    let hidden: UInt64 = number.exponentBitPattern == 0 ? 0 : 1 << 52
    accumulate(number.significandBitPattern | hidden, at: exponent, isNegative: isNegative)
  }

  /// Adds `whole` times 2^exponent.
  private mutating func accumulate(_ whole: UInt64, at exponent: Int, isNegative: Bool) {
    let position = Self.unit * 32 + exponent
    let shift = UInt64(position % 32)
    let low = whole << shift
    let high = shift == 0 ? 0 : whole >> (64 - shift)
    let parts = [low & 0xFFFF_FFFF, low >> 32, high]
    for (index, part) in parts.enumerated() where part != 0 {
      digits[position / 32 + index] += isNegative ? -Int64(part) : Int64(part)
    }
    additions += 1
    if additions >= Self.additionsWithoutCarry { carry() }
  }

  /// Brings every digit but the last into 0..<2^32; the last has the sign.
  private mutating func carry() {
    for index in 0..<digits.count - 1 {
      digits[index + 1] += digits[index] >> 32
      digits[index] &= 0xFFFF_FFFF
    }
    additions = 0
  }

  /// The magnitude, settled, and whether the sum is below zero.
  private var settled: (digits: [Int64], isNegative: Bool) {
    var copy = self
    copy.carry()
    guard let last = copy.digits.last, last < 0 else { return (copy.digits, false) }
    for index in copy.digits.indices { copy.digits[index] = -copy.digits[index] }
    copy.carry()
    return (copy.digits, true)
  }

  /// The sum, rounded to the nearest double; infinite where none is as large.
  package var value: Double {
    let (digits, isNegative) = settled
    guard let top = digits.lastIndex(where: { $0 != 0 }) else { return 0 }
    // The 64 bits from the highest one down; whether anything is below them is kept in the lowest bit.
    var bits = UInt64(digits[top]) << 32
    if top > 0 { bits |= UInt64(digits[top - 1]) }
    let shift = bits.leadingZeroBitCount
    bits <<= UInt64(shift)
    let next = top > 1 ? UInt64(digits[top - 2]) : 0
    bits |= next >> UInt64(32 - min(shift, 32))
    let isInexact = next << UInt64(32 + min(shift, 32)) != 0 || digits[..<max(top - 2, 0)].contains { $0 != 0 }
    if isInexact { bits |= 1 }
    let exponent = (top - 1 - Self.unit) * 32 - shift
    let magnitude = Double(sign: .plus, exponent: exponent, significand: Double(bits))
    return isNegative ? -magnitude : magnitude
  }

  /// The sum, when it is a whole number that 64 bits hold.
  package var whole: Int64? {
    let (digits, isNegative) = settled
    guard digits[..<Self.unit].allSatisfy({ $0 == 0 }), digits[(Self.unit + 2)...].allSatisfy({ $0 == 0 }) else {
      return nil
    }
    let magnitude = UInt64(digits[Self.unit]) | UInt64(digits[Self.unit + 1]) << 32
    if isNegative { return magnitude <= 1 << 63 ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil }
    return Int64(exactly: magnitude)
  }

  /// Whether both have the same value, whatever was added to get there.
  package static func == (left: ExactSum, right: ExactSum) -> Bool {
    let (a, b) = (left.settled, right.settled)
    return a.digits == b.digits && a.isNegative == b.isNegative
  }

  /// Feeds the hasher in agreement with `==`.
  package func hash(into hasher: inout Hasher) {
    let settled = settled
    hasher.combine(settled.digits)
    hasher.combine(settled.isNegative)
  }
}
