import MartletJSON
import MartletVocabulary
import MartletWire
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire

typealias TransportWS = GraphQLTransportWS

func identifier(_ text: String) throws -> OperationID {
  try #require(OperationID(text))
}

/// Texts, not bytes, so that a failing transcript can be read.
enum Heard: Equatable {
  case authenticate(JSONObject?)
  case renew(JSONObject)
  case start(Int, String, String)
  case stop(Int)
  case send(String)
  case tellPosition
  case violated(String)
  case close(Int, String)
}

struct ServerEnd {
  var machine: TransportWS.ServerMachine
  var actions: [TransportWS.ServerAction] = []
  var now = Instant.zero

  init(limits: TransportWS.ServerLimits = .init(), offers: Continuity = .all) {
    machine = TransportWS.ServerMachine(limits: limits, offers: offers, at: .zero)
  }

  /// A server whose connection has been acknowledged.
  static func open(limits: TransportWS.ServerLimits = .init(), payload: String = "null") -> ServerEnd {
    var server = ServerEnd(limits: limits)
    server.receive(#"{"type":"connection_init","payload":\#(payload)}"#)
    server.machine.accept(at: .zero, actions: &server.actions)
    server.actions = []
    return server
  }

  static let negotiating = #"{"martlet":{"cursors":true,"writes":true}}"#

  mutating func receive(_ text: String) {
    machine.receive(Array(text.utf8), at: now, actions: &actions)
  }

  mutating func subscribe(_ id: String) {
    receive(#"{"type":"subscribe","id":"\#(id)","payload":{"query":"subscription { a }"}}"#)
  }

  mutating func pass(_ duration: Duration) {
    now = now + duration
    machine.reachedDeadline(at: now, actions: &actions)
  }

  mutating func take() -> [Heard] {
    defer { actions = [] }
    return actions.map { action in
      switch action {
      case .authenticate(let payload): .authenticate(payload)
      case .renew(let credentials): .renew(credentials)
      case .start(let number, let id, let request): .start(number, id.text, request.query)
      case .stop(let number): .stop(number)
      case .send(let text): .send(String(decoding: text, as: UTF8.self))
      case .tellPosition: .tellPosition
      case .violated(let what): .violated(what)
      case .close(let close): .close(Int(close.code.rawValue), close.reason)
      }
    }
  }
}

struct ClientEnd {
  var machine: TransportWS.ClientMachine
  var actions: [TransportWS.ClientAction] = []
  var now = Instant.zero

  init(limits: TransportWS.ClientLimits = .init(), wants: Continuity = .all) {
    machine = TransportWS.ClientMachine(limits: limits, wants: wants)
  }

  /// A client in an acknowledged session.
  static func open(wants: Continuity = .all, acknowledgement: String = "null") -> ClientEnd {
    var client = ClientEnd(wants: wants)
    client.connect(acknowledgement: acknowledgement)
    client.actions = []
    return client
  }

  mutating func connect(acknowledgement: String = "null") {
    machine.opened(at: now, actions: &actions)
    receive(#"{"type":"connection_ack","payload":\#(acknowledgement)}"#)
  }

  mutating func start(
    _ id: String, repetition: TransportWS.Repetition = .always, position: SubscriptionPosition = .init()
  ) throws {
    machine.start(
      try identifier(id), RequestPayload(query: "{a}"), repetition: repetition, position: position, at: now,
      actions: &actions)
  }

  mutating func cancel(_ id: String) throws {
    machine.cancel(try identifier(id), actions: &actions)
  }

  mutating func receive(_ text: String) {
    machine.receive(Array(text.utf8), at: now, actions: &actions)
  }

  mutating func disconnect() {
    machine.disconnected(actions: &actions)
  }

  mutating func pass(_ duration: Duration) {
    now = now + duration
    machine.reachedDeadline(at: now, actions: &actions)
  }

  mutating func take() -> [TransportWS.ClientAction] {
    defer { actions = [] }
    return actions
  }

  /// The texts sent, dropping everything reported.
  mutating func takeSent() -> [String] {
    take().compactMap { if case .send(let text) = $0 { String(decoding: text, as: UTF8.self) } else { nil } }
  }
}
