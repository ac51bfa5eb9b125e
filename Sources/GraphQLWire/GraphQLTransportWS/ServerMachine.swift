package import MartletJSON
package import MartletVocabulary
package import MartletWire

extension GraphQLTransportWS {
  package typealias ServerAction = SubscriptionServerAction

  /// The server's end of one connection.
  ///
  /// Operations are named by numbers that are never used twice: a result that comes late for a cancelled operation
  /// cannot reach a new one under the same id. For a fan-out: keep `NextMessage.prefix`, look at `isOpen`, and write
  /// prefix, payload and suffix into one frame; an operation that ended has been reported by `.stop` or ended by this
  /// side.
  package struct ServerMachine: SubscriptionServerMachine {
    package typealias Phase = ServerPhase

    /// What both ends agreed to add to the plain protocol; nothing before the acknowledgement.
    package private(set) var continuity = Continuity.none
    package let limits: ServerLimits
    private let offers: Continuity
    private var asked = Continuity.none
    private var session: ServerSession
    private var positionDue: Instant?

    package var dialect: Dialect? { .graphqlTransportWS }
    package var phase: Phase { session.phase }

    /// - Parameter offers: what this server is able to add for clients that ask.
    package init(limits: ServerLimits = ServerLimits(), offers: Continuity = .all, at now: Instant) {
      self.limits = limits
      self.offers = offers
      session = ServerSession(until: now + limits.initialisationTimeout)
    }

    /// Whether operations may be answered.
    package var isOpen: Bool { session.isOpen }
    /// Operations that run or are being prepared.
    package var operationCount: Int { session.operationCount }

    // MARK: The client speaks

    package var reader: ClientTextReader {
      let json = limits.json
      return ClientTextReader { text in
        .transportWS(Result { () throws(Close) in try ClientMessage(parsing: text, limits: json) })
      }
    }

    package mutating func receive(_ text: ClientText, at now: Instant, actions: inout [ServerAction]) {
      guard phase != .closed, case .transportWS(let message) = text else { return }
      do throws(Close) {
        try handle(message.get(), at: now, &actions)
      } catch {
        violated(error, &actions)
      }
    }

    /// A binary message arrived, which the protocol does not know.
    package mutating func receivedBinary(actions: inout [ServerAction]) {
      violated(.badRequest("Messages are text"), &actions)
    }

    /// Every broken rule ends the connection.
    private mutating func violated(_ close: Close, _ actions: inout [ServerAction]) {
      if phase == .closed { return }
      actions.append(.violated(close.reason))
      self.close(close, &actions)
    }

    private mutating func handle(
      _ message: ClientMessage, at now: Instant, _ actions: inout [ServerAction]
    ) throws(Close) {
      switch message {
      case .connectionInit(let payload):
        guard session.initialise() else { throw .tooManyInitialisations }
        asked = Continuity(payload: payload)
        actions.append(.authenticate(payload: payload))
      case .ping(let payload):
        // Credentials are not sent back, and mean nothing on a connection that has not been accepted.
        guard let credentials = payload?["martlet"]?["credentials"]?.object else {
          return actions.append(.send(ServerMessage.pongText(payload)))
        }
        if isOpen { actions.append(.renew(credentials: credentials)) } else { renewed(false, actions: &actions) }
      case .pong: break
      case .subscribe(let id, let request): try subscribe(id, request, &actions)
      case .complete(let id):
        // Unknown ids crossed our own end on the wire. Never confirmed.
        _ = session.stop(id, &actions)
      }
    }

    private mutating func subscribe(
      _ id: OperationID, _ request: RequestPayload, _ actions: inout [ServerAction]
    ) throws(Close) {
      guard phase == .open else { throw .unauthorized }
      guard id.text.utf8.count <= limits.idBytes else { throw .badRequest("The id is too long") }
      guard session.number(of: id) == nil else { throw .duplicate(id) }
      guard operationCount < limits.operations else {
        actions.append(.violated(Refusals.tooManyOperationsReason(limits.operations)))
        let error = JSONValue.object(Refusals.tooManyOperations(limits.operations))
        actions.append(.send(MessageWriting.error(id, payload: .array([error]))))
        return
      }
      actions.append(.start(number: session.reserve(id), id, request))
    }

    /// The connection is gone, by whatever cause.
    package mutating func connectionEnded(actions: inout [ServerAction]) {
      positionDue = nil
      session.end(&actions)
    }

    private mutating func close(_ close: Close, _ actions: inout [ServerAction]) {
      if phase == .closed { return }
      connectionEnded(actions: &actions)
      actions.append(.close(close))
    }

    // MARK: The server speaks

    /// The credentials are good: acknowledges. `payload` goes into the acknowledgement.
    package mutating func accept(payload: JSONObject? = nil, at now: Instant, actions: inout [ServerAction]) {
      guard session.open() else { return }
      continuity = asked.intersection(offers)
      if continuity.cursors, let interval = limits.positionInterval { positionDue = now + interval }
      actions.append(.send(ServerMessage.acknowledgementText(continuity.added(to: payload))))
    }

    /// The credentials are not good: closes with 4403.
    package mutating func refuse(_ reason: String = "Forbidden", actions: inout [ServerAction]) {
      close(.forbidden(reason), &actions)
    }

    package func renewed(_ isAccepted: Bool, actions: inout [ServerAction]) {
      actions.append(.send(ServerMessage.pongText(["martlet": ["credentials": .bool(isAccepted)]])))
    }

    package func warn(_ left: Duration, actions: inout [ServerAction]) {
      guard isOpen, continuity.cursors else { return }
      actions.append(.send(ServerMessage.warningText(left)))
    }

    /// Ends the connection with any code, for example 1001 at shutdown or 4500.
    package mutating func end(_ code: WebSocketCloseCode, _ reason: String, actions: inout [ServerAction]) {
      close(Close(code, reason), &actions)
    }

    /// The id of operation `number` while it runs.
    package func id(of number: Int) -> OperationID? { session.id(of: number) }

    /// One result, for queries, mutations and streams alike. Nothing is sent for an operation that has ended.
    package func next(
      _ number: Int, payload: [UInt8], cursor: Cursor? = nil, endsTransaction: Bool = true,
      actions: inout [ServerAction]
    ) {
      guard let id = id(of: number) else { return }
      let suffix =
        if continuity.cursors, let cursor {
          NextMessage.suffix(cursor, endsTransaction: endsTransaction)
        } else {
          NextMessage.plainSuffix
        }
      actions.append(.send(NextMessage.prefix(id) + payload + suffix))
    }

    /// The subscription is live, and has no place in the log to say it with: its events come from a stream of the
    /// program's own. Only towards clients that asked; the plain protocol does not say so.
    package func live(_ number: Int, actions: inout [ServerAction]) {
      guard continuity.cursors, let id = id(of: number) else { return }
      actions.append(.send(ServerMessage.readyText(id, nil)))
    }

    package func eventPrefix(_ id: OperationID) -> [UInt8] { NextMessage.prefix(id) }

    /// Everything up to `cursor` has been sent and every later event will be. Only towards clients that asked.
    package func ready(_ number: Int, _ cursor: Cursor, view: String?, actions: inout [ServerAction]) {
      guard continuity.cursors, let id = id(of: number) else { return }
      actions.append(.send(ServerMessage.readyText(id, cursor, view)))
    }

    /// A hole that nothing can fill. Only towards clients that asked.
    package func gap(_ number: Int, _ gap: SubscriptionGap, actions: inout [ServerAction]) {
      guard continuity.cursors, let id = id(of: number) else { return }
      actions.append(.send(ServerMessage.gapText(id, gap)))
    }

    /// The operation has ended well.
    package mutating func complete(_ number: Int, actions: inout [ServerAction]) {
      guard let id = session.finish(number) else { return }
      actions.append(.send(MessageWriting.complete(id)))
    }

    /// The operation has failed; `errors` is a list in JSON that is not empty. No `complete` follows.
    package mutating func fail(_ number: Int, errors: [UInt8], actions: inout [ServerAction]) {
      guard let id = session.finish(number) else { return }
      actions.append(.send(ServerMessage.errorText(id, errors: errors)))
    }

    /// Notifies a negotiated client how far its events have been sent, and asks for a sign of life.
    package mutating func sendPosition(_ cursor: Cursor, at now: Instant, actions: inout [ServerAction]) {
      guard isOpen, continuity.cursors else { return }
      if let interval = limits.positionInterval { positionDue = now + interval }
      actions.append(.send(ServerMessage.positionText(cursor)))
    }

    // MARK: Time

    /// When `reachedDeadline` wants to be called.
    package var nextDeadline: Instant? {
      switch phase {
      case .waitingForInit(let deadline): deadline
      case .open: positionDue
      case .authenticating, .closed: nil
      }
    }

    /// Time has passed.
    package mutating func reachedDeadline(at now: Instant, actions: inout [ServerAction]) {
      guard let deadline = nextDeadline, now >= deadline else { return }
      switch phase {
      case .waitingForInit: violated(.initialisationTimeout, &actions)
      case .open:
        positionDue = limits.positionInterval.map { now + $0 }
        actions.append(.tellPosition)
      case .authenticating, .closed: break
      }
    }
  }
}
