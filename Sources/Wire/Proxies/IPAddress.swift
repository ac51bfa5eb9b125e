/// An IPv4 or IPv6 address by its bytes. An IPv4 address that is mapped into IPv6 is the IPv4 address.
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
  /// 4 or 16 bytes.
  package let bytes: [UInt8]

  /// Nil for other counts than 4 and 16.
  package init?(_ bytes: some Collection<UInt8>) {
    let bytes = Array(bytes)
    switch bytes.count {
    case 4: self.bytes = bytes
    case 16:
      let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
      self.bytes = isMapped ? Array(bytes[12...]) : bytes
    default: return nil
    }
  }

  /// Reads `192.0.2.1` or `2001:db8::1`; nil for anything else, zones and leading zeros included.
  package init?(_ text: String) {
    let text = Array(text.utf8)
    let bytes = text.contains(UInt8(ascii: ":")) ? Self.version6(text) : Self.version4(text[...])
    guard let bytes else { return nil }
    self.init(bytes)
  }

  /// Reads an address that may have a port: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]:80`.
  package init?(node text: String) {
    let bytes = Array(text.utf8)
    if bytes.first == UInt8(ascii: "[") {
      guard let end = bytes.firstIndex(of: UInt8(ascii: "]")), Self.isPort(bytes[(end + 1)...]) else { return nil }
      self.init(String(decoding: bytes[1..<end], as: UTF8.self))
      guard self.bytes.count == 16 || bytes[1..<end].contains(UInt8(ascii: ":")) else { return nil }
    } else if let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon == bytes.lastIndex(of: UInt8(ascii: ":")) {
      guard Self.isPort(bytes[colon...]) else { return nil }
      self.init(String(decoding: bytes[..<colon], as: UTF8.self))
    } else {
      self.init(text)
    }
  }

  package var isLoopback: Bool {
    bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
  }

  package var description: String {
    guard bytes.count == 16 else { return bytes.map { "\($0)" }.joined(separator: ".") }
    let groups = (0..<8).map { Int(bytes[2 * $0]) << 8 | Int(bytes[2 * $0 + 1]) }
    // The longest run of zeros, the first of equal ones, of two at least (RFC 5952, section 4.2).
    var (best, start) = (0..<0, 0)
    for end in 0...8 where end == 8 || groups[end] != 0 {
      if end - start > max(1, best.count) { best = start..<end }
      start = end + 1
    }
    func text(_ range: Range<Int>) -> String {
      groups[range].map { String($0, radix: 16) }.joined(separator: ":")
    }
    return best.isEmpty ? text(0..<8) : text(0..<best.lowerBound) + "::" + text(best.upperBound..<8)
  }

  // MARK: Reading

  private static func isPort(_ text: ArraySlice<UInt8>) -> Bool {
    guard let first = text.first else { return true }
    let digits = text.dropFirst()
    return first == UInt8(ascii: ":") && (1...5).contains(digits.count) && digits.allSatisfy(isDigit)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private static func version4(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var bytes: [UInt8] = []
    for part in parts {
      // A leading zero means octal to some systems.
      guard (1...3).contains(part.count), part.allSatisfy(isDigit), part.count == 1 || part.first != 0x30 else {
        return nil
      }
      let number = part.reduce(0) { $0 * 10 + Int($1 - 0x30) }
      guard let byte = UInt8(exactly: number) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  private static func version6(_ text: [UInt8]) -> [UInt8]? {
    guard text.count <= 45 else { return nil }
    let colon = UInt8(ascii: ":")
    var split: Int?
    for place in text.indices.dropLast() where text[place] == colon && text[place + 1] == colon {
      // A second `::`, or three colons.
      if let split, place != split { return nil }
      if split == nil { split = place }
    }
    guard let split else { return groups(text[...], isLast: true).flatMap { $0.count == 16 ? $0 : nil } }
    guard let head = groups(text[..<split], isLast: false), let tail = groups(text[(split + 2)...], isLast: true)
    else { return nil }
    // `::` stands for one group of zeros at least.
    guard head.count + tail.count <= 14 else { return nil }
    return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
  }

  /// Groups of up to four hexadecimal digits; the last may be an IPv4 address.
  private static func groups(_ text: ArraySlice<UInt8>, isLast: Bool) -> [UInt8]? {
    if text.isEmpty { return [] }
    var bytes: [UInt8] = []
    let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard parts.count <= 8 else { return nil }
    for (position, part) in parts.enumerated() {
      if isLast, position == parts.count - 1, part.contains(UInt8(ascii: ".")) {
        guard let four = version4(part) else { return nil }
        bytes += four
        continue
      }
      guard (1...4).contains(part.count) else { return nil }
      var number: UInt16 = 0
      for byte in part {
        guard let digit = hexadecimal(byte) else { return nil }
        number = number << 4 | UInt16(digit)
      }
      bytes += [UInt8(number >> 8), UInt8(number & 0xFF)]
    }
    return bytes
  }

  private static func hexadecimal(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x61...0x66: byte - 0x61 + 10
    case 0x41...0x46: byte - 0x41 + 10
    default: nil
    }
  }
}
