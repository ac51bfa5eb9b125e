/// The text scalars of AppSync that are not dates: email, URL, phone number and IP address.
enum AWSText {
  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: false
    }
  }

  /// A local part of RFC 822 atoms, one `@`, a domain of labels.
  static func isEmail(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    guard parts.count == 2, (1...64).contains(parts[0].count), (1...255).contains(parts[1].count) else { return false }
    let special = Array("!#$%&'*+-/=?^_`{|}~".utf8)
    let atoms = parts[0].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard atoms.allSatisfy({ !$0.isEmpty && $0.allSatisfy { isAlphanumeric($0) || special.contains($0) } }) else {
      return false
    }
    let labels = parts[1].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return labels.allSatisfy { label in
      (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
        && label.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
    }
  }

  /// A scheme, a colon and something after it, without spaces or control characters (RFC 1738 section 2.1).
  static func isURL(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0, colon + 1 < bytes.count else { return false }
    let scheme = bytes[..<colon]
    let extra = Array("+-.".utf8)
    guard let first = scheme.first, isAlphanumeric(first), !(0x30...0x39).contains(first),
      scheme.allSatisfy({ isAlphanumeric($0) || extra.contains($0) }),
      bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
    else { return false }
    let rest = bytes[(colon + 1)...]
    return rest.starts(with: "//".utf8) ? rest.count > 2 : true
  }

  /// `+` and 7 to 15 digits, or ten digits of the North American plan; spaces, dots, hyphens and brackets between.
  static func isPhone(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    let isInternational = bytes.first == UInt8(ascii: "+")
    let separators = Array(" .-()".utf8)
    var digits: [UInt8] = []
    for byte in isInternational ? bytes.dropFirst() : bytes[...] {
      if (0x30...0x39).contains(byte) {
        digits.append(byte)
      } else if !separators.contains(byte) {
        return false
      }
    }
    if isInternational { return (7...15).contains(digits.count) && digits[0] != 0x30 }
    if digits.count == 11, digits[0] == 0x31 { digits.removeFirst() }
    return digits.count == 10 && digits[0] >= 0x32
  }

  /// IPv4 or IPv6, with an optional prefix length.
  static func isIPAddress(_ text: String) -> Bool {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2 else { return false }
    let isVersion6 = parts[0].contains(":")
    guard isVersion6 ? isIPv6(parts[0]) : isIPv4(parts[0]) else { return false }
    guard parts.count == 2 else { return true }
    guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let length = Int(parts[1])
    else { return false }
    return length <= (isVersion6 ? 128 : 32)
  }

  private static func isIPv4(_ text: Substring) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4
      && parts.allSatisfy { part in
        (1...3).contains(part.utf8.count) && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
          && (part.utf8.count == 1 || part.first != "0") && UInt8(part) != nil
      }
  }

  private static func isIPv6(_ text: Substring) -> Bool {
    var groups = text.split(separator: ":", omittingEmptySubsequences: false)
    var wanted = 8
    if let last = groups.last, last.contains(".") {
      guard isIPv4(last) else { return false }
      groups.removeLast()
      wanted = 6
      if groups.last == "", groups.count >= 2 { groups.append("") }
    }
    let gaps = text.indices.filter { text[$0...].hasPrefix("::") }
    guard !text.contains(":::"), gaps.count <= 1 else { return false }
    // A single colon at an end leaves an empty group that no gap stands for.
    if text.hasPrefix(":"), !text.hasPrefix("::") { return false }
    if text.hasSuffix(":"), !text.hasSuffix("::") { return false }
    let written = groups.filter { !$0.isEmpty }
    guard
      written.allSatisfy({ group in
        group.utf8.count <= 4
          && group.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x46).contains($0) || (0x61...0x66).contains($0)
          }
      })
    else { return false }
    if gaps.isEmpty { return written.count == wanted && groups.count == written.count }
    return written.count < wanted
  }
}
