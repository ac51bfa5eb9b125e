import MartletGraphQLClientWire
internal import MartletHTTPWire
import MartletJSON
import MartletVocabulary

// What the dialect's machine asks for, and what becomes of each operation.

extension SocketDriver {
  func follow(_ actions: [SubscriptionClientAction]) {
    for action in actions {
      switch action {
      case .send(let text): socket?.send(text: text)
      case .acknowledged(let payload): acknowledged(payload)
      case .pinged(let payload):
        events.tell(.ping(payload: payload))
        renewal.pinged(payload)
        operations.passed(payload, session.continuity.cursors) { session.position(of: $0) }
      case .ponged(let payload):
        events.tell(.pong(payload: payload))
        renewal.ponged(payload)
      case .started(let id): started(id)
      case .ready(let id, let cursor): live(id, SubscriptionMark(cursor: cursor, view: session.position(of: id)?.view))
      case .confirmed(let id): live(id)
      case .next(let id, let payload, let cursor, let endsTransaction):
        received(SubscriptionEvent(payload: payload, cursor: cursor, endsTransaction: endsTransaction), id)
      case .gap(let id, let gap):
        deliver(SubscriptionEvent(gap: EventGap(.init(rawValue: gap.reason), from: gap.from, to: gap.to)), id)
      case .failed(let id, let errors):
        if errors.contains(where: { Refusals.isTooManyOperations($0) }), moveElsewhere(id) { break }
        finish(id, .error(GraphQLClientError(.operationFailed, errors.reason, errors: errors)))
      case .unauthorized(let id, let errors): unauthorized(id, errors)
      case .refused(let retry, let errors):
        socket?.close(.normal, reason: "")
        ended(.refused(retry, errors.reason, errors: errors))
      case .mismatched(let answered):
        socket?.close(4004, reason: "The protocol offered was another")
        ended(.mismatched("the server speaks \(answered)"))
      case .violated(let id, let what): finish(id, .error(GraphQLClientError(.protocolViolation, what)))
      case .completed(let id): finish(id, .completed)
      case .lost(let id):
        if let end = operations[id]?.endAtLoss { finish(id, end) }
      case .close(let close):
        socket?.close(close.code, reason: close.reason)
        ended(.closed(close.code, close.reason))
      }
    }
  }

  private func acknowledged(_ payload: JSONObject?) {
    attempts.acknowledged()
    if session.continuity.writes { knowledge.remembersWrites = true }
    events.tell(hasConnected ? .reconnected(payload: payload) : .connected(payload: payload))
    hasConnected = true
    armIdleTimer()
  }

  private func started(_ id: OperationID) {
    let givesCursors = session.continuity.cursors
    let gap = operations[id]?.started(
      at: session.position(of: id), givesCursors: givesCursors, isConfirmedLater: session.confirmsSubscriptions)
    operations[id]?.stream?.expectsMark = givesCursors
    if let gap { deliver(SubscriptionEvent(gap: gap), id) }
    if !session.confirmsSubscriptions { operations[id]?.stream?.move(to: .active) }
  }

  /// The server says that the subscription is live, or shows it.
  private func live(_ id: OperationID, _ mark: SubscriptionMark? = nil) {
    attempts.credentialsAccepted()
    operations.becameLive(id, mark)
  }

  private func received(_ event: SubscriptionEvent, _ id: OperationID) {
    // Some servers of AppSync's protocol do not confirm.
    if session.confirmsSubscriptions, operations[id]?.wasLiveHere == false { live(id) }
    attempts.progressed()
    operations[id]?.hasRefreshed = false
    deliver(event, id)
  }

  private func deliver(_ event: SubscriptionEvent, _ id: OperationID) {
    if operations.deliver(event, to: id) { stopReading() }
  }

  /// The server has as many operations on this connection as it allows. False when it has no other: then it allows
  /// none.
  private func moveElsewhere(_ id: OperationID) -> Bool {
    guard let group, operations.count > 1, var operation = operations[id] else { return false }
    forget(id)
    operation.wasRefused()
    group.move(operation, from: self)
    return true
  }

  /// One operation's credentials were refused: new ones are asked for once, on a new connection, as this dialect's
  /// sockets are opened with them; a second refusal ends that operation alone.
  private func unauthorized(_ id: OperationID, _ errors: [JSONValue]) {
    if operations[id]?.hasRefreshed == true || !attempts.canRefresh {
      var ignored: [SubscriptionClientAction] = []
      session.cancel(id, actions: &ignored)
      return finish(id, .error(GraphQLClientError(.unauthorized, errors.reason, errors: errors)))
    }
    operations[id]?.hasRefreshed = true
    operations[id]?.wasSent = false
    replace(refused: SocketEnding.refusalByMessage, because: "the server refused the credentials")
  }

  func finish(_ id: OperationID, _ end: SubscriptionEnd) {
    let operation = operations[id]
    forget(id)
    operation?.finish(end)
  }
}

extension [JSONValue] {
  /// The message of the first of a server's errors.
  fileprivate var reason: String { first?["message"]?.string ?? "the server gave no reason" }
}
