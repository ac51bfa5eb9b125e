/// The paths that one endpoint serves: one path exactly, or every path between a fixed beginning and a fixed end.
///
/// `/healthz` matches itself. `/{path...}.json` matches `/rooms/kitchen.json`, with `rooms/kitchen` as what stands for
/// the braces. Paths compare byte by byte, as they were sent: percent-encoding is not undone.
package struct PathPattern: Sendable, Equatable, CustomStringConvertible {
  package let description: String
  private let beginning: [UInt8]
  /// Nil for a pattern that is one path.
  private let end: [UInt8]?
  /// Whether nothing may stand for the braces, too.
  private let takesNothing: Bool

  /// Reads a pattern; nil when it does not begin with `/` or has braces other than one `{name...}`.
  ///
  /// - Parameter takesNothing: whether nothing may stand for the braces, too.
  package init?(_ text: String, takesNothing: Bool = false) {
    description = text
    self.takesNothing = takesNothing
    let bytes = Array(text.utf8)
    let open = bytes.indices.filter { bytes[$0] == UInt8(ascii: "{") }
    let close = bytes.indices.filter { bytes[$0] == UInt8(ascii: "}") }
    guard bytes.first == UInt8(ascii: "/") else { return nil }
    guard let from = open.first, let to = close.first else {
      guard open.isEmpty, close.isEmpty else { return nil }
      beginning = bytes
      end = nil
      return
    }
    guard open.count == 1, close.count == 1, from < to, bytes[from..<to].count > 4,
      bytes[from..<to].suffix(3).elementsEqual("...".utf8)
    else { return nil }
    beginning = Array(bytes[..<from])
    end = Array(bytes[(to + 1)...])
  }

  /// What stands for the braces, empty for a pattern without; nil when the path is another one.
  package func match(_ path: String) -> String? {
    // Every request is compared with the rows before its own, whose paths are of other lengths or end otherwise.
    let bytes = path.utf8
    guard let end else { return bytes.count == beginning.count && bytes.elementsEqual(beginning) ? "" : nil }
    let shortest = beginning.count + end.count + (takesNothing ? 0 : 1)
    guard bytes.count >= shortest, bytes.starts(with: beginning),
      bytes.suffix(end.count).elementsEqual(end)
    else { return nil }
    return String(decoding: bytes.dropFirst(beginning.count).dropLast(end.count), as: UTF8.self)
  }
}
