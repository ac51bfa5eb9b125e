/// A range of addresses in CIDR form: `10.0.0.0/8`, `2001:db8::/32`, or one address.
package struct AddressRange: Sendable, Hashable, CustomStringConvertible {
  private let address: IPAddress
  private let bits: Int

  /// Why a text is not a range.
  package struct Malformed: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String
  }

  package init(_ text: String) throws(Malformed) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, let address = IPAddress(String(first)) else {
      throw Malformed(description: "'\(text)' is not a range of addresses such as 10.0.0.0/8 or 2001:db8::/32")
    }
    let most = address.bytes.count * 8
    self.address = address
    guard parts.count == 2 else {
      bits = most
      return
    }
    let digits = Array(parts[1].utf8)
    guard (1...3).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
      let bits = Int(parts[1]), bits <= most
    else { throw Malformed(description: "'\(text)' has no length of a prefix from 0 to \(most)") }
    // A mistake such as 10.1.0.0/8 would trust more than was written.
    guard Self.bits(of: address.bytes, from: bits).allSatisfy({ !$0 }) else {
      throw Malformed(description: "'\(text)' has bits after its prefix of \(bits)")
    }
    self.bits = bits
  }

  package func contains(_ other: IPAddress) -> Bool {
    guard other.bytes.count == address.bytes.count else { return false }
    let whole = bits / 8
    guard other.bytes[..<whole] == address.bytes[..<whole] else { return false }
    let rest = bits % 8
    return rest == 0 || (other.bytes[whole] ^ address.bytes[whole]) >> UInt8(8 - rest) == 0
  }

  package var description: String { "\(address)/\(bits)" }

  private static func bits(of bytes: [UInt8], from start: Int) -> [Bool] {
    (start..<bytes.count * 8).map { bytes[$0 / 8] >> UInt8(7 - $0 % 8) & 1 == 1 }
  }
}
