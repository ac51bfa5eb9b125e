package import MartletJSON
package import MartletVocabulary

extension AppSyncRealtime {
  /// The client's end of the protocol on one socket after another. It carries subscriptions only: queries and mutations
  /// go by HTTP.
  package struct ClientMachine: SubscriptionClientMachine {
    /// Where the session stands.
    package enum Phase: Equatable, Sendable {
      /// No socket. Next: `waitingForAcknowledgement`.
      case disconnected
      /// Next: `open`, or `disconnected` at the deadline, on a refusal or a protocol error.
      case waitingForAcknowledgement(deadline: Instant)
      case open
    }

    package private(set) var phase = Phase.disconnected
    package let limits: ClientLimits
    /// Messages for operations this client does not know (any more), the confirmations of its `stop` among them.
    package private(set) var strayMessages = 0
    /// Messages of types this client does not know.
    package private(set) var unknownMessages = 0
    /// Silence by which the server counts as dead, as its acknowledgement said.
    package private(set) var connectionTimeout = Duration.seconds(300)
    private var authorization = JSONObject()
    private var table = ClientOperationTable()
    private var lastHeard = Instant.zero

    package init(limits: ClientLimits = ClientLimits()) {
      self.limits = limits
    }

    package var dialect: SubscriptionDialect { .appSync }
    package var continuity: Continuity { .none }
    package var confirmsSubscriptions: Bool { true }
    package var operationCount: Int { table.count }
    package func position(of id: OperationID) -> SubscriptionPosition? { nil }

    // MARK: Sessions

    package mutating func opened(
      payload: JSONObject?, at now: Instant, actions: inout [SubscriptionClientAction]
    ) {
      precondition(phase == .disconnected, "one socket at a time")
      phase = .waitingForAcknowledgement(deadline: now + limits.acknowledgementTimeout)
      authorization = payload ?? JSONObject()
      lastHeard = now
      actions.append(.send(MessageWriting.plain("connection_init", payload: nil)))
    }

    /// Stops every subscription, as the protocol asks for before a close.
    package mutating func leaving(actions: inout [SubscriptionClientAction]) {
      guard phase == .open else { return }
      for id in table.inOrder where table.isSent(id) { actions.append(.send(Self.stop(id))) }
    }

    package mutating func disconnected(actions: inout [SubscriptionClientAction]) {
      phase = .disconnected
      for id in table.endSession() { actions.append(.lost(id)) }
    }

    // MARK: Operations

    package mutating func start(
      _ id: OperationID, _ request: GraphQLRequest, repetition: OperationRepetition,
      position: SubscriptionPosition = .init(), actions: inout [SubscriptionClientAction]
    ) {
      table.add(id, request, repetition)
      if phase == .open { send(id, &actions) }
    }

    package mutating func cancel(_ id: OperationID, actions: inout [SubscriptionClientAction]) {
      guard let operation = table.remove(id) else { return }
      if operation.isSent, phase == .open { actions.append(.send(Self.stop(id))) }
    }

    private static func stop(_ id: OperationID) -> [UInt8] {
      MessageWriting.message(id, "stop") { _ in }
    }

    private mutating func send(_ id: OperationID, _ actions: inout [SubscriptionClientAction]) {
      guard let operation = table[id] else { return }
      table.markSent(id)
      actions.append(.send(StartMessage.text(id, operation.request, authorization: authorization)))
      actions.append(.started(id))
    }

    // MARK: The server speaks

    package mutating func receive(_ text: [UInt8], at now: Instant, actions: inout [SubscriptionClientAction]) {
      if phase == .disconnected { return }
      lastHeard = now
      do throws(ConnectionClose) {
        try handle(MessageParsing.root(text, limits.json) { .badResponse($0) }, &actions)
      } catch {
        give(up: .close(error), &actions)
      }
    }

    /// Nothing is read on this socket any more.
    private mutating func give(up action: SubscriptionClientAction, _ actions: inout [SubscriptionClientAction]) {
      phase = .disconnected
      actions.append(action)
    }

    private mutating func handle(
      _ root: JSONTape.Element, _ actions: inout [SubscriptionClientAction]
    ) throws(ConnectionClose) {
      guard let type = root["type"]?.string else { throw .badResponse("Message without type") }
      switch type {
      case "connection_ack": acknowledge(root["payload"], &actions)
      case "connection_error": refused(root["payload"], &actions)
      case "ka": actions.append(.pinged(payload: nil))
      case "start_ack", "data", "error", "complete":
        guard let id = MessageParsing.id(root) else {
          // An error without an id is about the whole connection.
          if type == "error" { return refused(root["payload"], &actions) }
          throw .badResponse("Message \(type) without id")
        }
        guard phase == .open else { throw .badResponse("The first message must be the acknowledgement") }
        operationMessage(type, id, root["payload"], &actions)
      case let type where SubscriptionsTransportWS.isOfTransportWS(type):
        give(up: .mismatched(answered: SubscriptionDialect.transportWS.name), &actions)
      default: unknownMessages += 1
      }
    }

    private mutating func refused(_ payload: JSONTape.Element?, _ actions: inout [SubscriptionClientAction]) {
      let errors = Refusals.errors(payload)
      let retry: ConnectionRetry =
        if errors.contains(where: { Refusals.isUnauthorized($0) }) {
          .withNewCredentials
        } else if errors.contains(where: { Refusals.number($0["errorCode"]) == 400 }) {
          .never
        } else {
          .afterBackoff
        }
      give(up: .refused(retry, errors: errors), &actions)
    }

    private mutating func acknowledge(_ payload: JSONTape.Element?, _ actions: inout [SubscriptionClientAction]) {
      // The older protocol's servers acknowledge without it, and would not understand what follows.
      guard let milliseconds = payload?["connectionTimeoutMs"]?.int else {
        return give(up: .mismatched(answered: SubscriptionDialect.legacy.name), &actions)
      }
      guard case .waitingForAcknowledgement = phase else { return }
      phase = .open
      let most = limits.longestSilence
      connectionTimeout = milliseconds > 0 ? min(.milliseconds(min(milliseconds, 86_400_000)), most) : most
      actions.append(.acknowledged(payload: payload?.value.object))
      for id in table.inOrder { send(id, &actions) }
    }

    private mutating func operationMessage(
      _ type: String, _ id: OperationID, _ payload: JSONTape.Element?, _ actions: inout [SubscriptionClientAction]
    ) {
      guard table.isSent(id) else {
        strayMessages += 1
        return
      }
      switch type {
      case "start_ack": actions.append(.confirmed(id))
      case "data":
        guard let payload, payload.kind == .object else {
          _ = table.remove(id)
          actions.append(.send(Self.stop(id)))
          return actions.append(.violated(id, "data whose payload is no object"))
        }
        actions.append(.next(id, payload: [UInt8](payload.rawBytes), cursor: nil))
      case "error":
        let errors = Refusals.errors(payload)
        if errors.contains(where: { Refusals.isUnauthorized($0) }) {
          table.markSent(id, false)
          return actions.append(.unauthorized(id, errors: errors))
        }
        _ = table.remove(id)
        actions.append(.failed(id, errors: errors))
      default:
        _ = table.remove(id)
        actions.append(.completed(id))
      }
    }

    // MARK: Time

    package var nextDeadline: Instant? {
      switch phase {
      case .disconnected: nil
      case .waitingForAcknowledgement(let deadline): deadline
      case .open: lastHeard + connectionTimeout
      }
    }

    package mutating func reachedDeadline(at now: Instant, actions: inout [SubscriptionClientAction]) {
      guard let deadline = nextDeadline, now >= deadline else { return }
      switch phase {
      case .disconnected: break
      case .waitingForAcknowledgement: give(up: .close(.acknowledgementTimeout), &actions)
      case .open: give(up: .close(.silent), &actions)
      }
    }
  }
}
