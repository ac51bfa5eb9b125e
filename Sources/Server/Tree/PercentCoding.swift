internal import MartletTreeWire

/// Undoes the percent-encoding of paths and queries.
enum PercentCoding {
  static func decode(_ text: String) throws(RESTQueryError) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    var (bytes, rest): ([UInt8], Substring.UTF8View) = ([], text[...].utf8)
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      guard digits.utf8.count == 2, digits.utf8.first != UInt8(ascii: "+"), digits.utf8.first != UInt8(ascii: "-"),
        let value = UInt8(digits, radix: 16)
      else { throw RESTQueryError("% is not followed by two hexadecimal digits") }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    guard let decoded = String(validating: bytes, as: UTF8.self) else {
      throw RESTQueryError("the percent-encoding is not UTF-8")
    }
    return decoded
  }
}
