package import MartletJSON
package import MartletVocabulary

extension GraphQLWS {
  /// The client's end of the protocol on one socket after another. It waits for the acknowledgement, which every server
  /// of this protocol allows.
  package struct ClientMachine: StartStopClientMachine {
    package let limits: ClientLimits
    /// Messages of types this client does not know.
    package private(set) var unknownMessages = 0
    package var session = StartStopClient()
    /// A `ka` came: from then on silence means something.
    private var isKeptAlive = false

    package init(limits: ClientLimits = ClientLimits()) {
      self.limits = limits
    }

    package var dialect: Dialect { .graphqlWS }
    package var confirmsSubscriptions: Bool { false }
    package var silence: Duration? { isKeptAlive ? limits.keepAliveTimeout : nil }

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

    package func startText(_ id: OperationID, _ request: RequestPayload, at now: Instant) -> [UInt8] {
      MessageWriting.message(id, "start") { writer in
        writer.key("payload")
        request.write(to: &writer)
      }
    }

    // MARK: The server speaks

    package mutating func heard(
      _ type: String, _ root: JSONTape.Element, at now: Instant, _ actions: inout [SubscriptionClientAction]
    ) {
      switch type {
      case "connection_ack":
        let payload = root["payload"]?.value.object
        if payload?["connectionTimeoutMs"] != nil { return mismatched(.appSync, &actions) }
        acknowledged(payload, at: now, &actions)
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
      case let type where GraphQLWS.isOfGraphQLTransportWS(type): mismatched(.graphqlTransportWS, &actions)
      default: unknownMessages += 1
      }
    }

    /// - Parameter retry: how to retry unless an error says that the credentials were refused.
    private mutating func refused(
      _ retry: ConnectionRetry, _ payload: JSONTape.Element?, _ actions: inout [SubscriptionClientAction]
    ) {
      let errors = Refusals.errors(payload)
      let isRefusal = errors.contains { Refusals.isUnauthorized($0) }
      session.give(up: .refused(isRefusal ? .withNewCredentials : retry, errors: errors), &actions)
    }
  }
}
