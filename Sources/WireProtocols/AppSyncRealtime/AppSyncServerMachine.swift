package import MartletJSON
package import MartletVocabulary

extension AppSyncRealtime {
  /// The server's end of one connection.
  ///
  /// A `.start` carries the subscription's own authorization under `extensions.authorization`; whoever
  /// carries it out looks at it first.
  package struct ServerMachine: SubscriptionServerMachine {
    package typealias Phase = ServerPhase

    package let limits: ServerLimits
    private var session: ServerSession
    /// Subscriptions that have not been confirmed yet.
    private var unconfirmed: Set<Int> = []
    private var initialisations = 0
    private var faults = 0
    private var keepAliveDue: Instant?
    private let endsAt: Instant?

    package init(limits: ServerLimits = ServerLimits(), at now: Instant) {
      self.limits = limits
      session = ServerSession(until: now + limits.initialisationTimeout)
      endsAt = limits.lifetime.map { now + $0 }
    }

    package var dialect: SubscriptionDialect? { .appSync }
    package var continuity: Continuity { .none }
    package var phase: Phase { session.phase }
    package var isOpen: Bool { session.isOpen }
    package var operationCount: Int { session.operationCount }
    package func eventPrefix(_ id: OperationID) -> [UInt8] { SubscriptionsTransportWS.DataMessage.prefix(id) }

    // MARK: The client speaks

    package mutating func receive(_ text: [UInt8], at now: Instant, actions: inout [SubscriptionServerAction]) {
      if phase == .closed { return }
      let tape: JSONTape
      do throws(JSONError) {
        tape = try JSONTape(text, limits: limits.json)
      } catch {
        return violated("Invalid message: \(error)", .badRequest, nil, &actions)
      }
      guard tape.root.kind == .object else {
        return violated("A message is a JSON object", .badRequest, nil, &actions)
      }
      handle(tape.root, &actions)
    }

    package mutating func receivedBinary(actions: inout [SubscriptionServerAction]) {
      if phase == .closed { return }
      violated("Messages are text", .badRequest, nil, &actions)
    }

    private mutating func handle(_ root: JSONTape.Element, _ actions: inout [SubscriptionServerAction]) {
      let type = root["type"]?.string
      if type == "connection_init" { return initialise(root["payload"], &actions) }
      // What comes before the acknowledgement is ignored, whatever it is.
      guard isOpen else { return }
      let id = root["id"]?.string.flatMap(OperationID.init)
      switch type {
      case "start":
        guard let id else { return violated("start without id", .badRequest, nil, &actions) }
        start(id, root["payload"], &actions)
      case "stop":
        guard let id else { return violated("stop without id", .badRequest, nil, &actions) }
        // An unknown id crossed our own end on the wire.
        guard let number = session.stop(id, &actions) else { return }
        unconfirmed.remove(number)
        actions.append(.send(MessageWriting.complete(id)))
      default: violated("Unknown message type \(type ?? "none")", .unsupported, id, &actions)
      }
    }

    /// A broken rule is answered and the socket stays open, until there are too many.
    private mutating func violated(
      _ what: String, _ type: ErrorType, _ id: OperationID?, _ actions: inout [SubscriptionServerAction]
    ) {
      faults += 1
      actions.append(.violated(what))
      actions.append(.send(ServerText.error(id, type, what)))
      if faults > limits.faults { close(ConnectionClose(.policyViolation, "Too many malformed messages"), &actions) }
    }

    private mutating func initialise(_ payload: JSONTape.Element?, _ actions: inout [SubscriptionServerAction]) {
      initialisations += 1
      guard initialisations <= limits.initialisations else {
        let reason = "Too many initialisation requests"
        actions.append(.violated(reason))
        actions.append(.send(ServerText.connectionError(.limitExceeded, reason)))
        return close(ConnectionClose(.policyViolation, reason), &actions)
      }
      if session.initialise() {
        actions.append(.authenticate(payload: payload?.value.object))
      } else if isOpen {
        // Who has been let in is told so again.
        actions.append(.send(ServerText.acknowledgement(limits.connectionTimeout)))
      }
    }

    private mutating func start(
      _ id: OperationID, _ payload: JSONTape.Element?, _ actions: inout [SubscriptionServerAction]
    ) {
      guard id.text.utf8.count <= limits.idBytes else {
        return violated("The id is too long", .badRequest, nil, &actions)
      }
      guard session.number(of: id) == nil else {
        return violated("A subscription with id \(id) exists already", .duplicate, id, &actions)
      }
      guard operationCount < limits.operations else {
        let message = "This connection has \(limits.operations) subscriptions already"
        actions.append(.violated(message))
        return actions.append(.send(ServerText.error(id, .tooManySubscriptions, message)))
      }
      let message: StartMessage
      do throws(GraphQLRequestError) {
        message = try StartMessage(payload, limits.json)
      } catch {
        return violated("start: \(error)", .badRequest, id, &actions)
      }
      var request = message.request
      if let authorization = message.authorization { request.extensions["authorization"] = .object(authorization) }
      let number = session.reserve(id)
      unconfirmed.insert(number)
      actions.append(.start(number: number, id, request))
    }

    package mutating func connectionEnded(actions: inout [SubscriptionServerAction]) {
      keepAliveDue = nil
      unconfirmed = []
      session.end(&actions)
    }

    private mutating func close(_ close: ConnectionClose, _ actions: inout [SubscriptionServerAction]) {
      if phase == .closed { return }
      connectionEnded(actions: &actions)
      actions.append(.close(close))
    }

    // MARK: The server speaks

    /// The acknowledgement's payload is the protocol's own.
    package mutating func accept(
      payload: JSONObject?, at now: Instant, actions: inout [SubscriptionServerAction]
    ) {
      guard session.open() else { return }
      keepAliveDue = now + limits.keepAliveInterval
      actions.append(.send(ServerText.acknowledgement(limits.connectionTimeout)))
      actions.append(.send(MessageWriting.keepAlive))
    }

    /// Says `connection_error` with `UnauthorizedException` and closes.
    package mutating func refuse(_ reason: String, actions: inout [SubscriptionServerAction]) {
      refuse(.unauthorized, reason, &actions)
    }

    private mutating func refuse(
      _ type: ErrorType, _ reason: String, _ actions: inout [SubscriptionServerAction]
    ) {
      if phase == .closed { return }
      actions.append(.send(ServerText.connectionError(type, reason)))
      close(ConnectionClose(.policyViolation, reason), &actions)
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
      actions.append(.send(eventPrefix(id) + payload + EventSuffix.plain))
    }

    /// Sends `start_ack`, once.
    package mutating func live(_ number: Int, actions: inout [SubscriptionServerAction]) {
      guard unconfirmed.remove(number) != nil, let id = session.id(of: number) else { return }
      actions.append(.send(ServerText.startAcknowledgement(id)))
    }

    package mutating func ready(_ number: Int, _ cursor: Cursor, actions: inout [SubscriptionServerAction]) {
      live(number, actions: &actions)
    }

    package func gap(_ number: Int, _ gap: SubscriptionGap, actions: inout [SubscriptionServerAction]) {}
    package func sendPosition(_ cursor: Cursor, at now: Instant, actions: inout [SubscriptionServerAction]) {}

    package mutating func complete(_ number: Int, actions: inout [SubscriptionServerAction]) {
      guard let id = forget(number) else { return }
      actions.append(.send(MessageWriting.complete(id)))
    }

    package mutating func fail(_ number: Int, errors: [UInt8], actions: inout [SubscriptionServerAction]) {
      guard let id = forget(number) else { return }
      actions.append(.send(MessageWriting.error(id, payload: ServerText.errorPayload(errors))))
    }

    private mutating func forget(_ number: Int) -> OperationID? {
      unconfirmed.remove(number)
      return session.finish(number)
    }

    // MARK: Time

    package var nextDeadline: Instant? {
      switch phase {
      case .waitingForInit(let deadline): return deadline
      case .open:
        guard let keepAliveDue else { return endsAt }
        return endsAt.map { min($0, keepAliveDue) } ?? keepAliveDue
      case .authenticating, .closed: return nil
      }
    }

    package mutating func reachedDeadline(at now: Instant, actions: inout [SubscriptionServerAction]) {
      guard let deadline = nextDeadline, now >= deadline else { return }
      switch phase {
      case .waitingForInit:
        let close = ConnectionClose.initialisationTimeout
        actions.append(.violated(close.reason))
        refuse(.timeout, close.reason, &actions)
      case .open:
        if let endsAt, now >= endsAt {
          return close(ConnectionClose(.goingAway, "The connection has lived for its longest"), &actions)
        }
        keepAliveDue = now + limits.keepAliveInterval
        actions.append(.send(MessageWriting.keepAlive))
      case .authenticating, .closed: break
      }
    }
  }
}
