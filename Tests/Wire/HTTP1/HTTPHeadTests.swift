import Testing

@testable import MartletHTTPWire

@Suite struct HTTPHeadTests {
  @Test(
    arguments: [
      ("/", "/", nil), ("/graphql", "/graphql", nil), ("/a/b?", "/a/b", ""), ("/a?b=c?d#", "/a", "b=c?d#"),
      ("/?/x", "/", "/x"), ("http://h", "/", nil), ("http://h?q", "/", "q"), ("https://h:1/a", "/a", nil),
      ("HTTP://h/a?b", "/a", "b"), ("*", "*", nil),
    ] as [(String, String, String?)])
  func `path and query of a target are what stands before and after the first question mark`(
    target: String, path: String, query: String?
  ) {
    let head = HTTPRequestHead(method: "GET", target: target)
    #expect(head.path == path)
    #expect(head.query == query)
  }

  @Test func `numbers of a response are written in decimal digits`() {
    for (status, length) in [(200, 0), (404, 7), (503, 10), (999, 1_234_567_890)] {
      var bytes: [UInt8] = []
      HTTPWriter.startResponse(
        HTTPResponseHead(status: status, reason: "R", headers: HTTPHeaders([("A", "b c")])), closes: true,
        minorVersion: 1, to: &bytes)
      HTTPWriter.contentLength(length, to: &bytes)
      HTTPWriter.endHead(to: &bytes)
      #expect(
        String(decoding: bytes, as: UTF8.self)
          == "HTTP/1.1 \(status) R\r\nA: b c\r\nConnection: close\r\nContent-Length: \(length)\r\n\r\n")
    }
  }
}
