import Testing

@testable import MartletHTTPWire
@testable import MartletWire

struct HTTPServerEnd {
  var machine: HTTPServerMachine
  var output: [UInt8] = []
  var events: [HTTPServerEvent] = []

  init(limits: HTTPLimits = HTTPLimits()) {
    machine = HTTPServerMachine(limits: limits)
  }

  mutating func receive(_ string: String, byteByByte: Bool = false) {
    receive(Array(string.utf8), byteByByte: byteByByte)
  }

  mutating func receive(_ bytes: [UInt8], byteByByte: Bool = false) {
    if byteByByte {
      for byte in bytes { machine.receive([byte].span.bytes, events: &events) }
    } else {
      machine.receive(bytes.span.bytes, events: &events)
    }
  }

  mutating func respond(_ status: Int = 200, _ body: String = "ok") {
    machine.respond(HTTPResponseHead(status: status), body: Array(body.utf8), to: &output)
    machine.advance(&events)
  }

  /// Events with neighbouring body pieces joined, so that chunking does not matter.
  var joined: [HTTPServerEvent] {
    var result: [HTTPServerEvent] = []
    for event in events {
      if case .body(let piece) = event, case .body(let before)? = result.last {
        result[result.count - 1] = .body(before + piece)
      } else {
        result.append(event)
      }
    }
    return result
  }

  var failure: HTTPFailure.Rule? {
    if case .failed(let failure)? = events.last { return failure.rule }
    return nil
  }

  var written: String { String(decoding: output, as: UTF8.self) }
}

@Suite struct HTTPServerMachineTests {
  @Test(arguments: [false, true])
  func `a request with a body is read whole or byte by byte`(byteByByte: Bool) throws {
    var server = HTTPServerEnd()
    server.receive(
      "POST /graphql?a=b HTTP/1.1\r\nHost: example.com\r\ncontent-LENGTH:  5 \r\n\r\nhello", byteByByte: byteByByte)
    guard case .request(let head, let expectsContinue)? = server.events.first else {
      Issue.record("no request")
      return
    }
    #expect(head.method == "POST" && head.path == "/graphql" && head.query == "a=b" && !expectsContinue)
    #expect(head.headers["Content-Length"] == "5")
    #expect(Array(server.joined.dropFirst()) == [.body(Array("hello".utf8)), .requestEnded(trailers: HTTPHeaders())])
    server.respond()
    #expect(server.written == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    #expect(!server.machine.shouldClose && server.machine.isIdle)
  }

  @Test(arguments: [false, true])
  func `a chunked body with extensions and trailers is read`(byteByByte: Bool) {
    var server = HTTPServerEnd()
    server.receive(
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
        + "5;name=value\r\nhello\r\n00A ; x\r\n, chunked!\r\n0\r\nChecksum: 9\r\n\r\n", byteByByte: byteByByte)
    #expect(
      Array(server.joined.dropFirst()) == [
        .body(Array("hello, chunked!".utf8)), .requestEnded(trailers: HTTPHeaders([("Checksum", "9")])),
      ])
  }

  @Test func `pipelined requests are answered one by one in order`() {
    var server = HTTPServerEnd()
    server.receive(
      "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET /3")
    #expect(server.events.count == 2)
    server.respond(200, "one")
    #expect(server.events.count == 4)
    server.respond(200, "two")
    #expect(server.machine.shouldClose)
    #expect(server.events.count == 4)
    #expect(server.written.hasSuffix("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\ntwo"))
  }

  @Test func `reading pauses while pipelined bytes pile up`() {
    var limits = HTTPLimits()
    limits.pipelinedBytes = 100
    var server = HTTPServerEnd(limits: limits)
    server.receive("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(server.machine.wantsBytes)
    server.receive(String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 4))
    #expect(!server.machine.wantsBytes)
    server.respond()
    #expect(server.machine.wantsBytes)
  }

  @Test(arguments: [
    ("HTTP/1.0", "", true, "Connection: close"), ("HTTP/1.0", "Connection: keep-alive\r\n", false, "keep-alive"),
    ("HTTP/1.1", "", false, ""), ("HTTP/1.1", "Connection: foo, Close\r\n", true, "Connection: close"),
  ])
  func `a connection lives as its version and header say`(
    version: String, header: String, closes: Bool, expected: String
  ) {
    var server = HTTPServerEnd()
    server.receive("GET / \(version)\r\nHost: a\r\n\(header)\r\n")
    server.respond()
    #expect(server.machine.shouldClose == closes)
    #expect(expected.isEmpty || server.written.contains(expected))
  }

  @Test func `a waiting client gets its 100 once`() {
    var server = HTTPServerEnd()
    server.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n")
    guard case .request(_, let expectsContinue)? = server.events.first else {
      Issue.record("no request")
      return
    }
    #expect(expectsContinue)
    server.machine.sendContinue(to: &server.output)
    server.machine.sendContinue(to: &server.output)
    server.receive("hi")
    server.respond()
    #expect(server.written == "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
  }

  @Test func `an answer before the body has come ends the connection`() {
    var server = HTTPServerEnd()
    server.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nGET")
    server.respond(401, "no")
    #expect(server.machine.shouldClose)
    server.receive(" / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(server.events.count == 2)
  }

  @Test func `HEAD, 204 and 304 have no body`() {
    var server = HTTPServerEnd()
    server.receive("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
    server.respond(200, "four")
    #expect(server.written == "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
    for status in [204, 304] {
      server.output = []
      server.receive("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      server.respond(status, "gone")
      #expect(server.written == "HTTP/1.1 \(status) \(HTTPStatus.reason(status))\r\n\r\n")
    }
  }

  @Test func `a streamed response is chunked, and closes HTTP 1_0`() {
    for (version, expected) in [
      (
        "HTTP/1.1",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nA: b\r\n\r\n"
      ),
      ("HTTP/1.0", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc0123456789abcdef"),
    ] {
      var server = HTTPServerEnd()
      server.receive("GET / \(version)\r\nHost: a\r\n\r\n")
      server.machine.beginStreaming(HTTPResponseHead(status: 200), to: &server.output)
      server.machine.stream(Array("abc".utf8), to: &server.output)
      server.machine.stream([], to: &server.output)
      server.machine.stream(Array("0123456789abcdef".utf8), to: &server.output)
      server.machine.endStreaming(trailers: HTTPHeaders([("A", "b")]), to: &server.output)
      #expect(server.written == expected)
      #expect(server.machine.shouldClose == (version == "HTTP/1.0"))
    }
  }

  @Test func `an upgrade hands over the bytes after the request`() {
    var server = HTTPServerEnd()
    server.receive("GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n\u{1}\u{2}")
    #expect(server.events.count == 2)
    server.machine.upgrade(HTTPResponseHead(status: 101), to: &server.output)
    #expect(server.written == "HTTP/1.1 101 Switching Protocols\r\n\r\n")
    #expect(server.machine.takeUpgradedBytes() == [1, 2])
    server.receive("GET / HTTP/1.1\r\n\r\n")
    #expect(server.events.count == 2)
  }

  @Test func `the end of the stream is fine between requests and a failure inside one`() {
    var idle = HTTPServerEnd()
    idle.machine.inputEnded(events: &idle.events)
    #expect(idle.machine.shouldClose && idle.events.isEmpty)
    var cut = HTTPServerEnd()
    cut.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel")
    cut.machine.inputEnded(events: &cut.events)
    #expect(cut.failure == .truncated)
    var half = HTTPServerEnd()
    half.receive("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    half.machine.inputEnded(events: &half.events)
    half.respond()
    #expect(half.written.contains("200 OK") && half.machine.shouldClose)
  }

  @Test func `requests that arrived before the peer's end are all answered, the last one with the close`() {
    let request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"
    for (rest, failure) in [("", nil), ("\r\n", nil), ("POST / HTT", .truncated)] as [(String, HTTPFailure.Rule?)] {
      var end = HTTPServerEnd()
      end.receive(request + request + request + rest)
      end.machine.inputEnded(events: &end.events)
      for _ in 0..<3 {
        #expect(!end.machine.shouldClose)
        end.respond()
      }
      #expect(end.failure == failure)
      #expect(end.machine.shouldClose || failure != nil)
      #expect(end.written.split(separator: "HTTP/1.1 200 OK").count == 3)
      #expect(end.written.contains("Connection: close") == rest.isEmpty)
    }
  }

  @Test func `a drain closes idle connections at once and busy ones after the response`() {
    var idle = HTTPServerEnd()
    idle.machine.closeAfterResponse()
    #expect(idle.machine.shouldClose)
    var busy = HTTPServerEnd()
    busy.receive("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    busy.machine.closeAfterResponse()
    #expect(!busy.machine.shouldClose)
    busy.respond()
    #expect(busy.machine.shouldClose && busy.written.contains("Connection: close"))
  }
}
