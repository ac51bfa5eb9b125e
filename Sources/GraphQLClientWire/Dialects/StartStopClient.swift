import MartletJSON
import MartletVocabulary

/// What the clients of the two older dialects have in common: operations begin with `start`, end with `stop`, and are
/// answered by `data`, `error` and `complete`.
package struct StartStopClient: Sendable {
  private(set) var phase = ClientPhase.disconnected
  /// Messages for operations this client no longer knows: they crossed our `stop`, or confirm it.
  private(set) var strayMessages = 0
  /// When the last bytes of the server arrived.
  private(set) var lastHeard = Instant.zero
  private var table = ClientOperationTable()

  var operationCount: Int { table.count }
  /// What the server of this session can know, in order.
  var sent: [OperationID] { table.inOrder.filter { table.isSent($0) } }

  // MARK: Sessions

  mutating func opened(at now: Instant, acknowledgementTimeout: Duration) {
    precondition(phase == .disconnected, "one socket at a time")
    phase = .waitingForAcknowledgement(deadline: now + acknowledgementTimeout)
    lastHeard = now
  }

  /// The server acknowledged: what has to be sent, in order. Nil unless that was awaited.
  mutating func acknowledge() -> [OperationID]? {
    guard case .waitingForAcknowledgement = phase else { return nil }
    phase = .open
    return table.inOrder
  }

  /// Nothing more is read on this socket.
  mutating func give(up action: SubscriptionClientAction, _ actions: inout [SubscriptionClientAction]) {
    phase = .disconnected
    actions.append(action)
  }

  mutating func disconnected(_ actions: inout [SubscriptionClientAction]) {
    phase = .disconnected
    for id in table.endSession() { actions.append(.lost(id)) }
  }

  // MARK: Operations

  mutating func add(_ id: OperationID, _ request: RequestPayload, _ repetition: OperationRepetition) {
    table.add(id, request, repetition)
  }

  /// An operation is about to be sent: what it asks for.
  mutating func markSent(_ id: OperationID) -> RequestPayload? {
    table.markSent(id)
    return table[id]?.request
  }

  mutating func cancel(_ id: OperationID, _ actions: inout [SubscriptionClientAction]) {
    guard let operation = table.remove(id) else { return }
    if operation.isSent, phase == .open { actions.append(.send(MessageWriting.stop(id))) }
  }

  // MARK: The server speaks

  /// The next message and its type; nil when the session is over, perhaps by this message.
  mutating func read(
    _ text: [UInt8], _ limits: JSONLimits, at now: Instant, _ actions: inout [SubscriptionClientAction]
  ) -> (type: String, root: JSONTape.Element)? {
    if phase == .disconnected { return nil }
    lastHeard = now
    do throws(ConnectionClose) {
      let root = try MessageParsing.root(text, limits) { .badResponse($0) }
      guard let type = root["type"]?.string else { throw .badResponse("Message without type") }
      return (type, root)
    } catch {
      give(up: .close(error), &actions)
      return nil
    }
  }

  /// A message about one operation: `data`, `error`, `complete`, or the `start_ack` of the dialect that has it.
  mutating func receive(_ type: String, _ root: JSONTape.Element, _ actions: inout [SubscriptionClientAction]) {
    guard phase == .open else {
      return give(up: .close(.badResponse("The first message must be the acknowledgement")), &actions)
    }
    guard let id = MessageParsing.id(root) else {
      return give(up: .close(.badResponse("Message \(type) without id")), &actions)
    }
    guard table.isSent(id) else {
      strayMessages += 1
      return
    }
    switch type {
    case "start_ack": actions.append(.confirmed(id))
    case "data": receive(data: root["payload"], of: id, &actions)
    case "error": receive(errors: Refusals.errors(root["payload"]), of: id, &actions)
    default:
      _ = table.remove(id)
      actions.append(.completed(id))
    }
  }

  private mutating func receive(
    data payload: JSONTape.Element?, of id: OperationID, _ actions: inout [SubscriptionClientAction]
  ) {
    guard let payload, payload.kind == .object else {
      _ = table.remove(id)
      // The server does not know that this operation is over for us.
      actions.append(.send(MessageWriting.stop(id)))
      return actions.append(.violated(id, "data whose payload is not an object"))
    }
    actions.append(.next(id, payload: [UInt8](payload.rawBytes), cursor: nil))
  }

  private mutating func receive(
    errors: [JSONValue], of id: OperationID, _ actions: inout [SubscriptionClientAction]
  ) {
    if errors.contains(where: { Refusals.isUnauthorized($0) }) {
      // It has not been executed: it may be sent again.
      table.markSent(id, false)
      return actions.append(.unauthorized(id, errors: errors))
    }
    _ = table.remove(id)
    actions.append(.failed(id, errors: errors))
  }

  // MARK: Time

  /// - Parameter silence: how long an open session may stay without a message; nil for ever.
  func nextDeadline(silence: Duration?) -> Instant? {
    switch phase {
    case .disconnected: nil
    case .waitingForAcknowledgement(let deadline): deadline
    case .open: silence.map { lastHeard + $0 }
    }
  }

  mutating func reachedDeadline(silence: Duration?, at now: Instant, _ actions: inout [SubscriptionClientAction]) {
    guard let deadline = nextDeadline(silence: silence), now >= deadline else { return }
    switch phase {
    case .disconnected: break
    case .waitingForAcknowledgement: give(up: .close(.acknowledgementTimeout), &actions)
    case .open: give(up: .close(.silent), &actions)
    }
  }
}
