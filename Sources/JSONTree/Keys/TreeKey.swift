import MartletJSON

/// The name of one child of a tree node.
///
/// Keys that read as signed 32-bit integers come first, by value; all other keys follow by UTF-16 code units. Equality
/// is by bytes: composed and decomposed forms are two keys.
package struct TreeKey: Hashable, Sendable {
  /// The key as it was written.
  package let text: String
  /// The value of a key that reads as a signed 32-bit integer.
  package let number: Int32?

  /// A key that is known to be allowed.
  package init(unchecked text: String) {
    self.text = text
    number = Self.number(in: text)
  }

  /// Checks the grammar: 1 to `limits.keyBytes` bytes, no control character, none of `. $ # [ ] /`.
  ///
  /// - Parameter parent: where the key stands, for the error.
  package init(_ text: String, under parent: TreePath = .root, limits: TreeLimits = TreeLimits()) throws(TreeError) {
    guard !text.isEmpty else { throw TreeError(.emptyKey, at: parent) }
    guard text.utf8.count <= limits.keyBytes else {
      throw TreeError(.keyTooLong, at: parent, limit: limits.keyBytes)
    }
    for byte in text.utf8 where Self.isForbidden(byte) { throw TreeError(.forbiddenCharacter, at: parent, text: text) }
    self.init(unchecked: text)
  }

  /// The name under which a node's priority can be written, as in the Realtime Database.
  package static let priority = TreeKey(unchecked: ".priority")

  /// Whether this names the priority and not a child.
  package var isPriority: Bool { text.utf8.first == UInt8(ascii: ".") && text == ".priority" }

  static func isForbidden(_ byte: UInt8) -> Bool {
    switch byte {
    case 0..<0x20, 0x7F, UInt8(ascii: "."), UInt8(ascii: "$"), UInt8(ascii: "#"), UInt8(ascii: "["),
      UInt8(ascii: "]"), UInt8(ascii: "/"):
      true
    default: false
    }
  }

  /// An optional minus sign and digits, at most eleven bytes, within 32 bits; leading zeros are allowed.
  private static func number(in text: String) -> Int32? {
    var bytes = text.utf8[...]
    guard (1...11).contains(bytes.count) else { return nil }
    let isNegative = bytes.first == UInt8(ascii: "-")
    if isNegative { bytes = bytes.dropFirst() }
    guard !bytes.isEmpty else { return nil }
    var value: Int64 = 0
    for byte in bytes {
      guard (0x30...0x39).contains(byte) else { return nil }
      value = value * 10 + Int64(byte - 0x30)
    }
    return Int32(exactly: isNegative ? -value : value)
  }

  package static func == (left: TreeKey, right: TreeKey) -> Bool { left.text.hasSameBytes(as: right.text) }
  package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}

extension TreeKey: Comparable {
  package static func < (left: TreeKey, right: TreeKey) -> Bool { left.compare(right) < 0 }

  /// Negative, zero or positive as this key stands before, at or after `other`.
  func compare(_ other: TreeKey) -> Int {
    switch (number, other.number) {
    case (let left?, let right?) where left != right: return left < right ? -1 : 1
    case (.some, .some):
      // "7" stands before "07"; "-0" and "00" have one value and one length.
      let lengths = text.utf8.count - other.text.utf8.count
      return lengths != 0 ? lengths : TextOrder.compare(text, other.text)
    case (.some, nil): return -1
    case (nil, .some): return 1
    case (nil, nil): return TextOrder.compare(text, other.text)
    }
  }
}

extension TreeKey: CustomStringConvertible, ExpressibleByStringLiteral {
  package var description: String { text }
  /// For keys written in code; not checked.
  package init(stringLiteral value: String) { self.init(unchecked: value) }
}

/// The order of texts in the tree: by UTF-16 code units, without locale and without normalisation.
enum TextOrder {
  /// Negative, zero or positive as `left` stands before, at or after `right`.
  static func compare(_ left: String, _ right: String) -> Int {
    // The storage is only read inside the closures; going through `UTF8View` costs several times as much for each byte.
    let result = unsafe left.utf8.withContiguousStorageIfAvailable { left in
      unsafe right.utf8.withContiguousStorageIfAvailable { right in unsafe compareBytes(left, right) }
    }
    return (result ?? nil) ?? compareBytes(left.utf8, right.utf8)
  }

  private static func compareBytes(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Int {
    var (others, count) = (right.makeIterator(), 0)
    for byte in left {
      guard let other = others.next() else { return 1 }
      if byte != other { return Int(rank(byte)) - Int(rank(other)) }
      count += 1
    }
    return others.next() == nil ? 0 : -1
  }

  /// UTF-8 bytes sort as code points do. Code points above U+FFFF are surrogate pairs in UTF-16 and stand before
  /// U+E000 to U+FFFF there: their first bytes, F0 to F4, change places with EE and EF.
  static func rank(_ byte: UInt8) -> UInt8 {
    switch byte {
    case 0xEE, 0xEF: byte + 5
    case 0xF0...0xF4: byte - 2
    default: byte
    }
  }

  /// The byte whose rank is `rank`.
  static func byte(ofRank rank: UInt8) -> UInt8 {
    switch rank {
    case 0xF3, 0xF4: rank - 5
    case 0xEE...0xF2: rank + 2
    default: rank
    }
  }
}
