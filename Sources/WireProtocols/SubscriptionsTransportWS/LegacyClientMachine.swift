package import MartletJSON
package import MartletVocabulary

extension SubscriptionsTransportWS {
  /// The client's end of the protocol on one socket after another. It waits for the acknowledgement, which every server
  /// of this protocol allows.
  package struct ClientMachine: SubscriptionClientMachine {
    package typealias Phase = ClientPhase

    package let limits: ClientLimits
    /// Messages of types this client does not know.
    package private(set) var unknownMessages = 0
    private var session = StartStopClient()
    /// A `ka` came: from then on silence means something.
    private var isKeptAlive = false

    package init(limits: ClientLimits = ClientLimits()) {
      self.limits = limits
    }

    package var dialect: SubscriptionDialect { .legacy }
    package var continuity: Continuity { .none }
    package var confirmsSubscriptions: Bool { false }
    package var phase: Phase { session.phase }
    package var strayMessages: Int { session.strayMessages }
    package var operationCount: Int { session.operationCount }
    package func position(of id: OperationID) -> SubscriptionPosition? { nil }

    // MARK: Sessions

    package mutating func opened(
      payload: JSONObject? = nil, at now: Instant, actions: inout [SubscriptionClientAction]
    ) {
      session.opened(at: now, acknowledgementTimeout: limits.acknowledgementTimeout)
      isKeptAlive = false
      // Some servers of this protocol read the payload's members without asking whether there is one.
      actions.append(.send(MessageWriting.plain("connection_init", payload: payload ?? JSONObject())))
    }

    package mutating func leaving(actions: inout [SubscriptionClientAction]) {
      if phase == .open { actions.append(.send(MessageWriting.plain("connection_terminate", payload: nil))) }
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
      session.send(id, &actions) { request in
        MessageWriting.message(id, "start") { writer in
          writer.key("payload")
          request.write(to: &writer)
        }
      }
    }

    // MARK: The server speaks

    package mutating func receive(_ text: [UInt8], at now: Instant, actions: inout [SubscriptionClientAction]) {
      guard let (type, root) = session.read(text, limits.json, at: now, &actions) else { return }
      switch type {
      case "connection_ack": acknowledge(root["payload"]?.value.object, &actions)
      case "connection_error":
        // Before the acknowledgement it is the answer to our credentials.
        refused(phase == .open ? .afterBackoff : .withNewCredentials, root["payload"], &actions)
      case "ka":
        isKeptAlive = true
        actions.append(.pinged(payload: nil))
      case "error" where phase == .open && MessageParsing.id(root) == nil:
        refused(.afterBackoff, root["payload"], &actions)
      case "data", "error", "complete": session.receive(type, root, &actions)
      case "start_ack": mismatched(.appSync, &actions)
      case let type where SubscriptionsTransportWS.isOfTransportWS(type): mismatched(.transportWS, &actions)
      default: unknownMessages += 1
      }
    }

    /// - Parameter retry: how to go on unless an error says that the credentials were refused.
    private mutating func refused(
      _ retry: ConnectionRetry, _ payload: JSONTape.Element?, _ actions: inout [SubscriptionClientAction]
    ) {
      let errors = Refusals.errors(payload)
      let isRefusal = errors.contains { Refusals.isUnauthorized($0) }
      session.give(up: .refused(isRefusal ? .withNewCredentials : retry, errors: errors), &actions)
    }

    private mutating func mismatched(_ dialect: SubscriptionDialect, _ actions: inout [SubscriptionClientAction]) {
      session.give(up: .mismatched(answered: dialect.name), &actions)
    }

    private mutating func acknowledge(_ payload: JSONObject?, _ actions: inout [SubscriptionClientAction]) {
      if payload?["connectionTimeoutMs"] != nil { return mismatched(.appSync, &actions) }
      // A server may acknowledge twice; only the first time there is something to send.
      guard let waiting = session.acknowledge() else { return }
      actions.append(.acknowledged(payload: payload))
      for id in waiting { send(id, &actions) }
    }

    // MARK: Time

    private var silence: Duration? { isKeptAlive ? limits.keepAliveTimeout : nil }

    package var nextDeadline: Instant? { session.nextDeadline(silence: silence) }

    package mutating func reachedDeadline(at now: Instant, actions: inout [SubscriptionClientAction]) {
      session.reachedDeadline(silence: silence, at: now, &actions)
    }
  }
}
