package import MartletJSON
package import MartletVocabulary

extension SubscriptionsTransportWS {
  /// The server's end of one connection.
  ///
  /// Clients of this protocol do not wait for the acknowledgement: a `start` before it is held back and follows it.
  package struct ServerMachine: SubscriptionServerMachine {
    package typealias Phase = ServerPhase

    /// What came before the acknowledgement and is done behind it.
    private enum Held: Sendable {
      case start(OperationID, GraphQLRequest)
      case confirmStop(OperationID)

      var startedID: OperationID? {
        switch self {
        case .start(let id, _): id
        case .confirmStop: nil
        }
      }
    }

    package let limits: ServerLimits
    private var session: ServerSession
    private var held: [Held] = []
    private var initialisations = 0
    private var faults = 0
    private var keepAliveDue: Instant?

    package init(limits: ServerLimits = ServerLimits(), at now: Instant) {
      self.limits = limits
      session = ServerSession(until: now + limits.initialisationTimeout)
    }

    package var dialect: SubscriptionDialect? { .legacy }
    package var continuity: Continuity { .none }
    package var phase: Phase { session.phase }
    package var isOpen: Bool { session.isOpen }
    package var operationCount: Int { session.operationCount + held.count }
    package func eventPrefix(_ id: OperationID) -> [UInt8] { DataMessage.prefix(id) }

    // MARK: The client speaks

    package mutating func receive(_ text: [UInt8], at now: Instant, actions: inout [SubscriptionServerAction]) {
      if phase == .closed { return }
      let tape: JSONTape
      do throws(JSONError) {
        tape = try JSONTape(text, limits: limits.json)
      } catch {
        return violated("Invalid message: \(error)", &actions) { ServerText.unreadable($0) }
      }
      guard tape.root.kind == .object else {
        return violated("A message is a JSON object", &actions) { ServerText.unreadable($0) }
      }
      handle(tape.root, &actions)
    }

    package mutating func receivedBinary(actions: inout [SubscriptionServerAction]) {
      if phase == .closed { return }
      violated("Messages are text", &actions) { ServerText.unreadable($0) }
    }

    private mutating func handle(_ root: JSONTape.Element, _ actions: inout [SubscriptionServerAction]) {
      let id = root["id"]?.string.flatMap(OperationID.init)
      switch root["type"]?.string {
      case "connection_init": initialise(root["payload"], &actions)
      case "start":
        guard let id else { return violated("start without id", &actions) { ServerText.error(nil, $0) } }
        start(id, root["payload"], &actions)
      case "stop":
        guard let id else { return violated("stop without id", &actions) { ServerText.error(nil, $0) } }
        stop(id, &actions)
      case "connection_terminate": close(ConnectionClose(.normal, ""), &actions)
      case let type:
        // The protocol's own words, then which type it was.
        violated("Invalid message type! \(type ?? "none")", &actions) { ServerText.error(id, $0) }
      }
    }

    /// A broken rule is answered and the socket stays open, until there are too many.
    private mutating func violated(
      _ what: String, _ actions: inout [SubscriptionServerAction], _ answer: (String) -> [UInt8]
    ) {
      faults += 1
      actions.append(.violated(what))
      actions.append(.send(answer(what)))
      if faults > limits.faults { close(ConnectionClose(.protocolError, "Too many malformed messages"), &actions) }
    }

    private mutating func initialise(_ payload: JSONTape.Element?, _ actions: inout [SubscriptionServerAction]) {
      initialisations += 1
      guard initialisations <= limits.initialisations else {
        let reason = "Too many initialisation requests"
        actions.append(.violated(reason))
        actions.append(.send(ServerText.connectionError(reason)))
        return close(ConnectionClose(.protocolError, reason), &actions)
      }
      if session.initialise() {
        actions.append(.authenticate(payload: payload?.value.object))
      } else if isOpen {
        // Who has been let in is told so again.
        actions.append(.send(MessageWriting.plain("connection_ack", payload: nil)))
      }
    }

    private mutating func start(
      _ id: OperationID, _ payload: JSONTape.Element?, _ actions: inout [SubscriptionServerAction]
    ) {
      guard id.text.utf8.count <= limits.idBytes else {
        return violated("The id is too long", &actions) { ServerText.error(nil, $0) }
      }
      guard let payload else { return violated("start without payload", &actions) { ServerText.error(id, $0) } }
      let request: GraphQLRequest
      do throws(GraphQLRequestError) {
        request = try GraphQLRequest(payload)
      } catch {
        return violated("start: \(error)", &actions) { ServerText.error(id, $0) }
      }
      // The older operation of this name ends without a word.
      _ = session.stop(id, &actions)
      held.removeAll { $0.startedID == id }
      guard operationCount < limits.operations else {
        actions.append(.violated(Refusals.tooManyOperationsReason(limits.operations)))
        let payload = JSONValue.object(Refusals.tooManyOperations(limits.operations))
        return actions.append(.send(MessageWriting.error(id, payload: payload)))
      }
      if isOpen {
        actions.append(.start(number: session.reserve(id), id, request))
      } else {
        held.append(.start(id, request))
      }
    }

    private mutating func stop(_ id: OperationID, _ actions: inout [SubscriptionServerAction]) {
      if session.stop(id, &actions) != nil {
        actions.append(.send(MessageWriting.complete(id)))
      } else if let place = held.firstIndex(where: { $0.startedID == id }) {
        held[place] = .confirmStop(id)
      }
      // Otherwise it crossed our own end on the wire.
    }

    package mutating func connectionEnded(actions: inout [SubscriptionServerAction]) {
      keepAliveDue = nil
      held = []
      session.end(&actions)
    }

    private mutating func close(_ close: ConnectionClose, _ actions: inout [SubscriptionServerAction]) {
      if phase == .closed { return }
      connectionEnded(actions: &actions)
      actions.append(.close(close))
    }

    // MARK: The server speaks

    package mutating func accept(
      payload: JSONObject?, at now: Instant, actions: inout [SubscriptionServerAction]
    ) {
      guard session.open() else { return }
      actions.append(.send(MessageWriting.plain("connection_ack", payload: payload)))
      if let interval = limits.keepAliveInterval {
        keepAliveDue = now + interval
        actions.append(.send(MessageWriting.keepAlive))
      }
      let waiting = held
      held = []
      for item in waiting {
        switch item {
        case .start(let id, let request): actions.append(.start(number: session.reserve(id), id, request))
        case .confirmStop(let id): actions.append(.send(MessageWriting.complete(id)))
        }
      }
    }

    /// Says `connection_error` and closes with 1011, as the reference does.
    package mutating func refuse(_ reason: String, actions: inout [SubscriptionServerAction]) {
      if phase == .closed { return }
      actions.append(.send(ServerText.connectionError(reason)))
      close(ConnectionClose(.internalError, reason), &actions)
    }

    package mutating func end(
      _ code: WebSocketCloseCode, _ reason: String, actions: inout [SubscriptionServerAction]
    ) {
      close(ConnectionClose(code, reason), &actions)
    }

    package func next(
      _ number: Int, payload: [UInt8], cursor: Cursor? = nil, endsTransaction: Bool = true,
      actions: inout [SubscriptionServerAction]
    ) {
      guard let id = session.id(of: number) else { return }
      actions.append(.send(DataMessage.prefix(id) + payload + EventSuffix.plain))
    }

    /// The protocol does not say that a subscription is live.
    package func live(_ number: Int, actions: inout [SubscriptionServerAction]) {}
    package func ready(_ number: Int, _ cursor: Cursor, actions: inout [SubscriptionServerAction]) {}
    package func gap(_ number: Int, _ gap: SubscriptionGap, actions: inout [SubscriptionServerAction]) {}
    package func sendPosition(_ cursor: Cursor, at now: Instant, actions: inout [SubscriptionServerAction]) {}

    package mutating func complete(_ number: Int, actions: inout [SubscriptionServerAction]) {
      guard let id = session.finish(number) else { return }
      actions.append(.send(MessageWriting.complete(id)))
    }

    package mutating func fail(_ number: Int, errors: [UInt8], actions: inout [SubscriptionServerAction]) {
      guard let id = session.finish(number) else { return }
      actions.append(.send(MessageWriting.error(id, payload: ServerText.errorPayload(errors))))
    }

    // MARK: Time

    package var nextDeadline: Instant? {
      switch phase {
      case .waitingForInit(let deadline): deadline
      case .open: keepAliveDue
      case .authenticating, .closed: nil
      }
    }

    package mutating func reachedDeadline(at now: Instant, actions: inout [SubscriptionServerAction]) {
      guard let deadline = nextDeadline, now >= deadline else { return }
      switch phase {
      case .waitingForInit:
        let close = ConnectionClose.initialisationTimeout
        actions.append(.violated(close.reason))
        refuse(close.reason, actions: &actions)
      case .open:
        keepAliveDue = limits.keepAliveInterval.map { now + $0 }
        actions.append(.send(MessageWriting.keepAlive))
      case .authenticating, .closed: break
      }
    }
  }
}
