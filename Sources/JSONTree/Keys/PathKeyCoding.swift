/// Writes paths as bytes whose `memcmp` order is the tree's order: a node before the nodes below it, and these before
/// the node's next sibling. Rows of a store are kept under such keys.
///
/// | key | bytes |
/// | --- | --- |
/// | 32-bit integer | 10, the value in four bytes (sign bit inverted), the length of its text, 0 with a minus sign, else 1 |
/// | other | 20, its UTF-8 with first bytes EE, EF and F0 to F4 in UTF-16 order, 00 |
package enum PathKeyCoding {
  private static let integer: UInt8 = 0x10
  private static let text: UInt8 = 0x20
  /// Above every first byte of an encoded key.
  private static let afterChildren: UInt8 = 0xFF

  /// The bytes of `path`; none for the root.
  package static func encode(_ path: TreePath) -> [UInt8] {
    var bytes: [UInt8] = []
    for key in path.keys { append(key, to: &bytes) }
    return bytes
  }

  /// Appends the bytes of one key.
  package static func append(_ key: TreeKey, to bytes: inout [UInt8]) {
    if let number = key.number {
      bytes.append(integer)
      let bits = UInt32(bitPattern: number) ^ 0x8000_0000
      for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: bits >> shift)) }
      bytes.append(UInt8(key.text.utf8.count))
      bytes.append(key.text.utf8.first == UInt8(ascii: "-") ? 0 : 1)
    } else {
      bytes.append(text)
      for byte in key.text.utf8 { bytes.append(TextOrder.rank(byte)) }
      bytes.append(0)
    }
  }

  /// The range of keys of `path` itself and of everything below it.
  package static func subtree(of path: TreePath) -> (first: [UInt8], end: [UInt8]) {
    let first = encode(path)
    return (first, first + [afterChildren])
  }

  /// The path that `bytes` stand for; nil when they are damaged.
  package static func decode(_ bytes: some Collection<UInt8>) -> TreePath? {
    var rest = Array(bytes)[...]
    var keys: [TreeKey] = []
    while let tag = rest.popFirst() {
      let key = tag == integer ? integerKey(&rest) : tag == text ? textKey(&rest) : nil
      guard let key else { return nil }
      keys.append(key)
    }
    return TreePath(keys)
  }

  private static func integerKey(_ rest: inout ArraySlice<UInt8>) -> TreeKey? {
    guard rest.count >= 6 else { return nil }
    let bits = rest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    rest = rest.dropFirst(4)
    let (length, sign) = (Int(rest.removeFirst()), rest.removeFirst())
    let value = Int32(bitPattern: bits ^ 0x8000_0000)
    guard length <= 11, sign <= 1, value >= 0 || sign == 0, value <= 0 || sign == 1 else { return nil }
    let digits = String(value.magnitude)
    let minus = sign == 0 ? "-" : ""
    let zeros = length - digits.utf8.count - minus.utf8.count
    guard zeros >= 0 else { return nil }
    return TreeKey(unchecked: minus + String(repeating: "0", count: zeros) + digits)
  }

  private static func textKey(_ rest: inout ArraySlice<UInt8>) -> TreeKey? {
    guard let end = rest.firstIndex(of: 0), end > rest.startIndex else { return nil }
    let bytes = rest[..<end].map(TextOrder.byte(ofRank:))
    rest = rest[(end + 1)...]
    guard let text = String(wellFormed: bytes) else { return nil }
    let key = TreeKey(unchecked: text)
    return key.number == nil ? key : nil
  }
}
