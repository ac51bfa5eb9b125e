import MartletGraphQLLanguage

/// The text of definitions with as little space as their meaning allows while people can still read it: it is sent with
/// every request.
enum CompactText {
  static func text(of definitions: [Definition]) -> String {
    var bytes: [UInt8] = []
    let source = Array(definitions.map { Printer.text(of: $0) }.joined(separator: " ").utf8)
    var at = 0
    while at < source.count {
      if source[at] == UInt8(ascii: "\"") {
        let end = self.end(ofStringAt: at, in: source)
        bytes += source[at..<end]
        at = end
      } else if source[at] == UInt8(ascii: " ") || source[at] == UInt8(ascii: "\n") {
        if bytes.last != UInt8(ascii: " ") { bytes.append(UInt8(ascii: " ")) }
        at += 1
      } else {
        bytes.append(source[at])
        at += 1
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The index after the string, quoted once or three times, that begins at `start`.
  private static func end(ofStringAt start: Int, in source: [UInt8]) -> Int {
    let quote = UInt8(ascii: "\"")
    let isBlock = source[start...].starts(with: [quote, quote, quote])
    var at = start + (isBlock ? 3 : 1)
    while at < source.count {
      if source[at] == UInt8(ascii: "\\") {
        at += isBlock && source[(at + 1)...].starts(with: [quote, quote, quote]) ? 4 : (isBlock ? 1 : 2)
      } else if isBlock ? source[at...].starts(with: [quote, quote, quote]) : source[at] == quote {
        return at + (isBlock ? 3 : 1)
      } else {
        at += 1
      }
    }
    return source.count
  }
}
