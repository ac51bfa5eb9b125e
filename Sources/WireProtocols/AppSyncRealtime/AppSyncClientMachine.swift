package import MartletJSON
package import MartletVocabulary

extension AppSyncRealtime {
  /// The client's end of the protocol on one socket after another. It carries subscriptions only: queries and mutations
  /// go by HTTP.
  package struct ClientMachine: SubscriptionClientMachine {
    package typealias Phase = ClientPhase

    package let limits: ClientLimits
    /// Messages of types this client does not know.
    package private(set) var unknownMessages = 0
    /// Silence by which the server counts as dead, as its acknowledgement said.
    package private(set) var connectionTimeout = Duration.seconds(300)
    private var authorization = JSONObject()
    private var session = StartStopClient()

    package init(limits: ClientLimits = ClientLimits()) {
      self.limits = limits
    }

    package var dialect: SubscriptionDialect { .appSync }
    package var continuity: Continuity { .none }
    package var confirmsSubscriptions: Bool { true }
    package var phase: Phase { session.phase }
    package var strayMessages: Int { session.strayMessages }
    package var operationCount: Int { session.operationCount }
    package func position(of id: OperationID) -> SubscriptionPosition? { nil }

    // MARK: Sessions

    package mutating func opened(
      payload: JSONObject?, at now: Instant, actions: inout [SubscriptionClientAction]
    ) {
      session.opened(at: now, acknowledgementTimeout: limits.acknowledgementTimeout)
      authorization = payload ?? JSONObject()
      actions.append(.send(MessageWriting.plain("connection_init", payload: nil)))
    }

    /// Stops every subscription, as the protocol asks for before a close.
    package mutating func leaving(actions: inout [SubscriptionClientAction]) {
      guard phase == .open else { return }
      for id in session.sent { actions.append(.send(MessageWriting.stop(id))) }
    }

    package mutating func disconnected(actions: inout [SubscriptionClientAction]) {
      session.disconnected(&actions)
    }

    // MARK: Operations

    package mutating func start(
      _ id: OperationID, _ request: GraphQLRequest, repetition: OperationRepetition,
      position: SubscriptionPosition = .init(), actions: inout [SubscriptionClientAction]
    ) {
      session.add(id, request, repetition)
      if phase == .open { send(id, &actions) }
    }

    package mutating func cancel(_ id: OperationID, actions: inout [SubscriptionClientAction]) {
      session.cancel(id, &actions)
    }

    private mutating func send(_ id: OperationID, _ actions: inout [SubscriptionClientAction]) {
      session.send(id, &actions) { [authorization] in StartMessage.text(id, $0, authorization: authorization) }
    }

    // MARK: The server speaks

    package mutating func receive(_ text: [UInt8], at now: Instant, actions: inout [SubscriptionClientAction]) {
      guard let (type, root) = session.read(text, limits.json, at: now, &actions) else { return }
      switch type {
      case "connection_ack": acknowledge(root["payload"], &actions)
      case "connection_error": refused(root["payload"], &actions)
      case "ka": actions.append(.pinged(payload: nil))
      // An error without an id is about the whole connection.
      case "error" where MessageParsing.id(root) == nil: refused(root["payload"], &actions)
      case "start_ack", "data", "error", "complete": session.receive(type, root, &actions)
      case let type where SubscriptionsTransportWS.isOfTransportWS(type):
        session.give(up: .mismatched(answered: SubscriptionDialect.transportWS.name), &actions)
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
      session.give(up: .refused(retry, errors: errors), &actions)
    }

    private mutating func acknowledge(_ payload: JSONTape.Element?, _ actions: inout [SubscriptionClientAction]) {
      // The older protocol's servers acknowledge without it, and would not understand what follows.
      guard let milliseconds = payload?["connectionTimeoutMs"]?.int else {
        return session.give(up: .mismatched(answered: SubscriptionDialect.legacy.name), &actions)
      }
      guard let waiting = session.acknowledge() else { return }
      let most = limits.longestSilence
      connectionTimeout = milliseconds > 0 ? min(.milliseconds(min(milliseconds, 86_400_000)), most) : most
      actions.append(.acknowledged(payload: payload?.value.object))
      for id in waiting { send(id, &actions) }
    }

    // MARK: Time

    package var nextDeadline: Instant? { session.nextDeadline(silence: connectionTimeout) }

    package mutating func reachedDeadline(at now: Instant, actions: inout [SubscriptionClientAction]) {
      session.reachedDeadline(silence: connectionTimeout, at: now, &actions)
    }
  }
}
