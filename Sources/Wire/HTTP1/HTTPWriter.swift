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
  static func request(_ head: HTTPRequestHead, bodyLength: Int, to output: inout [UInt8]) {
    var head = head
    head.headers.append("Content-Length", String(bodyLength))
    request(head, to: &output)
  }

  static func startResponse(
    _ head: HTTPResponseHead, closes: Bool, minorVersion: Int, to output: inout [UInt8]
  ) {
    precondition(
      !head.headers.contains("Content-Length") && !head.headers.contains("Transfer-Encoding"),
      "the machine sets the framing")
    output.append(contentsOf: "HTTP/1.1 \(head.status) \(head.reason)\r\n".utf8)
    head.headers.write(to: &output)
    if head.status == 101 { return }
    if closes {
      output.append(contentsOf: "Connection: close\r\n".utf8)
    } else if minorVersion == 0 {
      output.append(contentsOf: "Connection: keep-alive\r\n".utf8)
    }
  }

  static func contentLength(_ count: Int, to output: inout [UInt8]) {
    output.append(contentsOf: "Content-Length: \(count)\r\n".utf8)
  }

  static func endHead(to output: inout [UInt8]) {
    output.append(contentsOf: [0x0D, 0x0A])
  }

  /// Appends one chunk; it must not be empty, as an empty chunk ends the body.
  static func chunk(_ piece: [UInt8], to output: inout [UInt8]) {
    precondition(!piece.isEmpty, "an empty chunk would end the body")
    chunkStart(piece.count, to: &output)
    output.append(contentsOf: piece)
    endHead(to: &output)
  }

  /// The line before a chunk's content, behind which stands a line end.
  static func chunkStart(_ count: Int, to output: inout [UInt8]) {
    output.append(contentsOf: String(count, radix: 16).utf8)
    endHead(to: &output)
  }

  static func lastChunk(_ trailers: HTTPHeaders, to output: inout [UInt8]) {
    output.append(contentsOf: "0\r\n".utf8)
    trailers.write(to: &output)
    endHead(to: &output)
  }
}

/// `HTTP/1.x`.
enum HTTPVersion {
  /// 0 or 1. A well-formed other version throws `.version`, anything else `.startLine`.
  static func minor(_ bytes: ArraySlice<UInt8>) throws(HTTPFailure) -> Int {
    let text = [UInt8](bytes)
    guard text.count == 8, text.starts(with: "HTTP/".utf8), (0x30...0x39).contains(text[5]), text[6] == 0x2E,
      (0x30...0x39).contains(text[7])
    else { throw HTTPFailure(.startLine) }
    guard text[5] == 0x31, text[7] <= 0x31 else { throw HTTPFailure(.version) }
    return Int(text[7] - 0x30)
  }
}
