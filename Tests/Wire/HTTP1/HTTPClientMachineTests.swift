import Testing

@testable import MartletHTTPWire
@testable import MartletWire

struct HTTPClientEnd {
  var machine = HTTPClientMachine()
  var output: [UInt8] = []
  var events: [HTTPClientEvent] = []

  init(method: String = "GET") {
    machine.send(HTTPRequestHead(method: method, target: "/", headers: HTTPHeaders([("Host", "a")])), to: &output)
  }

  mutating func receive(_ bytes: [UInt8], byteByByte: Bool = false) {
    if byteByByte {
      for byte in bytes { machine.receive([byte].span.bytes, events: &events) }
    } else {
      machine.receive(bytes.span.bytes, events: &events)
    }
  }

  mutating func receive(_ string: String, byteByByte: Bool = false) {
    receive(Array(string.utf8), byteByByte: byteByByte)
  }

  var body: [UInt8] {
    var joined: [UInt8] = []
    for case .body(let piece) in events { joined += piece }
    return joined
  }

  var isReusable: Bool? {
    if case .responseEnded(_, let isReusable)? = events.last { return isReusable }
    return nil
  }

  var failure: HTTPFailure.Rule? {
    if case .failed(let failure)? = events.last { return failure.rule }
    return nil
  }
}

@Suite struct HTTPClientMachineTests {
  @Test func `a request is written with its length`() {
    var machine = HTTPClientMachine()
    var output: [UInt8] = []
    let head = HTTPRequestHead(method: "POST", target: "/graphql", headers: HTTPHeaders([("Host", "a")]))
    machine.send(head, body: Array("{}".utf8), to: &output)
    #expect(
      String(decoding: output, as: UTF8.self) == "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}")
  }

  @Test(arguments: [false, true])
  func `responses of every framing are read`(byteByByte: Bool) {
    for (response, body, reusable) in [
      ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", true),
      ("HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "hello", true),
      ("HTTP/1.1 200\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx", "x", false),
      ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", "x", false), ("HTTP/1.1 204 No Content\r\n\r\n", "", true),
      ("HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n", "", true),
      ("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "", true),
    ] {
      var client = HTTPClientEnd()
      client.receive(response, byteByByte: byteByByte)
      #expect(client.body == Array(body.utf8))
      #expect(client.isReusable == reusable)
      #expect(client.machine.isIdle == reusable)
    }
  }

  @Test func `a response to HEAD has no body whatever its length says`() {
    var client = HTTPClientEnd(method: "HEAD")
    client.receive("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
    #expect(client.isReusable == true)
  }

  @Test func `a body without length ends with the connection`() {
    var client = HTTPClientEnd()
    client.receive("HTTP/1.1 200 OK\r\n\r\nsome")
    client.receive(" more")
    #expect(client.isReusable == nil)
    client.machine.inputEnded(events: &client.events)
    #expect(client.body == Array("some more".utf8))
    #expect(client.isReusable == false)
  }

  @Test func `a response cut short is a failure`() {
    let response = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
    for cut in 0..<response.utf8.count {
      var client = HTTPClientEnd()
      client.receive(Array(response.utf8.prefix(cut)))
      client.machine.inputEnded(events: &client.events)
      #expect(client.failure == .truncated)
    }
  }

  @Test func `an upgrade keeps the bytes after it`() {
    var client = HTTPClientEnd()
    client.receive("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\nframes")
    guard case .upgraded(let head)? = client.events.first else {
      Issue.record("not upgraded")
      return
    }
    #expect(head.headers["upgrade"] == "websocket")
    #expect(client.machine.takeUpgradedBytes() == Array("frames".utf8))
  }

  @Test(
    arguments: [
      ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", .lengthAndEncoding),
      ("HTTP/1.1 200 OK\nContent-Length: 5\r\n\r\n", .bareLineFeed), ("HTTP/1.1 20 OK\r\n", .startLine),
      ("HTTP/1.1 2000 OK\r\n", .startLine), ("HTTP/2 200 OK\r\n", .startLine), ("HTTP/2.0 200 OK\r\n", .version),
      ("ICY 200 OK\r\n", .startLine), ("HTTP/1.1 099 OK\r\n", .startLine),
      ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy", .unexpectedBytes),
    ] as [(String, HTTPFailure.Rule)])
  func `a faulty response fails the exchange`(response: String, rule: HTTPFailure.Rule) {
    for byteByByte in [false, true] {
      var client = HTTPClientEnd()
      client.receive(response, byteByByte: byteByByte)
      #expect(client.failure == rule)
      #expect(!client.machine.isIdle)
    }
  }

  @Test(arguments: [false, true])
  func `both ends talk over an imaginary wire, request after request`(byteByByte: Bool) {
    var server = HTTPServerEnd()
    var client = HTTPClientEnd()
    for round in 0..<3 {
      server.receive(client.output, byteByByte: byteByByte)
      client.output = []
      server.machine.beginStreaming(HTTPResponseHead(status: 200), to: &server.output)
      server.machine.stream(Array("round ".utf8), to: &server.output)
      server.machine.stream(Array("\(round)".utf8), to: &server.output)
      server.machine.endStreaming(to: &server.output)
      server.machine.advance(&server.events)
      client.events = []
      client.receive(server.output, byteByByte: byteByByte)
      server.output = []
      #expect(client.body == Array("round \(round)".utf8))
      #expect(client.machine.isIdle)
      client.machine.send(
        HTTPRequestHead(method: "POST", target: "/", headers: HTTPHeaders([("Host", "a")])), body: [1, 2],
        to: &client.output)
    }
  }
}
