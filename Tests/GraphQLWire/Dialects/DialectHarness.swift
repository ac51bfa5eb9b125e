import MartletJSON
import MartletVocabulary
import MartletWire
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire

/// One server machine of any dialect, with what it said as texts that can be read.
struct DialectServer {
  var machine: any SubscriptionServerMachine
  var actions: [SubscriptionServerAction] = []
  var now = Instant.zero

  init(_ machine: any SubscriptionServerMachine) {
    self.machine = machine
  }

  static func graphqlWS(_ adjust: (inout GraphQLWS.ServerLimits) -> Void = { _ in }) -> DialectServer {
    var limits = GraphQLWS.ServerLimits()
    adjust(&limits)
    return DialectServer(GraphQLWS.ServerMachine(limits: limits, at: .zero))
  }

  static func appSync(_ adjust: (inout AppSyncRealtime.ServerLimits) -> Void = { _ in }) -> DialectServer {
    var limits = AppSyncRealtime.ServerLimits()
    adjust(&limits)
    return DialectServer(AppSyncRealtime.ServerMachine(limits: limits, at: .zero))
  }

  /// The same, acknowledged, with nothing left to read.
  func opened() -> DialectServer {
    var server = self
    server.receive(#"{"type":"connection_init"}"#)
    server.accept()
    server.actions = []
    return server
  }

  mutating func receive(_ texts: String...) {
    for text in texts { machine.receive(Array(text.utf8), at: now, actions: &actions) }
  }

  mutating func accept(_ payload: JSONObject? = nil) {
    machine.accept(payload: payload, at: now, actions: &actions)
  }

  mutating func next(_ number: Int, _ payload: String) {
    machine.next(number, payload: Array(payload.utf8), cursor: nil, endsTransaction: true, actions: &actions)
  }

  mutating func fail(_ number: Int, _ errors: String) {
    machine.fail(number, errors: Array(errors.utf8), actions: &actions)
  }

  mutating func pass(_ duration: Duration) {
    now = now + duration
    machine.reachedDeadline(at: now, actions: &actions)
  }

  mutating func take() -> [Heard] {
    defer { actions = [] }
    return actions.map(Heard.init)
  }
}

extension Heard {
  init(_ action: SubscriptionServerAction) {
    switch action {
    case .authenticate(let payload): self = .authenticate(payload)
    case .renew(let credentials): self = .renew(credentials)
    case .start(let number, let id, let request): self = .start(number, id.text, request.query)
    case .stop(let number): self = .stop(number)
    case .send(let text): self = .send(String(decoding: text, as: UTF8.self))
    case .tellPosition: self = .tellPosition
    case .violated(let what): self = .violated(what)
    case .close(let close): self = .close(Int(close.code.rawValue), close.reason)
    }
  }
}

/// One client machine of any dialect.
struct DialectClient {
  var machine: any SubscriptionClientMachine
  var actions: [SubscriptionClientAction] = []
  var now = Instant.zero

  init(_ machine: any SubscriptionClientMachine) {
    self.machine = machine
  }

  static var graphqlWS: DialectClient { DialectClient(GraphQLWS.ClientMachine()) }
  static var appSync: DialectClient { DialectClient(AppSyncRealtime.ClientMachine()) }

  /// The same in an acknowledged session, with nothing left to read.
  func opened(payload: JSONObject? = nil) -> DialectClient {
    var client = self
    client.open(payload)
    client.receive(
      machine.dialect == .appSync
        ? #"{"type":"connection_ack","payload":{"connectionTimeoutMs":300000}}"# : #"{"type":"connection_ack"}"#)
    client.actions = []
    return client
  }

  mutating func open(_ payload: JSONObject? = nil) {
    machine.opened(payload: payload, at: now, actions: &actions)
  }

  mutating func start(
    _ id: String, _ request: RequestPayload = RequestPayload(query: "{a}"), repetition: OperationRepetition = .always
  ) throws {
    machine.start(try identifier(id), request, repetition: repetition, position: .init(), at: now, actions: &actions)
  }

  mutating func cancel(_ id: String) throws {
    machine.cancel(try identifier(id), actions: &actions)
  }

  mutating func receive(_ texts: String...) {
    for text in texts { machine.receive(Array(text.utf8), at: now, actions: &actions) }
  }

  mutating func disconnect() { machine.disconnected(actions: &actions) }

  mutating func pass(_ duration: Duration) {
    now = now + duration
    machine.reachedDeadline(at: now, actions: &actions)
  }

  mutating func take() -> [Told] {
    defer { actions = [] }
    return actions.map(Told.init)
  }
}

/// What a client machine said, readable.
enum Told: Equatable {
  case send(String)
  case acknowledged
  case alive
  case started(String)
  case confirmed(String)
  case ready(String)
  case next(String, String)
  case gap(String)
  case failed(String, [String])
  case unauthorized(String)
  case violated(String, String)
  case completed(String)
  case lost(String)
  case refused(ConnectionRetry, [String])
  case mismatched(String)
  case close(Int)

  init(_ action: SubscriptionClientAction) {
    switch action {
    case .send(let text): self = .send(String(decoding: text, as: UTF8.self))
    case .acknowledged: self = .acknowledged
    case .pinged, .ponged: self = .alive
    case .started(let id): self = .started(id.text)
    case .confirmed(let id): self = .confirmed(id.text)
    case .ready(let id, _): self = .ready(id.text)
    case .next(let id, let payload, _, _): self = .next(id.text, String(decoding: payload, as: UTF8.self))
    case .gap(let id, _): self = .gap(id.text)
    case .failed(let id, let errors): self = .failed(id.text, errors.map { $0["message"]?.string ?? "-" })
    case .unauthorized(let id, _): self = .unauthorized(id.text)
    case .violated(let id, let what): self = .violated(id.text, what)
    case .completed(let id): self = .completed(id.text)
    case .lost(let id): self = .lost(id.text)
    case .refused(let retry, let errors): self = .refused(retry, errors.map { $0["message"]?.string ?? "-" })
    case .mismatched(let answered): self = .mismatched(answered)
    case .close(let close): self = .close(Int(close.code.rawValue))
    }
  }
}
