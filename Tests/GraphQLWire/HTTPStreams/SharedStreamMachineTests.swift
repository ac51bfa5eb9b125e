import MartletJSON
import MartletVocabulary
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire
@testable import MartletHTTPWire
@testable import MartletWire

/// The server's end of a shared event stream beside the client's reader.
@Suite struct SharedStreamMachineTests {
  typealias Action = SubscriptionServerAction
  typealias Message = SharedEventStream.Message
  static let start = Instant(nanoseconds: 0)
  static let result = Array(#"{"data":1}"#.utf8)
  static let errors = Array(#"[{"message":"x"}]"#.utf8)

  static func id(_ text: String) throws -> OperationID { try #require(OperationID(text)) }

  static func machine(operations: Int = 3) -> SharedStreamMachine {
    var limits = SharedStreamLimits()
    limits.operations = operations
    return SharedStreamMachine(limits: limits, at: start)
  }

  /// What a client reads from the pieces, in pieces of `size` bytes.
  static func read(_ actions: [Action], by size: Int = .max) throws -> [Message] {
    var bytes: [UInt8] = []
    for case .send(let piece) in actions { bytes += piece }
    var reader = SharedEventStream.Reader()
    var messages: [Message] = []
    for start in stride(from: 0, to: bytes.count, by: max(1, min(size, bytes.count))) {
      try reader.receive([UInt8](bytes[start..<min(start + min(size, bytes.count), bytes.count)]), messages: &messages)
    }
    return messages
  }

  @Test(arguments: [1, 2, 7, .max]) func `operations interleave, each under its id, in any cut`(size: Int) throws {
    var machine = Self.machine()
    var actions: [Action] = []
    machine.accept(payload: nil, at: Self.start, actions: &actions)
    for text in ["a", "\"ä\n"] {
      let admission = machine.subscribe(
        try Self.id(text), RequestPayload(query: "{a}"), at: Self.start, actions: &actions)
      #expect(admission == .started)
    }
    machine.next(2, payload: Self.result, cursor: nil, endsTransaction: true, actions: &actions)
    machine.next(1, payload: Self.result, cursor: nil, endsTransaction: true, actions: &actions)
    machine.complete(1, actions: &actions)
    machine.fail(2, errors: Self.errors, actions: &actions)
    machine.next(2, payload: Self.result, cursor: nil, endsTransaction: true, actions: &actions)
    machine.complete(2, actions: &actions)
    let refusal = Array(#"{"errors":[{"message":"x"}]}"#.utf8)
    #expect(
      try Self.read(actions, by: size) == [
        .next(id: "\"ä\n", Self.result), .next(id: "a", Self.result), .complete(id: "a"), .next(id: "\"ä\n", refusal),
        .complete(id: "\"ä\n"),
      ])
    #expect(machine.operationCount == 0 && machine.isOpen)
  }

  @Test func `an event is what the protocol writes, byte for byte`() throws {
    var machine = Self.machine()
    var actions: [Action] = []
    _ = machine.subscribe(try Self.id("1"), RequestPayload(query: "{a}"), at: Self.start, actions: &actions)
    machine.next(1, payload: Self.result, cursor: nil, endsTransaction: true, actions: &actions)
    machine.complete(1, actions: &actions)
    var text = ""
    for case .send(let piece) in actions { text += String(decoding: piece, as: UTF8.self) }
    #expect(
      text == "event: next\ndata: {\"id\":\"1\",\"payload\":{\"data\":1}}\n\nevent: complete\ndata: {\"id\":\"1\"}\n\n")
    let shared = machine.eventPrefix(try Self.id("1")) + Self.result + SharedStreamMachine.suffix
    #expect(text.hasPrefix(String(decoding: shared, as: UTF8.self)))
  }

  @Test func `ids are reserved at once, bounded in number and length, and free again at their end`() throws {
    var machine = Self.machine(operations: 2)
    var actions: [Action] = []
    func ask(_ id: String) throws -> SharedStreamMachine.Admission {
      machine.subscribe(try Self.id(id), RequestPayload(query: "{a}"), at: Self.start, actions: &actions)
    }
    #expect(try ask("a") == .started)
    #expect(try ask("a") == .idInUse)
    #expect(try ask(String(repeating: "x", count: 257)) == .idTooLong)
    #expect(try ask("b") == .started)
    #expect(try ask("c") == .tooMany)
    machine.stop(try Self.id("nobody"), actions: &actions)
    machine.stop(try Self.id("a"), actions: &actions)
    #expect(actions.last == .stop(number: 1))
    #expect(try ask("a") == .started)
    machine.connectionEnded(actions: &actions)
    #expect(Array(actions.suffix(2)) == [.stop(number: 2), .stop(number: 3)])
    #expect(try ask("d") == .closed)
    #expect(machine.nextDeadline == nil)
  }

  @Test func `a stopping server ends every operation with an error and completes none`() throws {
    var machine = Self.machine()
    var actions: [Action] = []
    _ = machine.subscribe(try Self.id("a"), RequestPayload(query: "{a}"), at: Self.start, actions: &actions)
    machine.end(1001, "away", actions: &actions)
    machine.end(1001, "away", actions: &actions)
    let payload = Array(#"{"errors":[{"message":"away","extensions":{"code":"STREAM_ENDED"}}]}"#.utf8)
    #expect(try Self.read(actions) == [.next(id: "a", payload)])
    #expect(actions.filter { $0 == .stop(number: 1) }.count == 1)
    #expect(actions.last == .close(ConnectionClose(1001, "away")))
  }

  @Test func `signs of life come at their interval, positions only where somebody follows`() throws {
    var machine = Self.machine()
    var actions: [Action] = []
    machine.reachedDeadline(at: Self.start + .seconds(10), actions: &actions)
    #expect(actions == [.send(Array(":\n\n".utf8))] && machine.nextDeadline == Self.start + .seconds(20))
    _ = machine.subscribe(try Self.id("plain"), RequestPayload(query: "{a}"), at: Self.start, actions: &actions)
    let extensions: JSONObject = ["martlet": ["cursors": true]]
    _ = machine.subscribe(
      try Self.id("asks"), RequestPayload(query: "{a}", extensions: extensions), at: Self.start, actions: &actions)
    #expect(machine.continuity(of: 1) == .none && machine.continuity(of: 2) == Continuity(cursors: true))
    actions = []
    machine.reachedDeadline(at: Self.start + .seconds(20), actions: &actions)
    #expect(actions.contains(.tellPosition))
    actions = []
    let cursor = Cursor(term: 1, offset: 7)
    machine.sendPosition(cursor, at: Self.start, actions: &actions)
    for number in 1...2 {
      machine.next(number, payload: Self.result, cursor: cursor, endsTransaction: true, actions: &actions)
    }
    #expect(
      try Self.read(actions) == [
        .next(id: "asks", ResultContinuity.position(cursor).payload), .next(id: "plain", Self.result),
        .next(id: "asks", ResultContinuity.marked(Self.result, cursor, endsTransaction: true)),
      ])
    machine.complete(2, actions: &actions)
    #expect(machine.nextDeadline == Self.start + .seconds(30))
  }

  @Test(arguments: [
    "event: next\ndata: {\"payload\":{}}\n\n", "event: next\ndata: nonsense\n\n", "event: complete\ndata:\n\n",
    "event: next\ndata: {\"id\":\"1\",\"payload\":[]}\n\n",
  ]) func `an event that names no operation is malformed`(text: String) throws {
    var reader = SharedEventStream.Reader()
    var messages: [Message] = []
    try reader.receive(Array(text.utf8), messages: &messages)
    guard case .malformed? = messages.first else {
      Issue.record("\(messages)")
      return
    }
  }

  @Test func `a stream is named by header or query, the header first`() {
    func head(_ target: String, _ headers: [(String, String)] = []) -> HTTPRequestHead {
      HTTPRequestHead(method: "GET", target: target, headers: HTTPHeaders(headers))
    }
    let header = ("X-GraphQL-Event-Stream-Token", "a")
    #expect(SharedEventStream.token(of: head("/?token=b%20c&x=1")) == "b c")
    #expect(SharedEventStream.token(of: head("/?token=b", [header])) == "a")
    #expect(SharedEventStream.token(of: head("/?token=&tokens=1")) == nil)
    #expect(SharedEventStream.operation(of: head("/?operationId=7")) == "7")
  }
}
