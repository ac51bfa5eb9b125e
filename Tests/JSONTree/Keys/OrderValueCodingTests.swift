import MartletJSONTree
import MartletVocabulary
import Testing

@Suite struct OrderValueCodingTests {
  static let values: [OrderValue] = [
    .null, .object, .scalar(.bool(false)), .scalar(.bool(true)),
    .scalar(.int(0)), .scalar(.int(-1)), .scalar(.int(1)), .scalar(.int(.max)), .scalar(.int(.min)),
    .scalar(.int(.max - 1)), .scalar(.int(.min + 1)), .scalar(.int(1 << 53)), .scalar(.int(1 << 53 + 1)),
    .scalar(.int(1 << 53 + 2)), .scalar(.int(-(1 << 53) - 1)), .scalar(.double(0.5)), .scalar(.double(-0.5)),
    .scalar(.double(0x1p63)), .scalar(.double(-0x1p64)), .scalar(.double(1e300)), .scalar(.double(-1e300)),
    .scalar(.double(.leastNonzeroMagnitude)),
    .scalar(.double(-.leastNonzeroMagnitude)),
    .scalar(.string("")), .scalar(.string("a")), .scalar(.string("a\0")), .scalar(.string("a\0b")),
    .scalar(.string("a\u{1}")), .scalar(.string("ab")), .scalar(.string("\0")), .scalar(.string("\u{FFFD}")),
    .scalar(.string("\u{1F600}")), .scalar(.string("é")), .scalar(.string("e\u{301}")),
  ]

  static func bytes(_ value: OrderValue, _ key: TreeKey? = nil) -> [UInt8] {
    var bytes: [UInt8] = []
    OrderValueCoding.append(value, to: &bytes)
    if let key { PathKeyCoding.append(key, to: &bytes) }
    return bytes
  }

  @Test func `the bytes of two order values compare as the values do`() {
    for left in Self.values {
      for right in Self.values {
        let inOrder = Self.bytes(left).lexicographicallyPrecedes(Self.bytes(right))
        #expect(inOrder == (left < right), "\(left) and \(right)")
        #expect((Self.bytes(left) == Self.bytes(right)) == (left == right), "\(left) and \(right)")
      }
    }
  }

  @Test func `integers near two large doubles stand between them`() {
    var chance = SeededRandom(seed: 5)
    for _ in 0..<2_000 {
      let shift = Int64.random(in: 0...62, using: &chance)
      let a = Int64.random(in: .min ... .max, using: &chance) >> shift
      let b = a &+ Int64.random(in: -3...3, using: &chance)
      let pairs: [(TreeScalar, TreeScalar)] = [
        (.int(a), .int(b)), (.int(a), TreeScalar(Double(a) + 0.5) ?? .int(a)),
        (.int(a), TreeScalar(Double(b)) ?? .int(b)),
      ]
      for (left, right) in pairs {
        let inOrder = Self.bytes(.scalar(left)).lexicographicallyPrecedes(Self.bytes(.scalar(right)))
        #expect(inOrder == (left < right), "\(left) and \(right)")
      }
    }
  }

  @Test func `the length of a value is found in front of a key, and damaged bytes have none`() {
    for value in Self.values {
      let bytes = Self.bytes(value, "key")
      #expect(OrderValueCoding.length(in: bytes[...]) == Self.bytes(value).count, "\(value)")
    }
    #expect(OrderValueCoding.length(in: []) == nil)
    #expect(OrderValueCoding.length(in: [3, 0]) == nil)
    #expect(OrderValueCoding.length(in: [4, 65, 0]) == nil)
    #expect(OrderValueCoding.length(in: [9]) == nil)
  }
}
