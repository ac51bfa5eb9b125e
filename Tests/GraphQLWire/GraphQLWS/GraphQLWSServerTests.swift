import MartletJSON
import MartletVocabulary
import MartletWire
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire

/// Transcripts of the older `graphql-ws`, seen from the server.
@Suite struct GraphQLWSServerTests {
  private let start = #"{"type":"start","id":"1","payload":{"query":"subscription { a }"}}"#
  private let ack = #"{"type":"connection_ack"}"#
  private let ka = #"{"type":"ka"}"#

  @Test func `the acknowledgement is followed by a first keep-alive, then by one every interval`() {
    var server = DialectServer.graphqlWS { $0.keepAliveInterval = .seconds(10) }
    server.receive(#"{"type":"connection_init","payload":{"authToken":"t"}}"#)
    #expect(server.take() == [.authenticate(["authToken": "t"])])
    server.accept(["a": 1])
    #expect(server.take() == [.send(#"{"type":"connection_ack","payload":{"a":1}}"#), .send(ka)])
    server.pass(.seconds(9))
    #expect(server.take().isEmpty)
    server.pass(.seconds(1))
    #expect(server.take() == [.send(ka)])
    server.pass(.seconds(10))
    #expect(server.take() == [.send(ka)])
  }

  @Test func `without keep-alive there is none and no deadline`() {
    var server = DialectServer.graphqlWS { $0.keepAliveInterval = nil }
    server.receive(#"{"type":"connection_init"}"#)
    server.accept()
    #expect(server.take() == [.authenticate(nil), .send(ack)])
    #expect(server.machine.nextDeadline == nil)
  }

  @Test func `a start before the acknowledgement is held back and follows it`() {
    var server = DialectServer.graphqlWS()
    server.receive(start, #"{"type":"connection_init"}"#, start.replacing("\"1\"", with: "\"2\""))
    #expect(server.take() == [.authenticate(nil)])
    #expect(server.machine.operationCount == 2)
    server.accept()
    #expect(
      server.take() == [
        .send(ack), .send(ka), .start(1, "1", "subscription { a }"), .start(2, "2", "subscription { a }"),
      ])
  }

  @Test func `a start without connection_init is admitted by what the handshake carried, and answered at once`() {
    var server = DialectServer.graphqlWS()
    server.receive(start)
    #expect(server.take() == [.authenticate(nil)])
    server.accept()
    #expect(server.take() == [.send(ka), .start(1, "1", "subscription { a }")])
    // A late connection_init is still acknowledged.
    server.receive(#"{"type":"connection_init"}"#)
    #expect(server.take() == [.send(ack)])
  }

  @Test func `a start without connection_init and without valid credentials is refused at once`() {
    var server = DialectServer.graphqlWS()
    server.receive(start)
    server.machine.refuse("An API key is needed", actions: &server.actions)
    #expect(
      server.take().prefix(2) == [
        .authenticate(nil), .send(#"{"type":"connection_error","payload":{"message":"An API key is needed"}}"#),
      ])
  }

  @Test func `a start stopped before the acknowledgement is only confirmed`() {
    var server = DialectServer.graphqlWS()
    server.receive(#"{"type":"connection_init"}"#, start, #"{"type":"stop","id":"1"}"#, #"{"type":"stop","id":"9"}"#)
    server.accept()
    #expect(
      server.take() == [.authenticate(nil), .send(ack), .send(ka), .send(#"{"id":"1","type":"complete"}"#)])
    #expect(server.machine.operationCount == 0)
  }

  @Test func `what is held back is bounded in bytes, too`() {
    var server = DialectServer.graphqlWS { $0.heldBytes = 40 }
    server.receive(start, start.replacing("\"1\"", with: "\"2\""), #"{"type":"connection_init"}"#)
    server.accept()
    #expect(
      server.take() == [
        .authenticate(nil), .violated("Too much for a client that has not been accepted"),
        .send(#"{"id":"2","type":"error","payload":{"message":"Too much for a client that has not been accepted"}}"#),
        .send(ack), .send(ka), .start(1, "1", "subscription { a }"),
      ])
    server.receive(start.replacing("\"1\"", with: "\"2\""))
    #expect(server.take() == [.start(2, "2", "subscription { a }")])
  }

  @Test func `what is held back counts against the limit`() {
    var server = DialectServer.graphqlWS { $0.operations = 1 }
    server.receive(start, start.replacing("\"1\"", with: "\"2\""))
    #expect(
      server.take() == [
        .authenticate(nil), .violated("This connection has 1 operations already"),
        .send(
          #"{"id":"2","type":"error","payload":{"message":"This connection has 1 operations already","#
            + #""extensions":{"code":"TOO_MANY_OPERATIONS"}}}"#),
      ])
    // The same id again replaces what is held.
    server.receive(start)
    #expect(server.take().isEmpty && server.machine.operationCount == 1)
  }

  @Test func `events, completion and failure`() {
    var server = DialectServer.graphqlWS().opened()
    server.receive(start, start.replacing("\"1\"", with: "\"2\""))
    #expect(server.take() == [.start(1, "1", "subscription { a }"), .start(2, "2", "subscription { a }")])
    server.machine.live(1, actions: &server.actions)
    server.machine.ready(2, Cursor(term: 1, offset: 1), actions: &server.actions)
    server.machine.gap(
      2, SubscriptionGap(reason: "overflow", from: nil, to: Cursor(term: 1, offset: 1)), actions: &server.actions)
    server.machine.sendPosition(Cursor(term: 1, offset: 1), at: .zero, actions: &server.actions)
    #expect(server.take().isEmpty)
    server.next(1, #"{"data":{"a":1}}"#)
    server.machine.complete(1, actions: &server.actions)
    server.next(1, "{}")
    server.fail(2, #"[{"message":"no","path":["a"]}]"#)
    #expect(
      server.take() == [
        .send(#"{"id":"1","type":"data","payload":{"data":{"a":1}}}"#), .send(#"{"id":"1","type":"complete"}"#),
        .send(#"{"id":"2","type":"error","payload":{"message":"no","path":["a"]}}"#),
      ])
    #expect(server.machine.operationCount == 0)
  }

  @Test func `several errors are one object with the list beside`() {
    var server = DialectServer.graphqlWS().opened()
    server.receive(start)
    server.actions = []
    server.fail(1, #"[{"message":"a"},{"message":"b"}]"#)
    #expect(
      server.take() == [
        .send(
          #"{"id":"1","type":"error","payload":{"message":"a","errors":[{"message":"a"},{"message":"b"}]}}"#)
      ])
  }

  @Test func `the prefix of a fan-out and a message are the same bytes`() throws {
    var server = DialectServer.graphqlWS().opened()
    server.receive(#"{"type":"start","id":"é\"\n","payload":{"query":"{a}"}}"#)
    let id = try identifier("é\"\n")
    server.actions = []
    server.next(1, "{}")
    let frame = server.machine.eventPrefix(id) + Array("{}".utf8) + EventSuffix.plain
    #expect(server.take() == [.send(String(decoding: frame, as: UTF8.self))])
  }

  @Test func `stop is confirmed, and what comes later for the id is dropped`() {
    var server = DialectServer.graphqlWS().opened()
    server.receive(start, #"{"type":"stop","id":"1","payload":null}"#, #"{"type":"stop","id":"1"}"#)
    #expect(
      server.take() == [
        .start(1, "1", "subscription { a }"), .stop(1), .send(#"{"id":"1","type":"complete"}"#),
      ])
    server.next(1, "{}")
    server.machine.complete(1, actions: &server.actions)
    #expect(server.take().isEmpty)
  }

  @Test func `an id in use restarts without a word`() {
    var server = DialectServer.graphqlWS().opened()
    server.receive(start, start)
    #expect(
      server.take() == [.start(1, "1", "subscription { a }"), .stop(1), .start(2, "1", "subscription { a }")])
    server.next(1, "{}")
    #expect(server.take().isEmpty)
    server.next(2, "{}")
    #expect(server.take() == [.send(#"{"id":"1","type":"data","payload":{}}"#)])
  }

  @Test func `an id that is a number is answered as a number, and is the same name as its digits`() {
    var server = DialectServer.graphqlWS().opened()
    server.receive(#"{"type":"start","id":7,"payload":{"query":"{a}"}}"#)
    server.next(1, "{}")
    #expect(server.take() == [.start(1, "7", "{a}"), .send(#"{"id":7,"type":"data","payload":{}}"#)])
    server.receive(#"{"type":"stop","id":"7"}"#)
    #expect(server.take() == [.stop(1), .send(#"{"id":"7","type":"complete"}"#)])
    server.receive(#"{"type":"start","id":-1,"payload":{"query":"{a}"}}"#, #"{"type":"stop","id":-1}"#)
    #expect(server.take() == [.start(2, "-1", "{a}"), .stop(2), .send(#"{"id":-1,"type":"complete"}"#)])
    server.receive(#"{"type":"stop","id":1.5}"#)
    #expect(server.take().last == .send(#"{"type":"error","payload":{"message":"stop without id"}}"#))
  }

  @Test func `withdrawn credentials are a connection_error that says so, then 1011`() {
    var server = DialectServer.graphqlWS().opened()
    server.receive(start)
    server.actions = []
    server.machine.withdraw("no longer", actions: &server.actions)
    server.machine.withdraw("no longer", actions: &server.actions)
    #expect(
      server.take() == [
        .send(
          #"{"type":"connection_error","payload":{"message":"no longer","extensions":{"code":"UNAUTHENTICATED"}}}"#),
        .stop(1), .close(1011, "no longer"),
      ])
  }

  @Test func `refused credentials are a connection_error, then 1011`() {
    var server = DialectServer.graphqlWS()
    server.receive(#"{"type":"connection_init"}"#, start)
    server.machine.refuse("Forbidden", actions: &server.actions)
    #expect(
      server.take() == [
        .authenticate(nil), .send(#"{"type":"connection_error","payload":{"message":"Forbidden"}}"#),
        .close(1011, "Forbidden"),
      ])
    server.receive(start)
    #expect(server.take().isEmpty && server.machine.operationCount == 0)
  }

  @Test func `no initialisation in time is a connection_error, then 1011`() {
    var server = DialectServer.graphqlWS { $0.initialisationTimeout = .seconds(3) }
    server.pass(.seconds(3))
    #expect(
      server.take() == [
        .violated("Connection initialisation timeout"),
        .send(#"{"type":"connection_error","payload":{"message":"Connection initialisation timeout"}}"#),
        .close(1011, "Connection initialisation timeout"),
      ])
  }

  @Test func `a second initialisation is acknowledged again, a flood closes`() {
    var server = DialectServer.graphqlWS { $0.initialisations = 3 }.opened()
    server.receive(#"{"type":"connection_init"}"#, #"{"type":"connection_init"}"#)
    #expect(server.take() == [.send(ack), .send(ack)])
    server.receive(#"{"type":"connection_init"}"#)
    #expect(
      server.take() == [
        .violated("Too many initialisation requests"),
        .send(#"{"type":"connection_error","payload":{"message":"Too many initialisation requests"}}"#),
        .close(1002, "Too many initialisation requests"),
      ])
  }

  @Test func `terminate stops everything and closes normally`() {
    var server = DialectServer.graphqlWS().opened()
    server.receive(start, #"{"type":"connection_terminate","payload":null}"#)
    #expect(server.take() == [.start(1, "1", "subscription { a }"), .stop(1), .close(1000, "")])
    server.next(1, "{}")
    server.receive(start)
    #expect(server.take().isEmpty)
  }

  @Test(arguments: ["nonsense", "[]", "{", "\u{0}"]) func `text that is not a message is answered, the socket stays`(
    text: String
  ) {
    var server = DialectServer.graphqlWS().opened()
    server.receive(text)
    let heard = server.take()
    #expect(heard.count == 2)
    guard case .violated(let what) = heard.first, case .send(let answer) = heard.last else {
      Issue.record("not answered: \(heard)")
      return
    }
    #expect(answer.hasPrefix(#"{"id":null,"type":"connection_error","payload":{"message":""#) && !what.isEmpty)
    server.receive(start)
    #expect(server.take() == [.start(1, "1", "subscription { a }")])
  }

  @Test(arguments: [
    (
      #"{"type":"subscribe","id":"7"}"#,
      #"{"id":"7","type":"error","payload":{"message":"Invalid message type! subscribe"}}"#
    ),
    (#"{"id":"7"}"#, #"{"id":"7","type":"error","payload":{"message":"Invalid message type! none"}}"#),
    (#"{"type":"ping"}"#, #"{"type":"error","payload":{"message":"Invalid message type! ping"}}"#),
    (#"{"type":"start","payload":{}}"#, #"{"type":"error","payload":{"message":"start without id"}}"#),
    (#"{"type":"start","id":""}"#, #"{"type":"error","payload":{"message":"start without id"}}"#),
    (#"{"type":"start","id":"7"}"#, #"{"id":"7","type":"error","payload":{"message":"start without payload"}}"#),
    (#"{"type":"stop"}"#, #"{"type":"error","payload":{"message":"stop without id"}}"#),
    (
      #"{"type":"start","id":"7","payload":{"query":{"kind":"Document"}}}"#,
      #"{"id":"7","type":"error","payload":{"message":"start: \"query\" must be a string"}}"#
    ),
  ])
  func `a message that breaks a rule is answered by an error, the socket stays`(text: String, answer: String) {
    var server = DialectServer.graphqlWS().opened()
    server.receive(text)
    let heard = server.take()
    #expect(heard.last == .send(answer))
    #expect(heard.count == 2 && server.machine.isOpen && server.machine.operationCount == 0)
  }

  @Test func `a flood of malformed messages closes`() {
    var server = DialectServer.graphqlWS { $0.faults = 2 }.opened()
    server.receive("x", "y", "z", "w")
    #expect(server.take().last == .close(1002, "Too many malformed messages"))
    server.receive(start)
    #expect(server.take().isEmpty)
  }

  @Test func `an id over its limit is refused`() {
    var server = DialectServer.graphqlWS { $0.idBytes = 3 }.opened()
    server.receive(start.replacing("\"1\"", with: "\"1234\""))
    #expect(server.take().last == .send(#"{"type":"error","payload":{"message":"The id is too long"}}"#))
  }

  @Test func `a binary message is answered`() {
    var server = DialectServer.graphqlWS().opened()
    server.machine.receivedBinary(actions: &server.actions)
    #expect(
      server.take() == [
        .violated("Messages are text"),
        .send(#"{"id":null,"type":"connection_error","payload":{"message":"Messages are text"}}"#),
      ])
  }

  @Test func `the end of the connection stops every operation once`() {
    var server = DialectServer.graphqlWS().opened()
    server.receive(start, start.replacing("\"1\"", with: "\"2\""))
    server.machine.complete(1, actions: &server.actions)
    server.actions = []
    server.machine.connectionEnded(actions: &server.actions)
    server.machine.connectionEnded(actions: &server.actions)
    #expect(server.take() == [.stop(2)])
    #expect(server.machine.nextDeadline == nil)
  }

  @Test func `shutting down closes with the code given`() {
    var server = DialectServer.graphqlWS().opened()
    server.receive(start)
    server.machine.end(1001, "bye", actions: &server.actions)
    #expect(server.take() == [.start(1, "1", "subscription { a }"), .stop(1), .close(1001, "bye")])
  }
}

extension String {
  /// Every occurrence of `part` replaced, without Foundation.
  func replacing(_ part: String, with other: String) -> String {
    var result = ""
    var rest = self[...]
    while !rest.isEmpty {
      if rest.hasPrefix(part) {
        result += other
        rest = rest.dropFirst(part.count)
      } else {
        result.append(rest.removeFirst())
      }
    }
    return result
  }
}
