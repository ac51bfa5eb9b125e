package import MartletJSON
package import MartletVocabulary
package import MartletWire

extension AppSyncRealtime {
  /// The server's end of one connection.
  ///
  /// A `.start` carries the subscription's own authorization under `extensions.authorization`; the shell that
  /// carries it out looks at it first.
  package struct ServerMachine: StartStopServerMachine {
    package let limits: ServerLimits
    package var state: StartStopServer

    package init(limits: ServerLimits = ServerLimits(), at now: Instant) {
      self.limits = limits
      state = StartStopServer(limits.session, lifetime: limits.lifetime, at: now)
    }

    package var dialect: Dialect? { .appSync }
    package var operationCount: Int { state.session.operationCount }

    // MARK: The client speaks

    /// What comes before the acknowledgement is ignored, whatever it is.
    package static let hearsEarly = false

    /// But the newest text lets a client leave out `connection_init`, and then there is no acknowledgement: a `start`
    /// that no `connection_init` follows is served.
    package mutating func cameEarly(_ text: StartStopText, _ type: String?, at now: Instant) {
      guard case .waitingForInit = phase, type == "start", let grace = limits.initialisationGrace,
        state.early.count < state.limits.operations, state.countHeld(text.bytes)
      else { return }
      state.early.append(text)
      if state.graceEnds == nil { state.graceEnds = now + grace }
    }

    package static func read(
      _ payload: JSONTape.Element?, _ limits: JSONLimits
    ) throws(GraphQLRequestError) -> StartStopRequest? {
      let message = try StartMessage(payload, limits)
      return StartStopRequest(
        request: message.request, authorization: message.authorization, bytes: payload?.rawBytes.count ?? 0)
    }

    package mutating func start(
      _ id: OperationID, _ read: Result<StartStopRequest, GraphQLRequestError>?,
      _ actions: inout [SubscriptionServerAction]
    ) {
      guard state.session.number(of: id) == nil else {
        return violated(.duplicate, "A subscription with id \(id) exists already", id, &actions)
      }
      let most = state.limits.operations
      guard operationCount < most else {
        let message = "This connection has \(most) subscriptions already"
        actions.append(.violated(message))
        return actions.append(.send(ServerText.error(id, .tooManySubscriptions, message)))
      }
      let message: StartStopRequest
      switch read {
      case .success(let start): message = start
      case .failure(let error): return violated(.malformed, "start: \(error)", id, &actions)
      case nil: return violated(.malformed, "start without payload", id, &actions)
      }
      var request = message.request
      if let authorization = message.authorization { request.extensions["authorization"] = .object(authorization) }
      let number = state.session.reserve(id)
      state.unconfirmed.insert(number)
      actions.append(.start(number: number, id, request))
    }

    // MARK: The server speaks

    /// Sends `start_ack`, once.
    package mutating func live(_ number: Int, actions: inout [SubscriptionServerAction]) {
      guard state.unconfirmed.remove(number) != nil, let id = state.session.id(of: number) else { return }
      actions.append(.send(ServerText.startAcknowledgement(id)))
    }

    package mutating func ready(
      _ number: Int, _ cursor: Cursor, view: String?, actions: inout [SubscriptionServerAction]
    ) {
      live(number, actions: &actions)
    }
  }
}

/// What a server of this protocol writes.
extension AppSyncRealtime.ServerMachine {
  package static let refusalCode = WebSocketCloseCode.policyViolation
  package static let floodCode = WebSocketCloseCode.policyViolation

  /// The payload is the protocol's own.
  package func acknowledgement(_ payload: JSONObject?) -> [UInt8] {
    AppSyncRealtime.ServerText.acknowledgement(limits.connectionTimeout)
  }

  package static func answer(_ fault: StartStopFault, _ what: String, _ id: OperationID?) -> [UInt8] {
    let type: AppSyncRealtime.ErrorType =
      switch fault {
      case .unreadable, .malformed: .badRequest
      case .unknownType: .unsupported
      case .duplicate: .duplicate
      }
    return AppSyncRealtime.ServerText.error(id, type, what)
  }

  package static func connectionError(_ refusal: StartStopRefusal, _ reason: String) -> [UInt8] {
    let type: AppSyncRealtime.ErrorType =
      switch refusal {
      case .credentials, .withdrawn: .unauthorized
      case .timeout: .timeout
      case .flood: .limitExceeded
      }
    return AppSyncRealtime.ServerText.connectionError(type, reason)
  }

  package static func errorPayload(_ errors: [UInt8]) -> JSONValue {
    AppSyncRealtime.ServerText.errorPayload(errors)
  }
}
