/// How the end of a body is found (RFC 9112 section 6.3).
package enum HTTPFraming: Equatable, Sendable {
  case length(Int)
  case chunked
  /// Responses only: the body ends with the connection.
  case untilClose

  /// The framing of a request. Everything two parsers could read differently is refused, not repaired.
  package static func ofRequest(_ head: HTTPRequestHead) throws(HTTPFailure) -> HTTPFraming {
    try declared(head.headers, minorVersion: head.minorVersion) ?? .length(0)
  }

  /// The framing of a response to `method`.
  package static func ofResponse(_ head: HTTPResponseHead, to method: String) throws(HTTPFailure) -> HTTPFraming {
    let declared = try declared(head.headers, minorVersion: head.minorVersion)
    return head.hasNoBody(answering: method) ? .length(0) : declared ?? .untilClose
  }

  private static func declared(_ headers: HTTPHeaders, minorVersion: Int) throws(HTTPFailure) -> HTTPFraming? {
    let length = try contentLength(headers)
    guard headers.contains("Transfer-Encoding") else { return length.map(HTTPFraming.length) }
    if headers.contains("Content-Length") { throw HTTPFailure(.lengthAndEncoding) }
    // HTTP/1.0 has no transfer codings: the proxy that forwarded this did not understand it.
    guard minorVersion == 1 else { throw HTTPFailure(.transferEncoding) }
    let codings = headers.list("Transfer-Encoding")
    guard let last = codings.last, HTTPSyntax.equals(last, "chunked"),
      codings.filter({ HTTPSyntax.equals($0, "chunked") }).count == 1
    else { throw HTTPFailure(.transferEncoding) }
    guard codings.count == 1 else { throw HTTPFailure(.unknownEncoding) }
    return .chunked
  }

  private static func contentLength(_ headers: HTTPHeaders) throws(HTTPFailure) -> Int? {
    // Nearly every message says its length once, as one number.
    if headers.count(of: "Content-Length") == 1, let only = headers.first("Content-Length"),
      let number = HTTPSyntax.decimal(only)
    {
      return number
    }
    var length: Int?
    for value in headers.values("Content-Length") {
      // Equal values joined by commas are allowed by section 6.3; empty elements are not.
      for part in HTTPSyntax.split(value, at: UInt8(ascii: ",")) {
        guard let number = HTTPSyntax.decimal(part) else { throw HTTPFailure(.contentLength) }
        if let length, length != number { throw HTTPFailure(.conflictingLengths) }
        length = number
      }
    }
    return length
  }
}
