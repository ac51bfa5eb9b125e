/// Bounds of one multipart body that is read.
package struct MultipartLimits: Sendable {
  /// Longest body of one part, and longest preamble. As long as the longest WebSocket message of a server.
  package var partBytes = 1_048_576
  /// Longest header block of one part. Parts carry a content type and perhaps a length.
  package var headerBytes = 8_192
  /// Most header fields of one part.
  package var headerFields = 32

  package init() {}
}

/// A rule of RFC 2046 section 5.1 or of our limits that a multipart body broke.
package struct MultipartFailure: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Rule: String, Sendable, Hashable, CaseIterable {
    case contentType = "the content type is not multipart"
    case boundary = "the content type names no boundary of 1 to 70 legal characters"
    case delimiter = "a boundary is followed by neither a line end nor two hyphens"
    case field = "a header line of a part is malformed"
    case headerTooLarge = "the header of a part is larger than allowed"
    case partTooLarge = "a part is larger than allowed"
    case truncated = "the body ended before its closing boundary"
  }

  package var rule: Rule
  /// How many parts had been read before; 0 for the content type.
  package var part: Int

  package init(_ rule: Rule, part: Int = 0) {
    self.rule = rule
    self.part = part
  }

  package var description: String { "multipart body, part \(part + 1): \(rule.rawValue)" }
}
