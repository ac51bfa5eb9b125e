import MartletJSON
import MartletVocabulary
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire
@testable import MartletHTTPWire
@testable import MartletWire

@Suite struct HTTPStreamMachineTests {
  typealias Action = SubscriptionServerAction
  static let start = Instant(nanoseconds: 0)

  static func machine(_ media: HTTPStreamMedia) -> HTTPStreamMachine {
    HTTPStreamMachine(media, heartbeatInterval: .seconds(10), at: start)
  }

  /// What a client reads from the pieces sent.
  static func multipart(_ actions: [Action]) throws -> [MultipartSubscription.Message] {
    var reader = try MultipartSubscription.Reader(contentType: MultipartSubscription.Writing.contentType)
    var messages: [MultipartSubscription.Message] = []
    for case .send(let piece) in actions { try reader.receive(piece, messages: &messages) }
    return messages
  }

  static func events(_ actions: [Action]) throws -> [EventStreamSubscription.Message] {
    var reader = EventStreamSubscription.Reader()
    var messages: [EventStreamSubscription.Message] = []
    for case .send(let piece) in actions { try reader.receive(piece, messages: &messages) }
    return messages
  }

  static let result = Array(#"{"data":1}"#.utf8)
  static let errors = Array(#"[{"message":"x"}]"#.utf8)
  static let refusal = Array(#"{"errors":[{"message":"x"}]}"#.utf8)

  @Test(arguments: HTTPStreamMedia.allCases) func `a stream opens once, and ends once`(media: HTTPStreamMedia) throws {
    var machine = Self.machine(media)
    var actions: [Action] = []
    machine.live(1, actions: &actions)
    machine.live(1, actions: &actions)
    #expect(actions == [.send(media.opening)])
    machine.next(1, payload: Self.result, cursor: nil, endsTransaction: true, actions: &actions)
    machine.complete(1, actions: &actions)
    machine.complete(1, actions: &actions)
    machine.fail(1, errors: Self.errors, actions: &actions)
    machine.connectionEnded(actions: &actions)
    #expect(actions.last == .close(ConnectionClose(.normal, "")) && !machine.isOpen && machine.nextDeadline == nil)
    switch media {
    case .multipart: #expect(try Self.multipart(actions) == [.heartbeat, .payload(Self.result), .completed])
    case .eventStream: #expect(try Self.events(actions) == [.next(Self.result), .complete])
    }
  }

  @Test func `an operation that cannot start answers one result with errors, and completes`() throws {
    for media in HTTPStreamMedia.allCases {
      var machine = Self.machine(media)
      var actions: [Action] = []
      machine.fail(1, errors: Self.errors, actions: &actions)
      switch media {
      case .multipart: #expect(try Self.multipart(actions) == [.heartbeat, .payload(Self.refusal), .completed])
      case .eventStream: #expect(try Self.events(actions) == [.next(Self.refusal), .complete])
      }
    }
  }

  @Test func `an operation that fails under way says so in its form's way`() throws {
    for media in HTTPStreamMedia.allCases {
      var machine = Self.machine(media)
      var actions: [Action] = []
      machine.live(1, actions: &actions)
      machine.fail(1, errors: Self.errors, actions: &actions)
      switch media {
      case .multipart: #expect(try Self.multipart(actions) == [.heartbeat, .failed(Self.errors)])
      case .eventStream: #expect(try Self.events(actions) == [.next(Self.refusal), .complete])
      }
    }
  }

  @Test func `a server that goes away does not look like completion`() throws {
    for media in HTTPStreamMedia.allCases {
      var machine = Self.machine(media)
      var actions: [Action] = []
      machine.live(1, actions: &actions)
      machine.end(1001, "away", actions: &actions)
      #expect(actions.contains(.stop(number: 1)) && actions.last == .close(ConnectionClose(1001, "away")))
      let errors = #"[{"message":"away","extensions":{"code":"STREAM_ENDED"}}]"#
      switch media {
      case .multipart: #expect(try Self.multipart(actions) == [.heartbeat, .failed(Array(errors.utf8))])
      case .eventStream: #expect(try Self.events(actions) == [.next(Array("{\"errors\":\(errors)}".utf8))])
      }
    }
  }

  @Test func `heartbeats come at their interval, also before the operation is live`() {
    for media in HTTPStreamMedia.allCases {
      var machine = Self.machine(media)
      var actions: [Action] = []
      machine.reachedDeadline(at: Self.start + .seconds(9), actions: &actions)
      #expect(actions == [])
      machine.reachedDeadline(at: Self.start + .seconds(10), actions: &actions)
      machine.reachedDeadline(at: Self.start + .seconds(20), actions: &actions)
      #expect(actions == [.send(media.opening), .send(media.heartbeat)])
      #expect(machine.nextDeadline == Self.start + .seconds(30))
    }
  }

  @Test func `a client that is gone stops the operation once`() {
    var machine = Self.machine(.multipart)
    var actions: [Action] = []
    machine.connectionEnded(actions: &actions)
    machine.connectionEnded(actions: &actions)
    #expect(actions == [.stop(number: 1)])
  }

  // MARK: Negotiation

  static func accept(_ accept: String?) throws -> GraphQLOverHTTP.Accepted {
    var headers = HTTPHeaders([("Content-Type", "application/json")])
    if let accept { headers.append("Accept", accept) }
    let head = HTTPRequestHead(method: "POST", target: "/graphql", headers: headers)
    return try GraphQLOverHTTP.accept(head, body: Array(#"{"query":"{a}"}"#.utf8))
  }

  @Test(arguments: [
    ("multipart/mixed;subscriptionSpec=1.0, application/json", HTTPStreamMedia.multipart, true, true),
    ("multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json", .multipart, true, true),
    ("multipart/mixed; boundary=\"graphql\"; subscriptionSpec=\"1.0\", application/json", .multipart, true, true),
    ("multipart/mixed; subscriptionSpec=\"1.0\"", .multipart, true, false),
    ("text/event-stream", .eventStream, true, false),
    ("application/json, text/event-stream", .eventStream, false, true),
    ("application/json;q=0.5, text/event-stream;q=0.9", .eventStream, true, true),
    ("multipart/mixed;subscriptionSpec=1.0;q=0.5, text/event-stream", .eventStream, true, false),
  ])
  func `a stream is chosen by what the client accepts`(
    accept: String, media: HTTPStreamMedia, isPreferred: Bool, acceptsOnePiece: Bool
  ) throws {
    let accepted = try Self.accept(accept)
    #expect(accepted.stream == media && accepted.prefersStream == isPreferred)
    #expect(accepted.acceptsOnePiece == acceptsOnePiece)
  }

  @Test(arguments: [nil, "*/*", "text/*, application/json", "multipart/mixed, application/json", "application/json"])
  func `a client that names no stream media type gets none`(accept: String?) throws {
    let accepted = try Self.accept(accept)
    #expect(accepted.stream == nil && !accepted.prefersStream && accepted.acceptsOnePiece)
  }

  @Test func `the path of event streams takes no other wish`() throws {
    for (accept, isTaken) in [(nil, true), ("*/*", true), ("text/event-stream", true), ("application/json", false)] {
      var headers = HTTPHeaders()
      if let accept = accept as String? { headers.append("Accept", accept) }
      let head = HTTPRequestHead(method: "GET", target: "/graphql/stream?query=%7Ba%7D", headers: headers)
      let accepted = try? GraphQLOverHTTP.acceptEventStream(head, body: [])
      #expect((accepted?.stream == .eventStream) == isTaken)
    }
  }
}
