/// Writes heads and chunks.
package enum HTTPWriter {
  /// Appends a request with its body; Content-Length is added where a body may be expected.
  package static func request(_ head: HTTPRequestHead, body: [UInt8]? = nil, to output: inout [UInt8]) {
    precondition(HTTPSyntax.isToken(Array(head.method.utf8)[...]), "a method is a token")
    precondition(HTTPTarget.isTarget(Array(head.target.utf8)[...]), "a target is visible ASCII")
    output.append(contentsOf: head.method.utf8)
    output.append(0x20)
    output.append(contentsOf: head.target.utf8)
    output.append(contentsOf: " HTTP/1.1\r\n".utf8)
    head.headers.write(to: &output)
    if let body { contentLength(body.count, to: &output) }
    endHead(to: &output)
    if let body { output.append(contentsOf: body) }
  }

  /// Appends a request's head; its body, which is so long, follows.
  package static func request(_ head: HTTPRequestHead, bodyLength: Int, to output: inout [UInt8]) {
    var head = head
    head.headers.append("Content-Length", String(bodyLength))
    request(head, to: &output)
  }

  package static func startResponse(
    _ head: HTTPResponseHead, closes: Bool, minorVersion: Int, to output: inout [UInt8]
  ) {
    precondition(
      !head.headers.contains("Content-Length") && !head.headers.contains("Transfer-Encoding"),
      "the machine sets the framing")
    output.append(contentsOf: "HTTP/1.1 ".utf8)
    decimal(head.status, to: &output)
    output.append(0x20)
    output.append(contentsOf: head.reason.utf8)
    endHead(to: &output)
    head.headers.write(to: &output)
    if head.status == 101 { return }
    if closes {
      output.append(contentsOf: "Connection: close\r\n".utf8)
    } else if minorVersion == 0 {
      output.append(contentsOf: "Connection: keep-alive\r\n".utf8)
    }
  }

  package static func contentLength(_ count: Int, to output: inout [UInt8]) {
    output.append(contentsOf: "Content-Length: ".utf8)
    decimal(count, to: &output)
    endHead(to: &output)
  }

  /// Appends a number that is not negative, in decimal digits.
  private static func decimal(_ number: Int, to output: inout [UInt8]) {
    var divisor = 1
    while number / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / divisor % 10))
      divisor /= 10
    }
  }

  package static func endHead(to output: inout [UInt8]) {
    output.append(0x0D)
    output.append(0x0A)
  }

  /// Appends one chunk; it must not be empty, as an empty chunk ends the body.
  package static func chunk(_ piece: [UInt8], to output: inout [UInt8]) {
    precondition(!piece.isEmpty, "an empty chunk would end the body")
    chunkStart(piece.count, to: &output)
    output.append(contentsOf: piece)
    endHead(to: &output)
  }

  /// The line before a chunk's content, after which there is a line end.
  package static func chunkStart(_ count: Int, to output: inout [UInt8]) {
    output.append(contentsOf: String(count, radix: 16).utf8)
    endHead(to: &output)
  }

  package static func lastChunk(_ trailers: HTTPHeaders, to output: inout [UInt8]) {
    output.append(contentsOf: "0\r\n".utf8)
    trailers.write(to: &output)
    endHead(to: &output)
  }
}

/// `HTTP/1.x`.
package enum HTTPVersion {
  /// 0 or 1. A well-formed other version throws `.version`, anything else `.startLine`.
  package static func minor(_ text: ArraySlice<UInt8>) throws(HTTPFailure) -> Int {
    guard text.count == 8, text.starts(with: "HTTP/".utf8) else { throw HTTPFailure(.startLine) }
    let (major, point, minor) = (text[text.endIndex - 3], text[text.endIndex - 2], text[text.endIndex - 1])
    guard (0x30...0x39).contains(major), point == 0x2E, (0x30...0x39).contains(minor) else {
      throw HTTPFailure(.startLine)
    }
    guard major == 0x31, minor <= 0x31 else { throw HTTPFailure(.version) }
    return Int(minor - 0x30)
  }
}
