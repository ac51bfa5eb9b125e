package import MartletJSON
package import MartletVocabulary
package import MartletWire

/// The server's end of the two older dialects: `connection_init`, `start` and `stop`, answered by `data`, `error` and
/// `complete`. What a dialect has of its own are its words and when a `start` is accepted.
package protocol StartStopServerMachine: SubscriptionServerMachine {
  var state: StartStopServer { get set }
  /// Whether messages before the acknowledgement are processed; other dialects ignore them.
  static var hearsEarly: Bool { get }
  /// What a connection that is refused is closed with.
  static var refusalCode: WebSocketCloseCode { get }
  /// What a client that floods is closed with.
  static var floodCode: WebSocketCloseCode { get }

  /// Reads the payload of a `start`; nil when it has none.
  static func read(_ payload: JSONTape.Element?, _ limits: JSONLimits) throws(GraphQLRequestError) -> StartStopRequest?
  /// A `start` arrived; its id is within the limit. `request` is nil when it has no payload.
  mutating func start(
    _ id: OperationID, _ request: Result<StartStopRequest, GraphQLRequestError>?,
    _ actions: inout [SubscriptionServerAction])
  /// A `stop` arrived for an operation that does not run.
  mutating func stopUnknown(_ id: OperationID)
  /// A message arrived before the acknowledgement, in a dialect that ignores such messages.
  mutating func cameEarly(_ text: StartStopText, _ type: String?, at now: Instant)

  func acknowledgement(_ payload: JSONObject?) -> [UInt8]
  static func answer(_ fault: StartStopFault, _ what: String, _ id: OperationID?) -> [UInt8]
  static func connectionError(_ refusal: StartStopRefusal, _ reason: String) -> [UInt8]
  /// A list of errors as the payload of `error`.
  static func errorPayload(_ errors: [UInt8]) -> JSONValue
}

extension StartStopServerMachine {
  package var continuity: Continuity { .none }
  package var phase: ServerPhase { state.session.phase }
  package var isOpen: Bool { state.session.isOpen }
  package func eventPrefix(_ id: OperationID) -> [UInt8] { MessageWriting.eventPrefix(id, "data") }

  package mutating func stopUnknown(_ id: OperationID) {}
  package mutating func cameEarly(_ text: StartStopText, _ type: String?, at now: Instant) {}

  // MARK: The client speaks

  package var reader: ClientTextReader {
    let json = state.limits.json
    return ClientTextReader { text in
      .startStop(
        StartStopText(text, json) { payload throws(GraphQLRequestError) in try Self.read(payload, json) })
    }
  }

  package mutating func receive(_ text: ClientText, at now: Instant, actions: inout [SubscriptionServerAction]) {
    guard phase != .closed, case .startStop(let text) = text else { return }
    do throws(ConnectionClose) {
      handle(text, try text.root.get(), at: now, &actions)
    } catch {
      violated(.unreadable, error.reason, nil, &actions)
    }
  }

  package mutating func receivedBinary(actions: inout [SubscriptionServerAction]) {
    if phase != .closed { violated(.unreadable, "Messages are text", nil, &actions) }
  }

  private mutating func handle(
    _ text: StartStopText, _ root: JSONTape.Element, at now: Instant, _ actions: inout [SubscriptionServerAction]
  ) {
    let type = root["type"]?.string
    if type == "connection_init" { return initialise(root["payload"], &actions) }
    guard isOpen || Self.hearsEarly else { return cameEarly(text, type, at: now) }
    let id = MessageParsing.spelledID(root)
    switch type {
    case "start":
      guard let id else { return violated(.malformed, "start without id", nil, &actions) }
      guard id.text.utf8.count <= state.limits.idBytes else {
        return violated(.malformed, "The id is too long", nil, &actions)
      }
      start(id, text.start, &actions)
    case "stop":
      guard let id else { return violated(.malformed, "stop without id", nil, &actions) }
      guard state.stop(id, &actions) else { return stopUnknown(id) }
      actions.append(.send(MessageWriting.complete(id)))
    // The older protocol's; clients made for both send it to AppSync, too.
    case "connection_terminate": close(ConnectionClose(.normal, ""), &actions)
    default:
      // The older protocol's own words, then which type it was.
      violated(.unknownType, "Invalid message type! \(type ?? "none")", id, &actions)
    }
  }

  /// A broken rule is answered and the socket stays open, until there are too many.
  mutating func violated(
    _ fault: StartStopFault, _ what: String, _ id: OperationID?, _ actions: inout [SubscriptionServerAction]
  ) {
    actions.append(.violated(what))
    actions.append(.send(Self.answer(fault, what, id)))
    if !state.countFault() { close(ConnectionClose(Self.floodCode, "Too many malformed messages"), &actions) }
  }

  private mutating func initialise(_ payload: JSONTape.Element?, _ actions: inout [SubscriptionServerAction]) {
    guard state.countInitialisation() else {
      let reason = "Too many initialisation requests"
      actions.append(.violated(reason))
      actions.append(.send(Self.connectionError(.flood, reason)))
      return close(ConnectionClose(Self.floodCode, reason), &actions)
    }
    state.isInitialisedByStart = false
    if state.session.initialise() {
      _ = state.takeEarly()
      actions.append(.authenticate(payload: payload?.value.object))
    } else if isOpen {
      // A repeated `connection_init` is acknowledged again, and may bring other credentials.
      let credentials = payload?.value.object ?? JSONObject()
      if credentials.isEmpty { return actions.append(.send(acknowledgement(nil))) }
      actions.append(.renew(credentials: credentials))
    }
  }

  package mutating func renewed(_ isAccepted: Bool, actions: inout [SubscriptionServerAction]) {
    guard isOpen else { return }
    if isAccepted { actions.append(.send(acknowledgement(nil))) } else { refuse("Forbidden", actions: &actions) }
  }

  package mutating func connectionEnded(actions: inout [SubscriptionServerAction]) {
    forgetConnection(&actions)
  }

  mutating func forgetConnection(_ actions: inout [SubscriptionServerAction]) {
    state.keepAliveDue = nil
    state.unconfirmed = []
    _ = state.takeEarly()
    state.session.end(&actions)
  }

  mutating func close(_ close: ConnectionClose, _ actions: inout [SubscriptionServerAction]) {
    if phase == .closed { return }
    connectionEnded(actions: &actions)
    actions.append(.close(close))
  }

  // MARK: The server speaks

  package mutating func accept(
    payload: JSONObject?, at now: Instant, actions: inout [SubscriptionServerAction]
  ) {
    _ = acknowledge(payload, at: now, &actions)
  }

  /// Acknowledges an accepted client, if an acknowledgement was outstanding.
  mutating func acknowledge(
    _ payload: JSONObject?, at now: Instant, _ actions: inout [SubscriptionServerAction]
  ) -> Bool {
    guard state.session.open() else { return false }
    if !state.isInitialisedByStart { actions.append(.send(acknowledgement(payload))) }
    if let interval = state.limits.keepAliveInterval {
      state.keepAliveDue = now + interval
      actions.append(.send(MessageWriting.keepAlive))
    }
    for text in state.takeEarly() { receive(.startStop(text), at: now, actions: &actions) }
    return true
  }

  /// Says `connection_error` and closes.
  package mutating func refuse(_ reason: String, actions: inout [SubscriptionServerAction]) {
    refuse(.credentials, reason, &actions)
  }

  package mutating func withdraw(_ reason: String, actions: inout [SubscriptionServerAction]) {
    refuse(.withdrawn, reason, &actions)
  }

  private mutating func refuse(
    _ refusal: StartStopRefusal, _ reason: String, _ actions: inout [SubscriptionServerAction]
  ) {
    if phase == .closed { return }
    actions.append(.send(Self.connectionError(refusal, reason)))
    close(ConnectionClose(Self.refusalCode, reason), &actions)
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
    guard let id = state.session.id(of: number) else { return }
    actions.append(.send(eventPrefix(id) + payload + EventSuffix.plain))
  }

  package func gap(_ number: Int, _ gap: SubscriptionGap, actions: inout [SubscriptionServerAction]) {}
  package func sendPosition(_ cursor: Cursor, at now: Instant, actions: inout [SubscriptionServerAction]) {}

  package mutating func complete(_ number: Int, actions: inout [SubscriptionServerAction]) {
    guard let id = state.finish(number) else { return }
    actions.append(.send(MessageWriting.complete(id)))
  }

  package mutating func fail(_ number: Int, errors: [UInt8], actions: inout [SubscriptionServerAction]) {
    guard let id = state.finish(number) else { return }
    actions.append(.send(MessageWriting.error(id, payload: Self.errorPayload(errors))))
  }

  // MARK: Time

  package var nextDeadline: Instant? { state.nextDeadline }

  package mutating func reachedDeadline(at now: Instant, actions: inout [SubscriptionServerAction]) {
    guard let deadline = nextDeadline, now >= deadline else { return }
    switch phase {
    case .waitingForInit:
      // Of two deadlines that have passed, a late call serves the earlier one, as two calls in time would have.
      if let grace = state.graceEnds, grace == deadline {
        state.graceEnds = nil
        state.isInitialisedByStart = true
        if state.session.initialise() { actions.append(.authenticate(payload: nil)) }
        return
      }
      let close = ConnectionClose.initialisationTimeout
      actions.append(.violated(close.reason))
      refuse(.timeout, close.reason, &actions)
    case .open:
      if state.endsAt == deadline {
        return close(ConnectionClose(.goingAway, "The connection has reached its maximum lifetime"), &actions)
      }
      state.keepAliveDue = state.limits.keepAliveInterval.map { now + $0 }
      actions.append(.send(MessageWriting.keepAlive))
    case .authenticating, .closed: break
    }
  }
}
