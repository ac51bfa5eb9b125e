import MartletJSON
import MartletVocabulary
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire
@testable import MartletHTTPWire
@testable import MartletWire

@Suite struct GraphQLTransportWSClientTests {
  static let granted = ServerEnd.negotiating

  // MARK: Opening

  @Test func `the first message is the initialisation with what we want`() {
    var client = ClientEnd()
    client.machine.opened(payload: ["token": "t"], at: .zero, actions: &client.actions)
    #expect(
      client.takeSent() == [
        #"{"type":"connection_init","payload":{"token":"t","martlet":{"cursors":true,"writes":true}}}"#
      ])
    var plain = ClientEnd(wants: .none)
    plain.machine.opened(at: .zero, actions: &plain.actions)
    #expect(plain.takeSent() == [#"{"type":"connection_init"}"#])
  }

  @Test func `nothing is subscribed before the acknowledgement, then everything in order`() throws {
    var client = ClientEnd()
    try client.start("b")
    client.machine.opened(at: .zero, actions: &client.actions)
    try client.start("a")
    #expect(client.takeSent().count == 1)
    client.receive(#"{"type":"connection_ack"}"#)
    #expect(
      client.takeSent() == [
        #"{"id":"b","type":"subscribe","payload":{"query":"{a}"}}"#,
        #"{"id":"a","type":"subscribe","payload":{"query":"{a}"}}"#,
      ])
    try client.start("c")
    #expect(client.take().last == .started(try identifier("c")))
  }

  @Test func `cancelling before the acknowledgement sends nothing`() throws {
    var client = ClientEnd()
    client.machine.opened(at: .zero, actions: &client.actions)
    try client.start("a")
    _ = client.take()
    try client.cancel("a")
    client.receive(#"{"type":"connection_ack"}"#)
    #expect(client.takeSent().isEmpty)
  }

  @Test func `cancelling afterwards sends complete once and delivers nothing more`() throws {
    var client = ClientEnd.open()
    try client.start("a")
    _ = client.take()
    try client.cancel("a")
    try client.cancel("a")
    client.receive(#"{"type":"next","id":"a","payload":{}}"#)
    client.receive(#"{"type":"complete","id":"a"}"#)
    #expect(client.takeSent() == [#"{"id":"a","type":"complete"}"#])
    #expect(client.machine.strayMessages == 2)
  }

  @Test func `4504: no acknowledgement in time`() {
    var client = ClientEnd()
    client.machine.opened(at: .zero, actions: &client.actions)
    _ = client.take()
    client.pass(.seconds(9))
    client.receive(#"{"type":"ping"}"#)
    #expect(client.takeSent() == [#"{"type":"pong"}"#])
    client.pass(.seconds(1))
    #expect(client.take() == [.close(.acknowledgementTimeout)])
    #expect(client.machine.nextDeadline == nil)
  }

  @Test(arguments: [
    #"{"type":"next","id":"a","payload":{}}"#, #"{"type":"complete","id":"a"}"#, "nonsense", "[]", #"{"id":"a"}"#,
  ])
  func `4004: something else where the acknowledgement must be`(text: String) {
    var client = ClientEnd()
    client.machine.opened(at: .zero, actions: &client.actions)
    _ = client.take()
    client.receive(text)
    guard case .close(let close)? = client.take().first else {
      Issue.record("not closed")
      return
    }
    #expect(close.code == 4004)
  }

  @Test func `4004: a second acknowledgement`() {
    var client = ClientEnd.open()
    client.receive(#"{"type":"connection_ack"}"#)
    #expect(client.take() == [.close(.badResponse("A second acknowledgement"))])
    client.receive(#"{"type":"connection_ack"}"#)
    #expect(client.take().isEmpty)
  }

  // MARK: Operations

  @Test func `results, errors of both shapes and completion reach their operation only`() throws {
    var client = ClientEnd.open(acknowledgement: "{}")
    for id in ["a", "b", "c", "d"] { try client.start(id) }
    _ = client.take()
    client.receive(#"{"id":"a","type":"next","payload":{"data": {"n" :1}}}"#)
    client.receive(#"{"id":"a","type":"next","payload":{"errors":[{"message":"x"}]},"cursor":"9f-1"}"#)
    client.receive(#"{"id":"b","type":"error","payload":[{"message":"list"}]}"#)
    client.receive(#"{"id":"c","type":"error","payload":{"message":"object"}}"#)
    client.receive(#"{"id":"d","type":"error"}"#)
    client.receive(#"{"id":"a","type":"complete"}"#)
    #expect(
      client.take() == [
        .next(try identifier("a"), payload: Array(#"{"data": {"n" :1}}"#.utf8), cursor: nil),
        .next(try identifier("a"), payload: Array(#"{"errors":[{"message":"x"}]}"#.utf8), cursor: nil),
        .failed(try identifier("b"), errors: [["message": "list"]]),
        .failed(try identifier("c"), errors: [["message": "object"]]),
        .failed(try identifier("d"), errors: []),
        .completed(try identifier("a")),
      ])
    #expect(client.machine.operationCount == 0)
  }

  @Test(arguments: [
    #"{"id":"a","type":"next"}"#, #"{"id":"a","type":"next","payload":7}"#,
    #"{"id":"a","type":"next","payload":{},"cursor":"?"}"#, #"{"id":"a","type":"ready","cursor":"?"}"#,
    #"{"id":"a","type":"gap"}"#,
  ])
  func `a bad frame fails the operation it names and no other`(text: String) throws {
    var client = ClientEnd.open(acknowledgement: Self.granted)
    try client.start("a")
    try client.start("b")
    _ = client.take()
    client.receive(text)
    let actions = client.take()
    #expect(actions.first == .send(Array(#"{"id":"a","type":"complete"}"#.utf8)))
    guard case .violated(let id, _)? = actions.last else {
      Issue.record("not told")
      return
    }
    #expect(id == (try identifier("a")))
    #expect(client.machine.operationCount == 1 && client.machine.phase == .open)
  }

  @Test func `unknown ids and unknown types are counted and ignored`() throws {
    var client = ClientEnd.open()
    try client.start("a")
    _ = client.take()
    for text in [
      #"{"id":"x","type":"next","payload":{}}"#, #"{"id":"x","type":"error","payload":[]}"#,
      #"{"id":"x","type":"complete"}"#, #"{"type":"ka"}"#, #"{"type":"novel","id":"a"}"#,
    ] { client.receive(text) }
    #expect(client.take().isEmpty)
    #expect(client.machine.strayMessages == 3 && client.machine.unknownMessages == 2)
  }

  // MARK: Keeping alive

  @Test func `silence is answered by a ping, then by giving up`() {
    var client = ClientEnd.open()
    client.pass(.seconds(15))
    #expect(client.takeSent() == [#"{"type":"ping"}"#])
    client.pass(.seconds(9))
    client.receive(#"{"type":"pong"}"#)
    client.pass(.seconds(10))
    #expect(client.take() == [.ponged(payload: nil)])
    client.pass(.seconds(5))
    #expect(client.takeSent().count == 1)
    client.pass(.seconds(10))
    #expect(client.take() == [.close(.stuck)])
  }

  @Test func `a ping is answered with its payload`() {
    var client = ClientEnd.open()
    client.receive(#"{"type":"ping","payload":{"n":1}}"#)
    #expect(client.takeSent() == [#"{"type":"pong","payload":{"n":1}}"#])
  }

  // MARK: Reconnecting

  @Test func `open subscriptions are sent again under their ids; lost requests are reported`() throws {
    var client = ClientEnd.open()
    try client.start("s1")
    try client.start("q", repetition: .never)
    try client.start("s2")
    try client.start("w", repetition: .ifWritesAreAgreed)
    _ = client.take()
    client.disconnect()
    #expect(client.take() == [.lost(try identifier("q")), .lost(try identifier("w"))])
    try client.start("q2", repetition: .never)
    client.connect()
    #expect(
      client.takeSent().dropFirst() == [
        #"{"id":"s1","type":"subscribe","payload":{"query":"{a}"}}"#,
        #"{"id":"s2","type":"subscribe","payload":{"query":"{a}"}}"#,
        #"{"id":"q2","type":"subscribe","payload":{"query":"{a}"}}"#,
      ])
  }

  @Test func `a numbered write is repeated only while both servers agreed to numbers`() throws {
    for secondAgrees in [true, false] {
      var client = ClientEnd.open(acknowledgement: Self.granted)
      try client.start("w", repetition: .ifWritesAreAgreed)
      _ = client.take()
      client.disconnect()
      #expect(client.take().isEmpty)
      client.connect(acknowledgement: secondAgrees ? Self.granted : "null")
      let actions = client.take()
      #expect(actions.contains(.lost(try identifier("w"))) == !secondAgrees)
      #expect(actions.contains(.started(try identifier("w"))) == secondAgrees)
    }
  }

  @Test func `a write that never left may be sent to any server`() throws {
    var client = ClientEnd()
    try client.start("w", repetition: .ifWritesAreAgreed)
    client.connect()
    #expect(client.take().last == .started(try identifier("w")))
  }

  // MARK: Cursors

  @Test func `the place moves at marks and a resume names the last one`() throws {
    var client = ClientEnd.open(acknowledgement: Self.granted)
    try client.start("a")
    client.receive(#"{"id":"a","type":"ready","cursor":"9f-10"}"#)
    client.receive(#"{"id":"a","type":"next","payload":{},"cursor":"9f-11"}"#)
    client.receive(#"{"id":"a","type":"next","payload":{},"cursor":"9f-12","partial":true}"#)
    #expect(
      client.machine.position(of: try identifier("a"))
        == SubscriptionPosition(cursor: Cursor(term: 0x9F, offset: 11), delivered: 12))
    client.disconnect()
    _ = client.take()
    client.connect(acknowledgement: Self.granted)
    #expect(
      client.takeSent().last
        == #"{"id":"a","type":"subscribe","payload":{"query":"{a}","extensions":{"martlet":{"resume":"9f-11"}}}}"#)
    // The server begins the cut transaction again, under its new term.
    client.receive(#"{"id":"a","type":"next","payload":{},"cursor":"a0-12","partial":true}"#)
    client.receive(#"{"id":"a","type":"next","payload":{"n":13},"cursor":"a0-13"}"#)
    client.receive(#"{"id":"a","type":"ready","cursor":"a0-13"}"#)
    let next13 = TransportWS.ClientAction.next(
      try identifier("a"), payload: Array(#"{"n":13}"#.utf8), cursor: Cursor(term: 0xA0, offset: 13))
    #expect(client.take() == [next13, .ready(try identifier("a"), Cursor(term: 0xA0, offset: 13))])
    #expect(client.machine.repeats == 1)
  }

  @Test func `ready without a place confirms, and leaves nothing to resume from`() throws {
    var client = ClientEnd.open(acknowledgement: Self.granted)
    try client.start("a")
    _ = client.take()
    client.receive(#"{"id":"a","type":"ready"}"#)
    #expect(client.take() == [.confirmed(try identifier("a"))])
    client.receive(#"{"type":"ping","payload":{"martlet":{"cursor":"9f-50"}}}"#)
    #expect(client.machine.position(of: try identifier("a"))?.cursor == nil)
  }

  @Test func `a keep-alive moves ready subscriptions only`() throws {
    var client = ClientEnd.open(acknowledgement: Self.granted)
    try client.start("ready")
    try client.start("waiting")
    client.receive(#"{"id":"ready","type":"ready","cursor":"9f-10"}"#)
    client.receive(#"{"type":"ping","payload":{"martlet":{"cursor":"9f-50"}}}"#)
    #expect(client.machine.position(of: try identifier("ready"))?.cursor == Cursor(term: 0x9F, offset: 50))
    #expect(client.machine.position(of: try identifier("waiting"))?.cursor == nil)
    client.receive(#"{"type":"ping","payload":{"martlet":{"cursor":"9f-40"}}}"#)
    #expect(client.machine.position(of: try identifier("ready"))?.cursor == Cursor(term: 0x9F, offset: 50))
  }

  @Test func `a gap moves the place to its end, also backwards`() throws {
    var client = ClientEnd.open(acknowledgement: Self.granted)
    try client.start("a", position: SubscriptionPosition(cursor: Cursor(term: 1, offset: 900), delivered: 900))
    #expect(
      client.takeSent() == [
        #"{"id":"a","type":"subscribe","payload":{"query":"{a}","extensions":{"martlet":{"resume":"1-900"}}}}"#
      ])
    client.receive(#"{"id":"a","type":"gap","reason":"lineage","from":"1-900","to":"2-100"}"#)
    client.receive(#"{"id":"a","type":"next","payload":{},"cursor":"2-101"}"#)
    let gap = SubscriptionGap(reason: "lineage", from: Cursor(term: 1, offset: 900), to: Cursor(term: 2, offset: 100))
    #expect(
      client.take() == [
        .gap(try identifier("a"), gap),
        .next(try identifier("a"), payload: Array("{}".utf8), cursor: Cursor(term: 2, offset: 101)),
      ])
  }

  @Test func `without an agreement cursors mean nothing and nothing is resumed`() throws {
    var client = ClientEnd.open(wants: .none, acknowledgement: Self.granted)
    try client.start("a", position: SubscriptionPosition(cursor: Cursor(term: 1, offset: 9), delivered: 9))
    #expect(client.takeSent() == [#"{"id":"a","type":"subscribe","payload":{"query":"{a}"}}"#])
    client.receive(#"{"id":"a","type":"next","payload":{},"cursor":"1-2"}"#)
    client.receive(#"{"id":"a","type":"next","payload":{},"cursor":"1-2"}"#)
    #expect(client.take().count == 2)
  }

  // MARK: Close codes

  @Test(
    arguments: [
      (1000, .ifOperationsAreOpen), (1001, .afterBackoff), (1002, .never), (1003, .never), (1005, .afterBackoff),
      (1006, .afterBackoff), (1007, .never), (1008, .never), (1009, .never), (1010, .never), (1011, .never),
      (1012, .afterBackoff), (1013, .afterBackoff), (1014, .afterBackoff), (1015, .never), (4004, .never),
      (4005, .never), (4400, .never), (4401, .never), (4403, .withNewCredentials), (4406, .never),
      (4408, .afterBackoff), (4409, .never), (4429, .never), (4499, .afterBackoff), (4500, .never),
      (4504, .afterBackoff), (3000, .afterBackoff), (4999, .afterBackoff),
    ] as [(UInt16, TransportWS.Retry)])
  func `every close code says whether to come back`(code: UInt16, retry: TransportWS.Retry) {
    #expect(TransportWS.retry(after: WebSocketCloseCode(rawValue: code)) == retry)
  }

  @Test func `garbage fails an operation or the session and nothing else`() throws {
    let messages = [
      #"{"id":"a","type":"next","payload":{"data":{"n":1}},"cursor":"9f-11"}"#,
      #"{"id":"a","type":"gap","reason":"retention","from":"1-2","to":"9f-12"}"#,
      #"{"id":"a","type":"error","payload":[{"message":"x"}]}"#,
    ]
    var random = SeededRandom(seed: 9)
    for round in 0..<3000 {
      var client = ClientEnd.open(acknowledgement: Self.granted)
      try client.start("a")
      try client.start("b")
      _ = client.take()
      var text = Array(messages[round % 3].utf8)
      text[Int.random(in: 0..<text.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      client.machine.receive(text, at: .zero, actions: &client.actions)
      for case .close(let close) in client.take() { #expect(close.code == 4004) }
      #expect(client.machine.position(of: try identifier("b")) != nil)
    }
  }
}
