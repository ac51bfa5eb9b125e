/// Writes a multipart body of JSON parts piece by piece (RFC 2046 section 5.1.1).
///
/// A part says its length, and the delimiter after it leaves with it: some clients read a part by its length, others up
/// to the delimiter, and both see each part as soon as it has come.
package struct MultipartWriter: Sendable {
  /// The boundary that responses in parts have by custom.
  package static let dash = MultipartWriter(boundary: "-")

  package let boundary: String
  private var hasBegun = false

  /// A body whose parts do not contain `boundary` at the start of a line. JSON on one line cannot.
  package init(boundary: String) {
    self.boundary = boundary
  }

  /// Appends a part whose content is JSON text.
  package mutating func part(_ json: [UInt8], to output: inout [UInt8]) {
    if !hasBegun { output.append(contentsOf: "\r\n--\(boundary)".utf8) }
    hasBegun = true
    output.append(
      contentsOf: "\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: \(json.count)\r\n\r\n".utf8)
    output.append(contentsOf: json)
    output.append(contentsOf: "\r\n--\(boundary)".utf8)
  }

  /// Appends the end of the body; there has been a part.
  package func end(to output: inout [UInt8]) {
    output.append(contentsOf: "--\r\n".utf8)
  }
}
