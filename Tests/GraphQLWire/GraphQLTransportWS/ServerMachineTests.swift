import MartletJSON
import MartletVocabulary
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire
@testable import MartletHTTPWire
@testable import MartletWire

@Suite struct GraphQLTransportWSServerTests {
  // MARK: Opening

  @Test func `an initialisation is authenticated, then acknowledged`() {
    var server = ServerEnd()
    server.receive(#"{"type":"connection_init","payload":{"token":"t"},"unknown":1}"#)
    #expect(server.take() == [.authenticate(["token": "t"])])
    server.machine.accept(payload: ["hello": true], at: .zero, actions: &server.actions)
    #expect(server.take() == [.send(#"{"type":"connection_ack","payload":{"hello":true}}"#)])
    #expect(server.machine.isOpen)
  }

  @Test(arguments: [#"{"type":"connection_init"}"#, #"{"payload":null,"type":"connection_init"}"#])
  func `an initialisation without payload is plain`(text: String) {
    var server = ServerEnd()
    server.receive(text)
    #expect(server.take() == [.authenticate(nil)])
    server.machine.accept(at: .zero, actions: &server.actions)
    #expect(server.take() == [.send(#"{"type":"connection_ack"}"#)])
  }

  @Test func `4403: a refused initialisation closes and says why`() {
    var server = ServerEnd()
    server.receive(#"{"type":"connection_init"}"#)
    _ = server.take()
    server.machine.refuse("Token expired", actions: &server.actions)
    #expect(server.take() == [.close(4403, "Token expired")])
    server.machine.accept(at: .zero, actions: &server.actions)
    #expect(server.take().isEmpty)
  }

  @Test func `4408: no initialisation in time`() {
    var server = ServerEnd()
    server.pass(.seconds(2))
    server.receive(#"{"type":"ping"}"#)
    #expect(server.take() == [.send(#"{"type":"pong"}"#)])
    server.pass(.seconds(1))
    let reason = "Connection initialisation timeout"
    #expect(server.take() == [.violated(reason), .close(4408, reason)])
    #expect(server.machine.nextDeadline == nil)
  }

  @Test(arguments: [true, false])
  func `4429: a second initialisation, before or after the acknowledgement`(acknowledged: Bool) {
    var server = ServerEnd()
    server.receive(#"{"type":"connection_init"}"#)
    if acknowledged { server.machine.accept(at: .zero, actions: &server.actions) }
    _ = server.take()
    server.receive(#"{"type":"connection_init"}"#)
    let reason = "Too many initialisation requests"
    #expect(server.take() == [.violated(reason), .close(4429, reason)])
  }

  @Test(arguments: [false, true])
  func `4401: subscribe before the acknowledgement is sent`(initialised: Bool) {
    var server = ServerEnd()
    if initialised { server.receive(#"{"type":"connection_init"}"#) }
    _ = server.take()
    server.subscribe("1")
    #expect(server.take() == [.violated("Unauthorized"), .close(4401, "Unauthorized")])
  }

  // MARK: Malformed messages

  @Test(arguments: [
    "", "nonsense", "[]", "null", "1", #"{"id":"1"}"#, #"{"type":7}"#, #"{"type":"start","id":"1","payload":{}}"#,
    #"{"type":"subscribe","id":"1"}"#, #"{"type":"subscribe","id":1,"payload":{"query":"{a}"}}"#,
    #"{"type":"subscribe","id":"","payload":{"query":"{a}"}}"#, #"{"type":"subscribe","payload":{"query":"{a}"}}"#,
    #"{"type":"subscribe","id":"1","payload":{}}"#, #"{"type":"subscribe","id":"1","payload":{"query":1}}"#,
    #"{"type":"subscribe","id":"1","payload":{"query":"{a}","variables":[]}}"#,
    #"{"type":"subscribe","id":"1","payload":{"query":"{a}","operationName":1}}"#, #"{"type":"complete"}"#,
    #"{"type":"complete","id":""}"#, #"{"type":"ping","payload":1}"#, #"{"type":"connection_init","payload":[]}"#,
    #"{"type":"ping","type":"pong"}"#, "{\"type\":\"ping\"}garbage",
  ])
  func `4400: a malformed or unknown message`(text: String) {
    var server = ServerEnd.open()
    server.receive(text)
    let heard = server.take()
    guard case .close(4400, let reason)? = heard.last else {
      Issue.record("not closed for \(text)")
      return
    }
    #expect(!reason.isEmpty && heard == [.violated(reason), .close(4400, reason)])
    #expect(server.machine.phase == .closed)
  }

  @Test func `4400: a binary message`() {
    var server = ServerEnd.open()
    server.machine.receivedBinary(actions: &server.actions)
    #expect(server.take() == [.violated("Messages are text"), .close(4400, "Messages are text")])
  }

  @Test func `4400: an id beyond its limit, a message nested too deeply, a message too long`() {
    var limits = TransportWS.ServerLimits()
    limits.messageBytes = 500
    for text in [
      #"{"type":"subscribe","id":"\#(String(repeating: "x", count: 257))","payload":{"query":"{a}"}}"#,
      #"{"type":"ping","payload":{"a":\#(String(repeating: "[", count: 70))\#(String(repeating: "]", count: 70))}}"#,
      #"{"type":"ping","payload":{"a":"\#(String(repeating: "x", count: 500))"}}"#,
    ] {
      var server = ServerEnd.open(limits: limits)
      server.receive(text)
      guard case .close(4400, _)? = server.take().last else {
        Issue.record("not closed")
        continue
      }
    }
  }

  // MARK: Operations

  @Test func `an operation runs from subscribe to complete and its id is free again`() {
    var server = ServerEnd.open()
    server.subscribe("a")
    #expect(server.take() == [.start(number: 1, "a")])
    server.machine.next(1, payload: Array(#"{"data":1}"#.utf8), actions: &server.actions)
    server.machine.complete(1, actions: &server.actions)
    server.machine.next(1, payload: [], actions: &server.actions)
    server.machine.complete(1, actions: &server.actions)
    #expect(
      server.take() == [
        .send(#"{"id":"a","type":"next","payload":{"data":1}}"#), .send(#"{"id":"a","type":"complete"}"#),
      ])
    server.subscribe("a")
    #expect(server.take() == [.start(number: 2, "a")])
  }

  @Test func `an error ends an operation without complete`() {
    var server = ServerEnd.open()
    server.subscribe("a")
    _ = server.take()
    server.machine.fail(1, errors: Array(#"[{"message":"no"}]"#.utf8), actions: &server.actions)
    server.machine.complete(1, actions: &server.actions)
    #expect(server.take() == [.send(#"{"id":"a","type":"error","payload":[{"message":"no"}]}"#)])
    #expect(server.machine.operationCount == 0)
  }

  @Test func `4409: a duplicate id, also while the first is still being prepared`() {
    var server = ServerEnd.open()
    server.subscribe("a")
    server.subscribe("b")
    server.subscribe("a")
    #expect(
      server.take() == [
        .start(number: 1, "a"), .start(number: 2, "b"), .violated("Subscriber for a already exists"), .stop(1),
        .stop(2),
        .close(4409, "Subscriber for a already exists"),
      ])
  }

  @Test func `ids compare byte by byte`() {
    var server = ServerEnd.open()
    server.subscribe("\u{E9}")
    server.subscribe("e\u{301}")
    #expect(server.take().count == 2)
    #expect(server.machine.isOpen)
  }

  @Test func `a client's complete stops, is never confirmed, and silences late results`() {
    var server = ServerEnd.open()
    server.subscribe("a")
    _ = server.take()
    server.receive(#"{"type":"complete","id":"a"}"#)
    server.receive(#"{"type":"complete","id":"a"}"#)
    server.receive(#"{"type":"complete","id":"never"}"#)
    #expect(server.take() == [.stop(1)])
    server.machine.next(1, payload: [], actions: &server.actions)
    server.machine.fail(1, errors: [], actions: &server.actions)
    server.machine.complete(1, actions: &server.actions)
    #expect(server.take().isEmpty)
  }

  @Test func `a late result cannot reach a new operation under the same id`() {
    var server = ServerEnd.open()
    server.subscribe("a")
    server.receive(#"{"type":"complete","id":"a"}"#)
    server.subscribe("a")
    _ = server.take()
    server.machine.next(1, payload: Array("{}".utf8), actions: &server.actions)
    #expect(server.take().isEmpty)
    server.machine.next(2, payload: Array("{}".utf8), actions: &server.actions)
    #expect(server.take() == [.send(#"{"id":"a","type":"next","payload":{}}"#)])
  }

  @Test func `one operation too many fails alone`() {
    var limits = TransportWS.ServerLimits()
    limits.operations = 1
    var server = ServerEnd.open(limits: limits)
    server.subscribe("a")
    server.subscribe("b")
    #expect(
      server.take() == [
        .start(number: 1, "a"), .violated("This connection has 1 operations already"),
        .send(
          #"{"id":"b","type":"error","payload":[{"message":"This connection has 1 operations already","#
            + #""extensions":{"code":"TOO_MANY_OPERATIONS"}}]}"#),
      ])
    server.machine.complete(1, actions: &server.actions)
    server.subscribe("b")
    #expect(server.take().last == .start(number: 2, "b"))
  }

  @Test func `the end of a connection stops every operation exactly once`() {
    var server = ServerEnd.open()
    server.subscribe("a")
    server.subscribe("b")
    server.machine.complete(1, actions: &server.actions)
    _ = server.take()
    server.machine.connectionEnded(actions: &server.actions)
    server.machine.connectionEnded(actions: &server.actions)
    server.machine.end(1001, "Going away", actions: &server.actions)
    #expect(server.take() == [.stop(2)])
    server.subscribe("c")
    #expect(server.take().isEmpty)
  }

  @Test func `a shutdown closes with its code after stopping`() {
    var server = ServerEnd.open()
    server.subscribe("a")
    _ = server.take()
    server.machine.end(1012, "Restart", actions: &server.actions)
    #expect(server.take() == [.stop(1), .close(1012, "Restart")])
  }

  @Test func `a ping is answered with its payload and a pong with nothing`() {
    var server = ServerEnd()
    server.receive(#"{"type":"ping","payload":{"n":[1,"é"]}}"#)
    server.receive(#"{"type":"pong","payload":{"n":1}}"#)
    #expect(server.take() == [.send(#"{"type":"pong","payload":{"n":[1,"é"]}}"#)])
  }

  @Test func `a reason longer than a close frame is cut between characters`() throws {
    var output: [UInt8] = []
    var socket = WebSocketMachine(role: .server, at: .zero)
    let close = TransportWS.Close.duplicate(try identifier(String(repeating: "é", count: 120)))
    socket.close(close.code, reason: close.reason, at: .zero, output: &output)
    #expect(output.count <= 2 + 125)
    #expect(isUTF8(Array(output[4...])))
  }

  // MARK: Additions

  @Test func `a peer that does not ask sees the plain protocol`() {
    var server = ServerEnd.open()
    server.subscribe("a")
    _ = server.take()
    let cursor = Cursor(term: 0x9F, offset: 12)
    server.machine.ready(1, cursor, actions: &server.actions)
    server.machine.gap(1, SubscriptionGap(reason: "retention", from: nil, to: cursor), actions: &server.actions)
    server.machine.sendPosition(cursor, at: .zero, actions: &server.actions)
    server.machine.next(1, payload: Array("{}".utf8), cursor: cursor, actions: &server.actions)
    #expect(server.take() == [.send(#"{"id":"a","type":"next","payload":{}}"#)])
    #expect(server.machine.nextDeadline == nil)
  }

  @Test func `a peer that negotiates gets the list of what is served`() {
    for (offers, granted) in [
      (Continuity.all, #"{"type":"connection_ack","payload":{"martlet":{"cursors":true,"writes":true}}}"#),
      (Continuity(cursors: true), #"{"type":"connection_ack","payload":{"martlet":{"cursors":true}}}"#),
      (Continuity.none, #"{"type":"connection_ack"}"#),
    ] {
      var server = ServerEnd(offers: offers)
      server.receive(#"{"type":"connection_init","payload":\#(ServerEnd.negotiating)}"#)
      server.machine.accept(at: .zero, actions: &server.actions)
      #expect(server.take().last == .send(granted))
    }
  }

  @Test func `cursors, readiness, gaps and positions go to a peer that asked`() {
    var server = ServerEnd.open(payload: ServerEnd.negotiating)
    server.subscribe("a")
    _ = server.take()
    let cursor = Cursor(term: 0x9F, offset: 12)
    server.machine.gap(
      1, SubscriptionGap(reason: "retention", from: Cursor(term: 1, offset: 2), to: cursor), actions: &server.actions)
    server.machine.ready(1, cursor, actions: &server.actions)
    server.machine.next(
      1, payload: Array("{}".utf8), cursor: Cursor(term: 0x9F, offset: 13), endsTransaction: false,
      actions: &server.actions)
    server.machine.next(
      1, payload: Array("{}".utf8), cursor: Cursor(term: 0x9F, offset: 14), actions: &server.actions)
    #expect(
      server.take() == [
        .send(#"{"id":"a","type":"gap","reason":"retention","from":"1-2","to":"9f-12"}"#),
        .send(#"{"id":"a","type":"ready","cursor":"9f-12"}"#),
        .send(#"{"id":"a","type":"next","payload":{},"cursor":"9f-13","partial":true}"#),
        .send(#"{"id":"a","type":"next","payload":{},"cursor":"9f-14"}"#),
      ])
    server.pass(.seconds(20))
    #expect(server.take() == [.tellPosition])
    server.machine.sendPosition(cursor, at: server.now, actions: &server.actions)
    #expect(server.take() == [.send(#"{"type":"ping","payload":{"martlet":{"cursor":"9f-12"}}}"#)])
    #expect(server.machine.nextDeadline == server.now + .seconds(20))
  }

  @Test func `the pieces of a fan-out make the message the machine makes`() throws {
    let id = try identifier("a\"\\é")
    let cursor = Cursor(term: 1, offset: 5)
    let text =
      TransportWS.NextMessage.prefix(id) + Array("{}".utf8)
      + TransportWS.NextMessage.suffix(cursor, endsTransaction: true)
    #expect(
      try TransportWS.ServerMessage(parsing: text)
        == .next(id, payload: Array("{}".utf8), cursor: cursor, isPartial: false))
  }

  @Test func `garbage ends in the peer's error and nothing else`() {
    let messages = [
      #"{"type":"ping","payload":{"a":1}}"#,
      #"{"type":"subscribe","id":"1","payload":{"query":"{a}","variables":{"x":[1,2]},"extensions":{"martlet":{"resume":"9f-1"}}}}"#,
      #"{"type":"complete","id":"1"}"#,
    ]
    var random = SeededRandom(seed: 4)
    for round in 0..<3000 {
      var server = ServerEnd.open()
      var text = Array(messages[round % 3].utf8)
      let index = Int.random(in: 0..<text.count, using: &random)
      text[index] = UInt8.random(in: 0...255, using: &random)
      server.machine.receive(text, at: .zero, actions: &server.actions)
      for heard in server.take() {
        if case .close(let code, _) = heard { #expect(code == 4400) }
      }
    }
  }
}

extension Heard {
  /// The start of the harness's usual subscription.
  static func start(number: Int, _ id: String) -> Heard { .start(number, id, "subscription { a }") }
}
