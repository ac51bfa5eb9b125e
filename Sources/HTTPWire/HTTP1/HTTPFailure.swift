/// A rule of RFC 9112 or of our limits that the peer broke, with the status a server answers.
package struct HTTPFailure: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Rule: String, Sendable, Hashable, CaseIterable {
    case startLine = "malformed start line"
    case startLineTooLong = "start line longer than the limit"
    case version = "HTTP version other than 1.0 and 1.1"
    case target = "malformed request target"
    case authorityMismatch = "request target and Host name different authorities"
    case bareLineFeed = "line feed without carriage return"
    case foldedField = "header field continued on the next line"
    case fieldName = "malformed header field name"
    case fieldValue = "control character in a header field value"
    case headerTooLarge = "header block larger than the limit"
    case missingHost = "no Host header"
    case duplicateHost = "more than one Host header"
    case malformedHost = "malformed Host header"
    case contentLength = "malformed Content-Length"
    case conflictingLengths = "different Content-Length values"
    case lengthAndEncoding = "Content-Length together with Transfer-Encoding"
    case transferEncoding = "Transfer-Encoding that does not end in one chunked"
    case unknownEncoding = "transfer coding other than chunked"
    case expectation = "expectation other than 100-continue"
    case methodNotServed = "CONNECT is not served"
    case chunkSize = "malformed chunk size"
    case chunkEnd = "chunk data longer than its size"
    case trailerField = "field that may not stand in a trailer"
    case bodyTooLarge = "body larger than the limit"
    case truncated = "connection ended inside a message"
    case unexpectedBytes = "bytes without a request to answer"
  }

  package var rule: Rule

  package init(_ rule: Rule) {
    self.rule = rule
  }

  package var description: String { rule.rawValue }

  /// What a server answers.
  package var status: Int {
    switch rule {
    case .startLineTooLong: 414
    case .headerTooLarge: 431
    case .bodyTooLarge: 413
    case .version: 505
    case .unknownEncoding, .methodNotServed: 501
    case .expectation: 417
    case .startLine, .target, .authorityMismatch, .bareLineFeed, .foldedField, .fieldName, .fieldValue, .missingHost,
      .duplicateHost, .malformedHost, .contentLength, .conflictingLengths, .lengthAndEncoding, .transferEncoding,
      .chunkSize, .chunkEnd, .trailerField, .truncated, .unexpectedBytes:
      400
    }
  }
}
