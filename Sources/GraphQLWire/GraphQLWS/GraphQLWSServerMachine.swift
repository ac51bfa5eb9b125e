package import MartletJSON
package import MartletVocabulary

extension GraphQLWS {
  package typealias ServerLimits = StartStopServerLimits

  /// The server's end of one connection.
  ///
  /// Clients of this protocol do not wait for the acknowledgement: a `start` before it is held back and follows it. A
  /// client may leave `connection_init` out, as with the protocol's reference server: its first `start` asks for
  /// admission with what the handshake carried.
  package struct ServerMachine: StartStopServerMachine {
    /// What arrived before the acknowledgement and is processed after it.
    private enum Held: Sendable {
      case start(OperationID, RequestPayload)
      case confirmStop(OperationID)

      var startedID: OperationID? {
        switch self {
        case .start(let id, _): id
        case .confirmStop: nil
        }
      }
    }

    package var state: StartStopServer
    private var held: [Held] = []

    package init(limits: ServerLimits = ServerLimits(), at now: Instant) {
      state = StartStopServer(limits, at: now)
    }

    package var dialect: Dialect? { .graphqlWS }
    package var operationCount: Int { state.session.operationCount + held.count }

    // MARK: The client speaks

    package static let hearsEarly = true

    package static func read(
      _ payload: JSONTape.Element?, _ limits: JSONLimits
    ) throws(GraphQLRequestError) -> StartStopRequest? {
      guard let payload else { return nil }
      return StartStopRequest(request: try RequestPayload(payload), bytes: payload.rawBytes.count)
    }

    package mutating func start(
      _ id: OperationID, _ read: Result<StartStopRequest, GraphQLRequestError>?,
      _ actions: inout [SubscriptionServerAction]
    ) {
      guard let read else { return violated(.malformed, "start without payload", id, &actions) }
      let (request, bytes): (RequestPayload, Int)
      do throws(GraphQLRequestError) {
        let start = try read.get()
        (request, bytes) = (start.request, start.bytes)
      } catch {
        return violated(.malformed, "start: \(error)", id, &actions)
      }
      // The older operation of this name ends without a word.
      _ = state.stop(id, &actions)
      held.removeAll { $0.startedID == id }
      guard operationCount < state.limits.operations else {
        actions.append(.violated(Refusals.tooManyOperationsReason(state.limits.operations)))
        let payload = JSONValue.object(Refusals.tooManyOperations(state.limits.operations))
        return actions.append(.send(MessageWriting.error(id, payload: payload)))
      }
      guard isOpen || state.countHeld(bytes) else {
        return violated(.malformed, "Too much for a client that has not been accepted", id, &actions)
      }
      if isOpen {
        actions.append(.start(number: state.session.reserve(id), id, request))
      } else {
        held.append(.start(id, request))
        initialiseByStart(&actions)
      }
    }

    private mutating func initialiseByStart(_ actions: inout [SubscriptionServerAction]) {
      guard case .waitingForInit = phase, state.session.initialise() else { return }
      state.isInitialisedByStart = true
      actions.append(.authenticate(payload: nil))
    }

    /// What was held back is only confirmed; any other id crossed our own end on the wire.
    package mutating func stopUnknown(_ id: OperationID) {
      guard let place = held.firstIndex(where: { $0.startedID == id }) else { return }
      held[place] = .confirmStop(id)
    }

    package mutating func connectionEnded(actions: inout [SubscriptionServerAction]) {
      held = []
      forgetConnection(&actions)
    }

    // MARK: The server speaks

    package mutating func accept(
      payload: JSONObject?, at now: Instant, actions: inout [SubscriptionServerAction]
    ) {
      guard acknowledge(payload, at: now, &actions) else { return }
      let waiting = held
      held = []
      for item in waiting {
        switch item {
        case .start(let id, let request): actions.append(.start(number: state.session.reserve(id), id, request))
        case .confirmStop(let id): actions.append(.send(MessageWriting.complete(id)))
        }
      }
    }

    /// The protocol does not say that a subscription is live.
    package func live(_ number: Int, actions: inout [SubscriptionServerAction]) {}
    package func ready(
      _ number: Int, _ cursor: Cursor, view: String?, actions: inout [SubscriptionServerAction]
    ) {}
  }
}
