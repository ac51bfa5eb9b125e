package import MartletJSON
package import MartletVocabulary

extension GraphQLTransportWS {
  package typealias ClientAction = SubscriptionClientAction
  package typealias Repetition = OperationRepetition

  /// The client's end of the protocol on one socket after another.
  ///
  /// Operations outlive sockets: `opened` starts a session, and its acknowledgement sends every open operation again,
  /// in order, under the same id and with the place it has reached. One socket at a time; when to open the next is
  /// decided elsewhere.
  package struct ClientMachine: SubscriptionClientMachine {
    package typealias Phase = ClientPhase

    /// One operation.
    private struct Operation {
      var id: OperationID
      var request: RequestPayload
      var position: SubscriptionPosition
      /// Whether the session's server said `ready`.
      var isReady = false
      /// Sent on this session.
      var isSent = false
      /// Sent on an earlier session.
      var wasSent = false
      var repetition: Repetition
      /// Its place in the order of sending.
      var order: Int
    }

    package private(set) var phase = Phase.disconnected
    /// What both ends agreed to add to the plain protocol, in this session.
    package private(set) var continuity = Continuity.none
    package let limits: ClientLimits
    /// Messages for operations this client no longer knows: they crossed our `complete`.
    package private(set) var strayMessages = 0
    /// Messages of types this client does not know.
    package private(set) var unknownMessages = 0
    /// Events dropped because they had been delivered before.
    package private(set) var repeats = 0
    private let wants: Continuity
    private var operations: [OperationID: Operation] = [:]
    private var lastOrder = 0
    private var lastHeard = Instant.zero
    private var pingSentAt: Instant?
    /// Whether this session's server has said something that only this protocol knows.
    private var isSureOfProtocol = false

    package var dialect: Dialect { .graphqlTransportWS }
    package var confirmsSubscriptions: Bool { continuity.cursors }

    /// - Parameter wants: what this client asks servers to add to the plain protocol.
    package init(limits: ClientLimits = ClientLimits(), wants: Continuity = .all) {
      self.limits = limits
      self.wants = wants
    }

    /// Operations that have not ended.
    package var operationCount: Int { operations.count }

    /// Where an open subscription stands.
    package func position(of id: OperationID) -> SubscriptionPosition? { operations[id]?.position }

    // MARK: Sessions

    /// A socket is open. `payload` is what `connection_init` carries, with fresh credentials.
    package mutating func opened(payload: JSONObject? = nil, at now: Instant, actions: inout [ClientAction]) {
      precondition(phase == .disconnected, "one socket at a time")
      phase = .waitingForAcknowledgement(deadline: now + limits.acknowledgementTimeout)
      continuity = .none
      isSureOfProtocol = false
      lastHeard = now
      pingSentAt = nil
      actions.append(.send(ClientMessage.connectionInit(payload: wants.added(to: payload)).serialized()))
    }

    /// Closing says it all.
    package func leaving(actions: inout [ClientAction]) {}

    /// The socket is gone; also to be called after a `.close` was carried out.
    package mutating func disconnected(actions: inout [ClientAction]) {
      for id in inOrder {
        guard var operation = operations[id] else { continue }
        if operation.isSent, !mayRepeat(operation) {
          end(id, .lost(id), &actions)
          continue
        }
        operation.wasSent = operation.wasSent || operation.isSent
        operation.isSent = false
        operation.isReady = false
        operations[id] = operation
      }
      phase = .disconnected
      continuity = .none
      pingSentAt = nil
    }

    private func mayRepeat(_ operation: Operation) -> Bool {
      switch operation.repetition {
      case .never: false
      case .always: true
      case .ifWritesAreAgreed: continuity.writes
      }
    }

    private var inOrder: [OperationID] {
      operations.values.sorted { $0.order < $1.order }.map(\.id)
    }

    // MARK: Operations

    /// Starts an operation: sent at once on an open session, otherwise after the next acknowledgement.
    ///
    /// - Parameters:
    ///   - id: unique among this client's open operations.
    ///   - repetition: whether it is sent again after a reconnect.
    ///   - position: the cursor a resumed subscription continues after.
    package mutating func start(
      _ id: OperationID, _ request: RequestPayload, repetition: Repetition, position: SubscriptionPosition = .init(),
      at now: Instant, actions: inout [ClientAction]
    ) {
      precondition(operations[id] == nil, "an id is unique among open operations")
      lastOrder += 1
      operations[id] = Operation(
        id: id, request: request, position: position, repetition: repetition, order: lastOrder)
      if phase == .open { send(id, &actions) }
    }

    /// Ends an operation on our side. Nothing of it is reported afterwards; what was never sent is not taken back.
    package mutating func cancel(_ id: OperationID, actions: inout [ClientAction]) {
      guard let operation = operations.removeValue(forKey: id) else { return }
      if operation.isSent, phase == .open { actions.append(.send(MessageWriting.complete(id))) }
    }

    /// Shows other credentials in a ping, which servers take that agreed to cursors.
    package mutating func renew(with credentials: JSONObject, actions: inout [ClientAction]) -> Bool {
      guard phase == .open, continuity.cursors else { return false }
      let payload: JSONObject = ["martlet": ["credentials": .object(credentials)]]
      actions.append(.send(ClientMessage.ping(payload: payload).serialized()))
      return true
    }

    private mutating func send(_ id: OperationID, _ actions: inout [ClientAction]) {
      guard var operation = operations[id] else { return }
      if operation.wasSent, !mayRepeat(operation) { return end(id, .lost(id), &actions) }
      operation.isSent = true
      operations[id] = operation
      var request = operation.request
      if operation.wasSent, operation.repetition == .ifWritesAreAgreed {
        request.extensions = RequestContinuity.resending(request.extensions)
      }
      if continuity.cursors, let cursor = operation.position.cursor {
        request.extensions = RequestContinuity(resume: cursor, view: operation.position.view)
          .added(to: request.extensions)
      }
      actions.append(.send(ClientMessage.subscribe(id, request).serialized()))
      actions.append(.started(id))
    }

    // MARK: The server speaks

    /// A text message arrived.
    package mutating func receive(_ text: [UInt8], at now: Instant, actions: inout [ClientAction]) {
      if phase == .disconnected { return }
      lastHeard = now
      pingSentAt = nil
      do throws(Close) {
        try handle(ServerMessage(parsing: text, limits: limits.json), &actions)
      } catch {
        give(up: error, &actions)
      }
    }

    /// Nothing more is read on this socket.
    private mutating func give(up close: Close, _ actions: inout [ClientAction]) {
      phase = .disconnected
      actions.append(.close(close))
    }

    private mutating func handle(_ message: ServerMessage, _ actions: inout [ClientAction]) throws(Close) {
      switch message {
      case .ping, .pong, .next, .ready, .gap: isSureOfProtocol = true
      case .connectionAck, .error, .complete, .malformed, .unknown: break
      }
      switch message {
      case .ping(let payload):
        actions.append(.send(ClientMessage.pong(payload: payload).serialized()))
        actions.append(.pinged(payload: payload))
        if continuity.cursors, let text = payload?["martlet"]?["cursor"]?.string, let cursor = Cursor(text) {
          for id in operations.keys where operations[id]?.isReady == true { operations[id]?.position.reached(cursor) }
        }
      case .pong(let payload): actions.append(.ponged(payload: payload))
      case .connectionAck(let payload): try acknowledge(payload, &actions)
      case .unknown(let type): unknown(type, &actions)
      case .next, .error, .complete, .ready, .gap, .malformed:
        guard phase == .open else { throw .badResponse("The first message must be the acknowledgement") }
        handleOperation(message, &actions)
      }
    }

    /// A message type outside this protocol; a type of the older protocol shows which one the server speaks.
    private mutating func unknown(_ type: String, _ actions: inout [ClientAction]) {
      guard !isSureOfProtocol, GraphQLWS.isTelling(type) else {
        unknownMessages += 1
        return
      }
      phase = .disconnected
      actions.append(.mismatched(answered: Dialect.graphqlWS.name))
    }

    private mutating func acknowledge(_ payload: JSONObject?, _ actions: inout [ClientAction]) throws(Close) {
      guard case .waitingForAcknowledgement = phase else { throw .badResponse("A second acknowledgement") }
      phase = .open
      continuity = wants.intersection(Continuity(payload: payload))
      actions.append(.acknowledged(payload: payload))
      for id in inOrder { send(id, &actions) }
    }

    private mutating func handleOperation(_ message: ServerMessage, _ actions: inout [ClientAction]) {
      switch message {
      case .next(let id, let payload, let cursor, let isPartial):
        guard isKnown(id) else { return }
        if continuity.cursors, let cursor {
          guard operations[id]?.position.isNew(cursor.offset) == true else {
            // Sent again after a resume in the middle of a transaction; its end still moves the place.
            operations[id]?.position.passed(cursor, endsTransaction: !isPartial)
            repeats += 1
            return
          }
          operations[id]?.position.passed(cursor, endsTransaction: !isPartial)
          actions.append(.next(id, payload: payload, cursor: cursor, endsTransaction: !isPartial))
        } else {
          actions.append(.next(id, payload: payload, cursor: nil))
        }
      case .ready(let id, let cursor, let view):
        guard isKnown(id) else { return }
        // Without a place it cannot resume, and the positions in pings are not its own.
        guard let cursor else { return actions.append(.confirmed(id)) }
        operations[id]?.isReady = true
        operations[id]?.position.reached(cursor)
        operations[id]?.position.view = view
        actions.append(.ready(id, cursor))
      case .gap(let id, let gap):
        guard isKnown(id) else { return }
        operations[id]?.position.jumped(over: gap)
        actions.append(.gap(id, gap))
      case .error(let id, let errors):
        if isKnown(id) { end(id, .failed(id, errors: errors), &actions) }
      case .complete(let id):
        if isKnown(id) { end(id, .completed(id), &actions) }
      case .malformed(let id, let what):
        guard isKnown(id) else { return }
        // The server does not know that this operation is over for us.
        actions.append(.send(MessageWriting.complete(id)))
        end(id, .violated(id, what), &actions)
      case .connectionAck, .ping, .pong, .unknown: break
      }
    }

    private mutating func isKnown(_ id: OperationID) -> Bool {
      if operations[id]?.isSent == true { return true }
      strayMessages += 1
      return false
    }

    private mutating func end(_ id: OperationID, _ action: ClientAction, _ actions: inout [ClientAction]) {
      operations[id] = nil
      actions.append(action)
    }

    // MARK: Time

    /// When `reachedDeadline` wants to be called; it may move later meanwhile, then that call does nothing.
    package var nextDeadline: Instant? {
      switch phase {
      case .disconnected: return nil
      case .waitingForAcknowledgement(let deadline): return deadline
      case .open:
        if let pingSentAt { return pingSentAt + limits.pongTimeout }
        return limits.pingInterval.map { lastHeard + $0 }
      }
    }

    /// Time has passed: pings a silent server, gives up a dead one.
    package mutating func reachedDeadline(at now: Instant, actions: inout [ClientAction]) {
      guard let deadline = nextDeadline, now >= deadline else { return }
      switch phase {
      case .disconnected: break
      case .waitingForAcknowledgement: give(up: .acknowledgementTimeout, &actions)
      case .open where pingSentAt == nil:
        pingSentAt = now
        actions.append(.send(ClientMessage.ping(payload: nil).serialized()))
      case .open: give(up: .stuck, &actions)
      }
    }
  }
}
