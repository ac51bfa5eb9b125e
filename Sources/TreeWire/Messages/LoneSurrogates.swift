/// Halves of surrogate pairs that stand alone in JSON's escapes. The texts of JavaScript may have them; trees may not,
/// because UTF-8 has no bytes for them.
enum LoneSurrogates {
  /// JSON whose texts have U+FFFD in their places, with every other byte as it was.
  static func replaced(in json: [UInt8]) -> [UInt8] {
    var bytes = json
    var at = 0
    while at < bytes.count {
      // A backslash stands in texts only.
      guard bytes[at] == UInt8(ascii: "\\") else {
        at += 1
        continue
      }
      guard let unit = unit(bytes, at) else {
        at += 2
        continue
      }
      if (0xD800...0xDBFF).contains(unit), (0xDC00...0xDFFF).contains(self.unit(bytes, at + 6) ?? 0) {
        at += 12
        continue
      }
      if (0xD800...0xDFFF).contains(unit) { bytes.replaceSubrange(at + 2..<at + 6, with: "fffd".utf8) }
      at += 6
    }
    return bytes
  }

  /// The UTF-16 unit of the `\uXXXX` at `at`.
  private static func unit(_ bytes: [UInt8], _ at: Int) -> UInt16? {
    guard at + 6 <= bytes.count, bytes[at] == UInt8(ascii: "\\"), bytes[at + 1] == UInt8(ascii: "u") else { return nil }
    return UInt16(String(decoding: bytes[at + 2..<at + 6], as: UTF8.self), radix: 16)
  }
}
