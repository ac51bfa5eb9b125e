import MartletVocabulary
import Testing

@testable import MartletHTTPWire
@testable import MartletWire

/// Everything two parsers could read differently is refused, with the status that says why.
@Suite struct HTTPSmugglingTests {
  struct Attack: CustomTestStringConvertible {
    let request: String
    let rule: HTTPFailure.Rule
    let status: Int
    var testDescription: String { request.debugDescription }

    init(_ request: String, _ rule: HTTPFailure.Rule, _ status: Int = 400) {
      self.request = request
      self.rule = rule
      self.status = status
    }

    /// A POST with these header lines.
    static func post(_ lines: String, _ rule: HTTPFailure.Rule, _ status: Int = 400, body: String = "") -> Attack {
      Attack("POST / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\r\n\(body)", rule, status)
    }

    static func chunks(_ body: String, _ rule: HTTPFailure.Rule, _ status: Int = 400) -> Attack {
      post("Transfer-Encoding: chunked", rule, status, body: body)
    }
  }

  static let attacks: [Attack] = [
    .post("Content-Length: 3\r\nTransfer-Encoding: chunked", .lengthAndEncoding),
    .post("Transfer-Encoding: chunked\r\nContent-Length: 3", .lengthAndEncoding),
    .post("Transfer-Encoding: chunked, identity", .transferEncoding),
    .post("Transfer-Encoding: chunked, chunked", .transferEncoding),
    .post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", .transferEncoding),
    .post("Transfer-Encoding: xchunked", .transferEncoding), .post("Transfer-Encoding:", .transferEncoding),
    .post("Transfer-Encoding: \"chunked\"", .transferEncoding), .post("Transfer-Encoding: identity", .transferEncoding),
    .post("Transfer-Encoding: gzip, chunked", .unknownEncoding, 501),
    .post("Transfer-Encoding: \u{B}chunked", .fieldValue), .post("Transfer-Encoding : chunked", .fieldName),
    .post("Transfer-Encoding\t: chunked", .fieldName), .post(" Transfer-Encoding: chunked", .foldedField),
    .post("X: a\r\n\tb", .foldedField), .post("X: a\n\tb: c", .bareLineFeed),
    .post("X: a\nContent-Length: 5", .bareLineFeed),
    .post("X: a\rContent-Length: 5", .fieldValue), .post("X: a\u{0}b", .fieldValue), .post("X: a\u{7F}b", .fieldValue),
    .post("X\u{0}: a", .fieldName), .post("X y: a", .fieldName), .post("nothing", .fieldName),
    .post(": empty", .fieldName),
    .post("Héader: a", .fieldName), .post("X(: a", .fieldName),
    .post("Content-Length: -1", .contentLength), .post("Content-Length: +5", .contentLength),
    .post("Content-Length: 0x5", .contentLength), .post("Content-Length: 5 5", .contentLength),
    .post("Content-Length:", .contentLength), .post("Content-Length: 5,", .contentLength),
    .post("Content-Length: 5\r\nContent-Length: 6", .conflictingLengths),
    .post("Content-Length: 5, 6", .conflictingLengths),
    .post("Content-Length: 9223372036854775808", .contentLength),
    .post("Content-Length: 99999999999999999999", .contentLength),
    .post("Content-Length: 4194305", .bodyTooLarge, 413),
    .post("Host: b", .duplicateHost), .post("Expect: something", .expectation, 417),
    Attack("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", .transferEncoding),
    Attack("GET / HTTP/1.1\r\n\r\n", .missingHost), Attack("GET / HTTP/1.1\r\nHost:\r\n\r\n", .malformedHost),
    Attack("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", .malformedHost),
    Attack("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", .malformedHost),
    Attack("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", .malformedHost),
    Attack("GET / HTTP/1.1\r\nHost: a:port\r\n\r\n", .malformedHost),
    Attack("GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", .authorityMismatch),
    Attack("GET http://a:81/ HTTP/1.1\r\nHost: a\r\n\r\n", .authorityMismatch),
    Attack("GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n", .target),
    Attack("GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", .target),
    Attack("GET x HTTP/1.1\r\nHost: a\r\n\r\n", .target), Attack("GET * HTTP/1.1\r\nHost: a\r\n\r\n", .target),
    Attack("GET /#f HTTP/1.1\r\nHost: a\r\n\r\n", .target), Attack("GET /é HTTP/1.1\r\nHost: a\r\n\r\n", .target),
    Attack("CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", .methodNotServed, 501),
    Attack("GET /\n", .bareLineFeed), Attack("\n", .bareLineFeed), Attack("\r\n\r\n", .startLine),
    Attack("GET  / HTTP/1.1\r\n", .startLine), Attack("GET / HTTP/1.1 \r\n", .startLine),
    Attack("GET /\r\n", .startLine),
    Attack("GET / a HTTP/1.1\r\n", .startLine), Attack("G(T / HTTP/1.1\r\n", .startLine),
    Attack("GET / http/1.1\r\n", .startLine),
    Attack("GET / HTTP/1.10\r\n", .startLine), Attack("GET /\u{1} HTTP/1.1\r\n", .target),
    Attack("GET / HTTP/2.0\r\n", .version, 505), Attack("GET / HTTP/1.2\r\n", .version, 505),
    Attack("GET / HTTP/0.9\r\n", .version, 505),
    .chunks("-1\r\n", .chunkSize), .chunks("+1\r\n", .chunkSize), .chunks("0x1\r\n", .chunkSize),
    .chunks("\r\n", .chunkSize),
    .chunks("g\r\n", .chunkSize), .chunks("5 5\r\n", .chunkSize), .chunks("1\n", .bareLineFeed),
    .chunks("1;a\nb\r\n", .bareLineFeed),
    .chunks("ffffffffffffffff\r\n", .chunkSize), .chunks("10000000000000000\r\n", .chunkSize),
    .chunks("fffffff\r\n", .bodyTooLarge, 413), .chunks("5;\u{1}\r\n", .chunkSize),
    .chunks("1\r\naXX", .chunkEnd), .chunks("1\r\na\n", .bareLineFeed), .chunks("2\r\nab0\r\n\r\n", .chunkEnd),
    .chunks("0\r\nContent-Length: 5\r\n\r\n", .trailerField), .chunks("0\r\nHost: b\r\n\r\n", .trailerField),
    .chunks("0\r\n folded\r\n\r\n", .foldedField), .chunks("0\r\nA: b\n\r\n", .bareLineFeed),
    // Found by fuzzing: the same rule must be named whether the line is whole or not.
    .chunks("1\r\naXXX\n", .chunkEnd),
    .chunks(String(repeating: "0", count: 300), .chunkSize),
  ]

  @Test(arguments: attacks)
  func `a request that could be read in two ways is refused`(attack: Attack) {
    for byteByByte in [false, true] {
      var server = HTTPServerEnd()
      server.receive(attack.request + "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n", byteByByte: byteByByte)
      #expect(server.failure == attack.rule)
      #expect(HTTPFailure(attack.rule).status == attack.status)
      if server.machine.responding == .waiting { server.respond(attack.status, "") }
      #expect(server.machine.shouldClose)
      let paths = server.events.compactMap { if case .request(let head, _) = $0 { head.path } else { nil } }
      #expect(!paths.contains("/smuggled"))
    }
  }

  @Test func `equal lengths, repeated or listed, are one length`() {
    for lines in ["Content-Length: 2\r\nContent-Length: 2", "Content-Length: 2, 2"] {
      var server = HTTPServerEnd()
      server.receive("POST / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\r\nhi")
      #expect(server.joined.count == 3)
    }
  }

  @Test(arguments: ["a", "a.b:80", "127.0.0.1:1", "[::1]", "[::1]:443", "a-b_c", "xn--bcher-kva"])
  func `ordinary hosts pass, alone and as absolute target`(host: String) {
    for target in ["/x", "http://\(host)/x", "HTTPS://\(host.uppercased())/x"] {
      var server = HTTPServerEnd()
      server.receive("GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
      guard case .request(let head, _)? = server.events.first else {
        Issue.record("refused: \(server.events)")
        continue
      }
      #expect(head.path == "/x")
    }
  }

  @Test func `oversized parts are refused while they arrive`() {
    var limits = HTTPLimits()
    limits.startLineBytes = 50
    limits.headerBytes = 100
    limits.headerFields = 4
    limits.bodyBytes = 10
    func failure(_ request: String) -> HTTPFailure.Rule? {
      var server = HTTPServerEnd(limits: limits)
      server.receive(request, byteByByte: true)
      return server.failure
    }
    let start = "POST / HTTP/1.1\r\nHost: a\r\n"
    #expect(failure("GET /" + String(repeating: "x", count: 60)) == .startLineTooLong)
    #expect(failure(start + "X: " + String(repeating: "x", count: 100)) == .headerTooLarge)
    #expect(failure(start + String(repeating: "X: y\r\n", count: 5)) == .headerTooLarge)
    #expect(failure(start + "Content-Length: 11\r\n\r\n") == .bodyTooLarge)
    #expect(failure(start + "Transfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n5\r\n") == .bodyTooLarge)
    #expect(
      failure(start + "Transfer-Encoding: chunked\r\n\r\n0\r\nA: " + String(repeating: "x", count: 100))
        == .headerTooLarge)
    #expect(HTTPFailure(.startLineTooLong).status == 414 && HTTPFailure(.headerTooLarge).status == 431)
  }

  @Test func `garbage ends in the peer's error and reads the same in any chunking`() {
    var random = SeededRandom(seed: 11)
    let session = Array(
      ("POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
        + "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nT: u\r\n\r\n").utf8)
    for round in 0..<3000 {
      var bytes = session
      for _ in 0...(round % 3) {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[index] ^= UInt8(1) << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes.remove(at: index)
        default: bytes.insert([0, 9, 10, 13, 32, 58, 48, 255].randomElement(using: &random) ?? 0, at: index)
        }
      }
      var whole = HTTPServerEnd()
      whole.receive(bytes)
      var dribbled = HTTPServerEnd()
      dribbled.receive(bytes, byteByByte: true)
      #expect(whole.joined == dribbled.joined)
      let failures = whole.events.filter { if case .failed = $0 { true } else { false } }
      #expect(failures.count <= 1)
    }
  }
}
