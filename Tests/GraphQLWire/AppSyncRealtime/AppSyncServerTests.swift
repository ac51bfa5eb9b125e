import MartletJSON
import MartletVocabulary
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire

/// Transcripts of AppSync's real-time protocol, seen from the server.
@Suite struct AppSyncServerTests {
  private let ack = #"{"type":"connection_ack","payload":{"connectionTimeoutMs":300000}}"#
  private let ka = #"{"type":"ka"}"#

  private func start(_ id: String) -> String {
    #"{"id":"\#(id)","type":"start","payload":{"data":"{\"query\":\"subscription { a }\",\"variables\":{}}","#
      + #""extensions":{"authorization":{"host":"h","x-api-key":"k"}}}}"#
  }

  @Test func `the acknowledgement carries the timeout, keep-alives follow`() {
    var server = DialectServer.appSync()
    server.receive(#"{"type":"connection_init"}"#)
    #expect(server.take() == [.authenticate(nil)])
    server.accept(["ignored": true])
    #expect(server.take() == [.send(ack), .send(ka)])
    server.pass(.seconds(60))
    server.pass(.seconds(60))
    #expect(server.take() == [.send(ka), .send(ka)])
  }

  @Test func `what comes before the acknowledgement is ignored`() {
    var server = DialectServer.appSync()
    server.receive(start("1"), #"{"type":"stop","id":"1"}"#, #"{"type":"novel"}"#, #"{"type":"connection_init"}"#)
    server.receive(start("1"))
    #expect(server.take() == [.authenticate(nil)])
    server.accept()
    #expect(server.take() == [.send(ack), .send(ka)])
    #expect(server.machine.operationCount == 0)
  }

  @Test func `a start carries its own authorization, and start_ack follows once`() throws {
    var server = DialectServer.appSync().opened()
    server.receive(start("1"))
    guard case .start(let number, _, let request) = server.actions.first else {
      Issue.record("not started")
      return
    }
    #expect(request.query == "subscription { a }")
    #expect(request.extensions == ["authorization": ["host": "h", "x-api-key": "k"]])
    server.actions = []
    server.machine.live(number, actions: &server.actions)
    server.machine.ready(number, Cursor(term: 1, offset: 2), actions: &server.actions)
    #expect(server.take() == [.send(#"{"id":"1","type":"start_ack"}"#)])
    server.next(number, #"{"data":{"a":1}}"#)
    server.machine.complete(number, actions: &server.actions)
    server.machine.live(number, actions: &server.actions)
    #expect(
      server.take() == [
        .send(#"{"id":"1","type":"data","payload":{"data":{"a":1}}}"#), .send(#"{"id":"1","type":"complete"}"#),
      ])
  }

  @Test func `stop is confirmed, and nothing follows`() {
    var server = DialectServer.appSync().opened()
    server.receive(start("1"), #"{"type":"stop","id":"1"}"#, #"{"type":"stop","id":"1"}"#)
    #expect(
      server.take() == [
        .start(1, "1", "subscription { a }"), .stop(1), .send(#"{"id":"1","type":"complete"}"#),
      ])
    server.machine.live(1, actions: &server.actions)
    server.next(1, "{}")
    server.fail(1, "[]")
    #expect(server.take().isEmpty)
    server.receive(start("1"))
    #expect(server.take() == [.start(2, "1", "subscription { a }")])
  }

  @Test func `an id in use is an error, and the connection stays`() {
    var server = DialectServer.appSync().opened()
    server.receive(start("1"), start("1"))
    #expect(
      server.take().last
        == .send(
          #"{"id":"1","type":"error","payload":{"errors":[{"errorType":"DuplicatedOperationError","#
            + #""message":"A subscription with id 1 exists already"}]}}"#))
    #expect(server.machine.operationCount == 1 && server.machine.isOpen)
  }

  @Test func `a client that ends the connection in the older protocol's way is disconnected`() {
    var server = DialectServer.appSync().opened()
    server.receive(start("1"), #"{"type":"connection_terminate"}"#)
    #expect(server.take() == [.start(1, "1", "subscription { a }"), .stop(1), .close(1000, "")])
  }

  @Test func `one subscription more than allowed is an error`() {
    var server = DialectServer.appSync().opened()
    for id in 1...101 { server.receive(start("\(id)")) }
    #expect(server.machine.operationCount == 100)
    #expect(
      server.take().last
        == .send(
          #"{"id":"101","type":"error","payload":{"errors":[{"errorType":"MaxSubscriptionsReachedError","#
            + #""message":"This connection has 100 subscriptions already","errorCode":429}]}}"#))
  }

  @Test(arguments: [
    (#"[{"message":"bad"}]"#, #"[{"message":"bad","errorType":"ValidationError"}]"#),
    (
      #"[{"message":"no","extensions":{"code":"UNAUTHENTICATED"}}]"#,
      #"[{"message":"no","extensions":{"code":"UNAUTHENTICATED"},"errorType":"UnauthorizedException","errorCode":401}]"#
    ),
    (
      #"[{"message":"a","extensions":{"code":"GAP"}},{"message":"b"}]"#,
      #"[{"message":"a","extensions":{"code":"GAP"},"errorType":"GAP"},{"message":"b","errorType":"ValidationError"}]"#
    ),
    (
      #"[{"message":"q","extensions":{"code":"UNSUPPORTED_OPERATION"}}]"#,
      #"[{"message":"q","extensions":{"code":"UNSUPPORTED_OPERATION"},"errorType":"UnsupportedOperation","#
        + #""errorCode":400}]"#
    ),
  ])
  func `errors carry the type clients look for`(errors: String, typed: String) {
    var server = DialectServer.appSync().opened()
    server.receive(start("1"))
    server.actions = []
    server.fail(1, errors)
    #expect(server.take() == [.send(#"{"id":"1","type":"error","payload":{"errors":\#(typed)}}"#)])
  }

  @Test func `refused credentials are a connection_error with the type, then a close`() {
    var server = DialectServer.appSync()
    server.receive(#"{"type":"connection_init","payload":{}}"#)
    server.machine.refuse("no", actions: &server.actions)
    #expect(
      server.take() == [
        .authenticate([:]),
        .send(
          #"{"type":"connection_error","payload":{"errors":[{"errorType":"UnauthorizedException","message":"no","#
            + #""errorCode":401}]}}"#), .close(1008, "no"),
      ])
  }

  @Test func `withdrawn credentials are the same under subscriptions`() {
    var server = DialectServer.appSync().opened()
    server.receive(start("1"))
    server.actions = []
    server.machine.withdraw("no longer", actions: &server.actions)
    #expect(
      server.take() == [
        .send(
          #"{"type":"connection_error","payload":{"errors":[{"errorType":"UnauthorizedException","#
            + #""message":"no longer","errorCode":401}]}}"#), .stop(1), .close(1008, "no longer"),
      ])
  }

  @Test func `an id that is a number is answered as a number`() {
    var server = DialectServer.appSync().opened()
    server.receive(start("1").replacing(#""id":"1""#, with: #""id":1"#))
    server.machine.live(1, actions: &server.actions)
    #expect(server.take().last == .send(#"{"id":1,"type":"start_ack"}"#))
    server.receive(#"{"type":"stop","id":1}"#)
    #expect(server.take().last == .send(#"{"id":1,"type":"complete"}"#))
  }

  @Test func `a client that leaves out the initialisation is accepted by its start, without an acknowledgement`() {
    var server = DialectServer.appSync()
    server.receive(start("1"))
    server.pass(.milliseconds(249))
    server.receive(start("2"), #"{"type":"stop","id":"2"}"#)
    #expect(server.take().isEmpty)
    server.pass(.milliseconds(1))
    #expect(server.take() == [.authenticate(nil)])
    server.receive(start("3"))
    server.accept()
    #expect(
      server.take() == [
        .send(ka), .start(1, "1", "subscription { a }"), .start(2, "2", "subscription { a }"),
      ])
    #expect(server.machine.nextDeadline == server.now + .seconds(60))
    server.receive(#"{"type":"connection_init"}"#)
    #expect(server.take() == [.send(ack)])
  }

  @Test func `an initialisation that follows its start has it ignored`() {
    var server = DialectServer.appSync()
    server.receive(start("1"))
    server.pass(.milliseconds(100))
    server.receive(#"{"type":"connection_init"}"#)
    server.accept()
    #expect(server.take() == [.authenticate(nil), .send(ack), .send(ka)])
    server.pass(.milliseconds(150))
    #expect(server.take().isEmpty && server.machine.operationCount == 0)
  }

  @Test func `an initialisation while a start awaits admission is acknowledged all the same`() {
    var server = DialectServer.appSync()
    server.receive(start("1"))
    server.pass(.milliseconds(250))
    server.receive(#"{"type":"connection_init"}"#)
    server.accept()
    #expect(
      server.take() == [.authenticate(nil), .send(ack), .send(ka), .start(1, "1", "subscription { a }")])
  }

  @Test func `what comes early is bounded, and refused with its client`() {
    var server = DialectServer.appSync { $0.session.heldBytes = start("1").utf8.count }
    server.receive(start("1"), start("2"))
    server.pass(.milliseconds(250))
    server.accept()
    #expect(server.take().suffix(1) == [.start(1, "1", "subscription { a }")])
    var other = DialectServer.appSync()
    other.receive(start("1"))
    other.pass(.milliseconds(250))
    other.machine.refuse("no", actions: &other.actions)
    #expect(other.take().last == .close(1008, "no") && other.machine.nextDeadline == nil)
    var strict = DialectServer.appSync { $0.initialisationGrace = nil }
    strict.receive(start("1"))
    #expect(strict.machine.nextDeadline == .zero + .seconds(3))
  }

  @Test func `no initialisation in time ends the connection`() {
    var server = DialectServer.appSync { $0.session.initialisationTimeout = .seconds(3) }
    server.receive(#"{"type":"stop","id":"1"}"#)
    server.pass(.seconds(3))
    let heard = server.take()
    #expect(heard.count == 3 && heard.last == .close(1008, "Connection initialisation timeout"))
  }

  @Test func `a connection ends after its maximum lifetime`() {
    var server = DialectServer.appSync { $0.lifetime = .seconds(90) }.opened()
    server.receive(start("1"))
    server.actions = []
    server.pass(.seconds(60))
    #expect(server.take() == [.send(ka)])
    #expect(server.machine.nextDeadline == .zero + .seconds(90))
    server.pass(.seconds(30))
    #expect(server.take() == [.stop(1), .close(1001, "The connection has reached its maximum lifetime")])
  }

  @Test func `of two deadlines that have passed the earlier one is served first`() {
    // The client's time to initialise ends before the pause after which its early start counts as initialisation.
    var late = DialectServer.appSync {
      $0.session.initialisationTimeout = .seconds(3)
      $0.initialisationGrace = .seconds(2)
    }
    late.now = .zero + .seconds(2)
    late.receive(start("1"))
    #expect(late.machine.nextDeadline == .zero + .seconds(3))
    late.pass(.seconds(60))
    #expect(late.take().last == .close(1008, "Connection initialisation timeout"))
    var early = DialectServer.appSync {
      $0.session.initialisationTimeout = .seconds(3)
      $0.initialisationGrace = .seconds(2)
    }
    early.receive(start("1"))
    early.pass(.seconds(60))
    #expect(early.take() == [.authenticate(nil)])
    // A keep-alive before the end of the connection.
    var open = DialectServer.appSync { $0.lifetime = .seconds(90) }.opened()
    open.pass(.seconds(500))
    #expect(open.take() == [.send(ka)])
    #expect(open.machine.nextDeadline == .zero + .seconds(90))
    open.pass(.zero)
    #expect(open.take() == [.close(1001, "The connection has reached its maximum lifetime")])
  }

  @Test func `the maximum lifetime is a day by default`() {
    #expect(AppSyncRealtime.ServerLimits().lifetime == .seconds(86_400))
    var server = DialectServer.appSync { $0.lifetime = nil }.opened()
    server.pass(.seconds(1_000_000))
    #expect(server.take() == [.send(ka)])
  }

  @Test func `a second initialisation is acknowledged again, a flood closes`() {
    var server = DialectServer.appSync { $0.session.initialisations = 2 }.opened()
    server.receive(#"{"type":"connection_init"}"#)
    #expect(server.take() == [.send(ack)])
    server.receive(#"{"type":"connection_init"}"#)
    let heard = server.take()
    #expect(heard.count == 3 && heard.last == .close(1008, "Too many initialisation requests"))
  }

  @Test(
    arguments: [
      ("nonsense", nil, "BadRequestException"), ("[]", nil, "BadRequestException"),
      (#"{"type":"novel"}"#, nil, "UnsupportedOperation"),
      (#"{"type":"subscribe","id":"7"}"#, "7", "UnsupportedOperation"),
      (#"{"type":"start"}"#, nil, "BadRequestException"), (#"{"type":"stop","id":""}"#, nil, "BadRequestException"),
      (#"{"type":"start","id":"7"}"#, "7", "BadRequestException"),
      (#"{"type":"start","id":"7","payload":{"data":{"query":"{a}"}}}"#, "7", "BadRequestException"),
      (#"{"type":"start","id":"7","payload":{"data":"{"}}"#, "7", "BadRequestException"),
      (#"{"type":"start","id":"7","payload":{"data":"[]"}}"#, "7", "BadRequestException"),
      (#"{"type":"start","id":"7","payload":{"data":"{}"}}"#, "7", "BadRequestException"),
      (
        #"{"type":"start","id":"7","payload":{"data":"{\"query\":\"{a}\"}","extensions":{"authorization":1}}}"#, "7",
        "BadRequestException"
      ),
    ] as [(String, String?, String)])
  func `a broken message is answered, the connection stays`(text: String, id: String?, type: String) throws {
    var server = DialectServer.appSync().opened()
    server.receive(text)
    let heard = server.take()
    guard heard.count == 2, case .violated = heard[0], case .send(let answer) = heard[1] else {
      Issue.record("not answered: \(heard)")
      return
    }
    let message = try JSONValue(parsing: answer)
    #expect(message["type"] == "error" && message["id"]?.string == id)
    #expect(message["payload"]?["errors"]?[0]?["errorType"]?.string == type)
    #expect(server.machine.isOpen && server.machine.operationCount == 0)
  }

  @Test func `a flood of malformed messages closes`() {
    var server = DialectServer.appSync { $0.session.faults = 2 }.opened()
    server.receive("x", "y", "z", "w")
    #expect(server.take().last == .close(1008, "Too many malformed messages"))
  }

  @Test func `the end of the connection stops every subscription once`() {
    var server = DialectServer.appSync().opened()
    server.receive(start("1"), start("2"))
    server.actions = []
    server.machine.connectionEnded(actions: &server.actions)
    server.machine.connectionEnded(actions: &server.actions)
    #expect(server.take() == [.stop(1), .stop(2)])
  }
}
