package import MartletJSON
package import MartletVocabulary

extension SubscriptionsTransportWS {
  /// The client's end of the protocol on one socket after another. It waits for the acknowledgement, which every server
  /// of this protocol allows.
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
    /// Messages for operations this client does not know (any more): they crossed our `stop`.
    package private(set) var strayMessages = 0
    /// Messages of types this client does not know.
    package private(set) var unknownMessages = 0
    private var table = ClientOperationTable()
    private var lastHeard = Instant.zero
    /// A `ka` came: from then on silence means something.
    private var isKeptAlive = false

    package init(limits: ClientLimits = ClientLimits()) {
      self.limits = limits
    }

    package var dialect: SubscriptionDialect { .legacy }
    package var continuity: Continuity { .none }
    package var confirmsSubscriptions: Bool { false }
    package var operationCount: Int { table.count }
    package func position(of id: OperationID) -> SubscriptionPosition? { nil }

    // MARK: Sessions

    package mutating func opened(
      payload: JSONObject? = nil, at now: Instant, actions: inout [SubscriptionClientAction]
    ) {
      precondition(phase == .disconnected, "one socket at a time")
      phase = .waitingForAcknowledgement(deadline: now + limits.acknowledgementTimeout)
      lastHeard = now
      isKeptAlive = false
      // Some servers of this protocol read the payload's members without asking whether there is one.
      actions.append(.send(MessageWriting.plain("connection_init", payload: payload ?? JSONObject())))
    }

    package mutating func leaving(actions: inout [SubscriptionClientAction]) {
      if phase == .open { actions.append(.send(MessageWriting.plain("connection_terminate", payload: nil))) }
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
      if operation.isSent, phase == .open { actions.append(.send(MessageWriting.message(id, "stop") { _ in })) }
    }

    private mutating func send(_ id: OperationID, _ actions: inout [SubscriptionClientAction]) {
      guard let operation = table[id] else { return }
      table.markSent(id)
      let text = MessageWriting.message(id, "start") { writer in
        writer.key("payload")
        operation.request.write(to: &writer)
      }
      actions.append(.send(text))
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
      case "connection_ack": acknowledge(root["payload"]?.value.object, &actions)
      case "connection_error":
        // Before the acknowledgement it is the answer to our credentials.
        let retry = phase == .open ? ConnectionRetry.afterBackoff : .withNewCredentials
        let errors = Refusals.errors(root["payload"])
        let isRefusal = errors.contains { Refusals.isUnauthorized($0) }
        give(up: .refused(isRefusal ? .withNewCredentials : retry, errors: errors), &actions)
      case "ka":
        isKeptAlive = true
        actions.append(.pinged(payload: nil))
      case "data", "error", "complete":
        guard phase == .open else { throw .badResponse("The first message must be the acknowledgement") }
        guard let id = MessageParsing.id(root) else {
          if type == "error" {
            return give(up: .refused(.afterBackoff, errors: Refusals.errors(root["payload"])), &actions)
          }
          throw .badResponse("Message \(type) without id")
        }
        operationMessage(type, id, root["payload"], &actions)
      case "start_ack": give(up: .mismatched(answered: SubscriptionDialect.appSync.name), &actions)
      case let type where SubscriptionsTransportWS.isOfTransportWS(type):
        give(up: .mismatched(answered: SubscriptionDialect.transportWS.name), &actions)
      default: unknownMessages += 1
      }
    }

    private mutating func acknowledge(_ payload: JSONObject?, _ actions: inout [SubscriptionClientAction]) {
      if payload?["connectionTimeoutMs"] != nil {
        return give(up: .mismatched(answered: SubscriptionDialect.appSync.name), &actions)
      }
      // A server may acknowledge twice; only the first time there is something to send.
      guard case .waitingForAcknowledgement = phase else { return }
      phase = .open
      actions.append(.acknowledged(payload: payload))
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
      case "data":
        guard let payload, payload.kind == .object else {
          _ = table.remove(id)
          // The server does not know that this operation is over for us.
          actions.append(.send(MessageWriting.message(id, "stop") { _ in }))
          return actions.append(.violated(id, "data whose payload is no object"))
        }
        actions.append(.next(id, payload: [UInt8](payload.rawBytes), cursor: nil))
      case "error":
        let errors = Refusals.errors(payload)
        if errors.contains(where: { Refusals.isUnauthorized($0) }) {
          // It has not been executed: it may be sent again.
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
      case .open: isKeptAlive ? lastHeard + limits.keepAliveTimeout : nil
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
