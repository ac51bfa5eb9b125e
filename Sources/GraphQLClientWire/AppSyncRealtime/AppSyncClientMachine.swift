package import MartletJSON
package import MartletVocabulary

extension AppSyncRealtime {
  /// The client's end of the protocol on one socket after another. It carries subscriptions only: queries and mutations
  /// go by HTTP.
  package struct ClientMachine: StartStopClientMachine {
    package let limits: ClientLimits
    /// Messages of types this client does not know.
    package private(set) var unknownMessages = 0
    /// Silence by which the server counts as dead, as its acknowledgement said.
    package private(set) var connectionTimeout = AppSyncRealtime.connectionTimeout
    package var session = StartStopClient()
    private var authorization = JSONObject()
    /// Signs each subscription by itself, in place of the connection's authorization.
    private var signer: Signer?
    /// This session's server has said something that only this protocol's servers say.
    private var isSureOfProtocol = false

    package init(limits: ClientLimits = ClientLimits(keepAliveTimeout: longestSilence)) {
      self.limits = limits
    }

    package var dialect: Dialect { .appSync }
    package var confirmsSubscriptions: Bool { true }
    package var silence: Duration? { connectionTimeout }

    // MARK: Sessions

    package mutating func sign(with signer: Signer?) {
      self.signer = signer
    }

    package mutating func opened(
      payload: JSONObject?, at now: Instant, actions: inout [SubscriptionClientAction]
    ) {
      session.opened(at: now, acknowledgementTimeout: limits.acknowledgementTimeout)
      authorization = payload ?? JSONObject()
      isSureOfProtocol = false
      actions.append(.send(MessageWriting.plain("connection_init", payload: nil)))
    }

    /// Stops every subscription, as the protocol asks for before a close.
    package mutating func leaving(actions: inout [SubscriptionClientAction]) {
      guard phase == .open else { return }
      for id in session.sent { actions.append(.send(MessageWriting.stop(id))) }
    }

    package func startText(_ id: OperationID, _ request: RequestPayload, at now: Instant) -> [UInt8] {
      StartText.text(id, request) { signer?.subscription($0, at: now) ?? authorization }
    }

    // MARK: The server speaks

    package mutating func heard(
      _ type: String, _ root: JSONTape.Element, at now: Instant, _ actions: inout [SubscriptionClientAction]
    ) {
      switch type {
      case "connection_ack": acknowledge(root["payload"], at: now, &actions)
      case "connection_error": refused(root["payload"], &actions)
      case "ka": actions.append(.pinged(payload: nil))
      // An error without an id is about the whole connection.
      case "error" where MessageParsing.id(root) == nil: refused(root["payload"], &actions)
      // Servers of the older protocol do not understand this one's `start`, and say so in their own shape.
      case "error" where phase == .open && !isSureOfProtocol && root["payload"]?["errors"] == nil:
        mismatched(.graphqlWS, &actions)
      case "start_ack", "data", "error", "complete":
        isSureOfProtocol = true
        session.receive(type, root, &actions)
      case let type where GraphQLWS.isOfGraphQLTransportWS(type): mismatched(.graphqlTransportWS, &actions)
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

    /// Some servers leave out how long they may be silent: then it is what AppSync says.
    private mutating func acknowledge(
      _ payload: JSONTape.Element?, at now: Instant, _ actions: inout [SubscriptionClientAction]
    ) {
      let most = limits.keepAliveTimeout
      connectionTimeout = min(AppSyncRealtime.connectionTimeout, most)
      if let milliseconds = payload?["connectionTimeoutMs"]?.int {
        isSureOfProtocol = true
        connectionTimeout = milliseconds > 0 ? min(.milliseconds(min(milliseconds, 86_400_000)), most) : most
      }
      acknowledged(payload?.value.object, at: now, &actions)
    }
  }
}
