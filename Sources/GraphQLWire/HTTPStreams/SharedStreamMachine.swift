package import MartletJSON
package import MartletVocabulary
package import MartletWire

/// Bounds of one event stream that several operations share.
package struct SharedStreamLimits: Sendable {
  /// Operations at a time; as many as a socket carries.
  package var operations = 100
  /// Bytes of an operation's id. Clients use UUIDs or numbers.
  package var idBytes = 256
  /// Between signs of life.
  package var heartbeatInterval = Duration.seconds(10)
  /// Between positions, for operations that follow cursors.
  package var positionInterval: Duration? = .seconds(20)

  package init() {}
}

/// The server's end of one event stream in the single connection mode of GraphQL over server-sent events: operations
/// come by requests of their own and are answered here, each event with its operation's id.
package struct SharedStreamMachine: SubscriptionServerMachine {
  /// What became of an operation that wants to run on the stream.
  package enum Admission: Sendable, Equatable {
    case started
    case idInUse
    case tooMany
    case idTooLong
    /// The stream has ended.
    case closed
  }

  package let limits: SharedStreamLimits
  package private(set) var isOpen = true
  private var table = ServerOperationTable()
  /// Operations that asked for cursors.
  private var following: Set<Int> = []
  private var heartbeatDue: Instant?
  private var positionDue: Instant?

  package init(limits: SharedStreamLimits = SharedStreamLimits(), at now: Instant) {
    self.limits = limits
    heartbeatDue = now + limits.heartbeatInterval
  }

  package var dialect: Dialect? { nil }
  package var continuity: Continuity { .none }
  package func continuity(of number: Int) -> Continuity { Continuity(cursors: following.contains(number)) }
  package var operationCount: Int { table.count }
  package var nextDeadline: Instant? { [heartbeatDue, positionDue].compactMap { $0 }.min() }

  // MARK: Requests of the client

  /// An operation arrived. Its id is reserved before anything else is done for it.
  package mutating func subscribe(
    _ id: OperationID, _ request: RequestPayload, at now: Instant, actions: inout [SubscriptionServerAction]
  ) -> Admission {
    guard isOpen else { return .closed }
    guard id.text.utf8.count <= limits.idBytes else { return .idTooLong }
    guard table.number(of: id) == nil else { return .idInUse }
    guard table.count < limits.operations else { return .tooMany }
    let number = table.reserve(id)
    if let continuity = try? RequestContinuity(extensions: request.extensions), continuity.followsCursors {
      following.insert(number)
      if positionDue == nil { positionDue = limits.positionInterval.map { now + $0 } }
    }
    actions.append(.start(number: number, id, request))
    return .started
  }

  /// The client wants no more of an operation; unknown ids crossed their own end.
  package mutating func stop(_ id: OperationID, actions: inout [SubscriptionServerAction]) {
    guard let number = table.number(of: id) else { return }
    _ = forget(number)
    actions.append(.stop(number: number))
  }

  package var reader: ClientTextReader { ClientTextReader { _ in .none } }
  package func receive(_ text: ClientText, at now: Instant, actions: inout [SubscriptionServerAction]) {}
  package func receivedBinary(actions: inout [SubscriptionServerAction]) {}

  package mutating func connectionEnded(actions: inout [SubscriptionServerAction]) {
    guard isOpen else { return }
    isOpen = false
    heartbeatDue = nil
    positionDue = nil
    following = []
    for number in table.removeAll() { actions.append(.stop(number: number)) }
  }

  // MARK: The server

  /// The stream may begin: its first bytes.
  package func accept(payload: JSONObject?, at now: Instant, actions: inout [SubscriptionServerAction]) {
    if isOpen { actions.append(.send(EventStreamSubscription.Writing.opening)) }
  }

  package mutating func refuse(_ reason: String, actions: inout [SubscriptionServerAction]) {
    end(.internalError, reason, actions: &actions)
  }

  /// Ends the stream before its operations have: each gets a last result, which no `complete` follows.
  package mutating func end(
    _ code: WebSocketCloseCode, _ reason: String, actions: inout [SubscriptionServerAction]
  ) {
    guard isOpen else { return }
    let errors: JSONValue = [["message": .string(reason), "extensions": ["code": "STREAM_ENDED"]]]
    let payload = JSONValue.object(["errors": errors]).serialized()
    let numbers = table.numbersInOrder
    for number in numbers { send(payload, for: number, &actions) }
    connectionEnded(actions: &actions)
    actions.append(.close(ConnectionClose(code, reason)))
  }

  private func send(_ payload: [UInt8], for number: Int, _ actions: inout [SubscriptionServerAction]) {
    guard let id = table.id(of: number) else { return }
    actions.append(.send(Self.prefix(id) + payload + Self.suffix))
  }

  private func say(_ what: ResultContinuity, _ number: Int, _ actions: inout [SubscriptionServerAction]) {
    if following.contains(number) { send(what.payload, for: number, &actions) }
  }

  package func next(
    _ number: Int, payload: [UInt8], cursor: Cursor?, endsTransaction: Bool, actions: inout [SubscriptionServerAction]
  ) {
    guard following.contains(number), let cursor else { return send(payload, for: number, &actions) }
    send(ResultContinuity.marked(payload, cursor, endsTransaction: endsTransaction), for: number, &actions)
  }

  package func live(_ number: Int, actions: inout [SubscriptionServerAction]) { say(.ready(nil), number, &actions) }

  package func ready(
    _ number: Int, _ cursor: Cursor, view: String?, actions: inout [SubscriptionServerAction]
  ) {
    say(.ready(cursor, view: view), number, &actions)
  }

  package func gap(_ number: Int, _ gap: SubscriptionGap, actions: inout [SubscriptionServerAction]) {
    say(.gap(gap), number, &actions)
  }

  package mutating func sendPosition(_ cursor: Cursor, at now: Instant, actions: inout [SubscriptionServerAction]) {
    for number in following.sorted() { say(.position(cursor), number, &actions) }
  }

  package mutating func complete(_ number: Int, actions: inout [SubscriptionServerAction]) {
    guard let id = forget(number) else { return }
    actions.append(.send(Self.end(id)))
  }

  package mutating func fail(_ number: Int, errors: [UInt8], actions: inout [SubscriptionServerAction]) {
    guard let id = forget(number) else { return }
    let payload = Array("{\"errors\":".utf8) + errors + Array("}".utf8)
    actions.append(.send(Self.prefix(id) + payload + Self.suffix + Self.end(id)))
  }

  private mutating func forget(_ number: Int) -> OperationID? {
    following.remove(number)
    if following.isEmpty { positionDue = nil }
    return table.remove(number)
  }

  // MARK: Time

  package mutating func reachedDeadline(at now: Instant, actions: inout [SubscriptionServerAction]) {
    if let due = positionDue, now >= due {
      positionDue = limits.positionInterval.map { now + $0 }
      actions.append(.tellPosition)
    }
    guard let due = heartbeatDue, now >= due else { return }
    heartbeatDue = now + limits.heartbeatInterval
    actions.append(.send(EventStreamSubscription.Writing.heartbeat))
  }

  // MARK: Writing

  package func eventPrefix(_ id: OperationID) -> [UInt8] { Self.prefix(id) }

  /// Written after a result.
  package static let suffix = Array("}\n\n".utf8)

  private static func prefix(_ id: OperationID) -> [UInt8] {
    EventStreamSubscription.Writing.eventPrefix + Array("{\"id\":".utf8) + JSONValue.string(id.text).serialized()
      + Array(",\"payload\":".utf8)
  }

  private static func end(_ id: OperationID) -> [UInt8] {
    Array("event: complete\ndata: {\"id\":".utf8) + JSONValue.string(id.text).serialized() + Array("}\n\n".utf8)
  }
}
