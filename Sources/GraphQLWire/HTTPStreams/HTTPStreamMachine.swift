package import MartletJSON
package import MartletVocabulary
package import MartletWire

/// The server's end of one streamed response. It has one operation, number 1, which runs from the start; what it sends
/// are pieces of the response's body. The body opens once the operation is live, so that it never opens too early.
package struct HTTPStreamMachine: SubscriptionServerMachine {
  package static let number = 1

  private enum Phase: Sendable {
    /// Nothing of the body has been sent.
    case starting
    case open
    case closed
  }

  package let media: HTTPStreamMedia
  /// What the client asked for with its request.
  package let continuity: Continuity
  private let heartbeatInterval: Duration
  private let positionInterval: Duration?
  private var phase = Phase.starting
  private var heartbeatDue: Instant?
  private var positionDue: Instant?

  package init(
    _ media: HTTPStreamMedia, continuity: Continuity = .none, heartbeatInterval: Duration,
    positionInterval: Duration? = nil, at now: Instant
  ) {
    self.media = media
    self.continuity = continuity
    self.heartbeatInterval = heartbeatInterval
    self.positionInterval = continuity.cursors ? positionInterval : nil
    heartbeatDue = now + heartbeatInterval
    positionDue = self.positionInterval.map { now + $0 }
  }

  package var dialect: Dialect? { nil }
  package var isOpen: Bool { phase != .closed }
  package var operationCount: Int { isOpen ? 1 : 0 }
  package var nextDeadline: Instant? { [heartbeatDue, positionDue].compactMap { $0 }.min() }
  /// None that the operation would keep: what stands before a result depends on its length, see
  /// `HTTPStreamMedia.eventPrefix(length:)`.
  package func eventPrefix(_ id: OperationID) -> [UInt8] { [] }

  // MARK: The client

  /// A client sends nothing after its request.
  package var reader: ClientTextReader { ClientTextReader { _ in .none } }
  package func receive(_ text: ClientText, at now: Instant, actions: inout [SubscriptionServerAction]) {}
  package func receivedBinary(actions: inout [SubscriptionServerAction]) {}

  package mutating func connectionEnded(actions: inout [SubscriptionServerAction]) {
    guard isOpen else { return }
    close()
    actions.append(.stop(number: Self.number))
  }

  private mutating func close() {
    phase = .closed
    heartbeatDue = nil
    positionDue = nil
  }

  // MARK: The server

  /// The client was accepted by the request's own credentials.
  package func accept(payload: JSONObject?, at now: Instant, actions: inout [SubscriptionServerAction]) {}

  package mutating func refuse(_ reason: String, actions: inout [SubscriptionServerAction]) {
    end(.internalError, reason, actions: &actions)
  }

  /// Ends the stream before its operation has. The client is notified, so that it does not take the end for completion:
  /// by an error of the transport, or by a last result, which no `complete` follows.
  package mutating func end(
    _ code: WebSocketCloseCode, _ reason: String, actions: inout [SubscriptionServerAction]
  ) {
    guard isOpen else { return }
    let errors: JSONValue = [["message": .string(reason), "extensions": ["code": "STREAM_ENDED"]]]
    let opening = phase == .starting ? media.opening : []
    close()
    actions.append(.stop(number: Self.number))
    switch media {
    case .multipart:
      actions.append(
        .send(
          opening + MultipartSubscription.Writing.failure(errors: errors.serialized())
            + MultipartSubscription.Writing.end))
    case .eventStream: actions.append(.send(opening + media.event(JSONValue.object(["errors": errors]).serialized())))
    }
    actions.append(.close(ConnectionClose(code, reason)))
  }

  private mutating func open(_ actions: inout [SubscriptionServerAction]) {
    guard phase == .starting else { return }
    phase = .open
    actions.append(.send(media.opening))
  }

  package mutating func next(
    _ number: Int, payload: [UInt8], cursor: Cursor?, endsTransaction: Bool, actions: inout [SubscriptionServerAction]
  ) {
    guard isOpen else { return }
    guard continuity.cursors, let cursor else {
      open(&actions)
      return actions.append(.send(media.event(payload)))
    }
    let mark = ResultContinuity.event(cursor, endsTransaction: endsTransaction)
    let payload = ResultContinuity.marked(payload, cursor, endsTransaction: endsTransaction)
    send(payload, at: mark.place, &actions)
  }

  /// Sends a result; in an event stream with the place that a client names when it asks again.
  private mutating func send(_ payload: [UInt8], at place: Cursor?, _ actions: inout [SubscriptionServerAction]) {
    open(&actions)
    let id = media == .eventStream ? place.map(EventStreamSubscription.Writing.identifier) : nil
    actions.append(.send((id ?? []) + media.event(payload)))
  }

  private mutating func say(_ what: ResultContinuity, _ actions: inout [SubscriptionServerAction]) {
    guard isOpen, continuity.cursors else { return }
    send(what.payload, at: what.place, &actions)
  }

  package mutating func catchesUp(_ number: Int, actions: inout [SubscriptionServerAction]) {
    open(&actions)
  }

  package mutating func live(_ number: Int, actions: inout [SubscriptionServerAction]) {
    open(&actions)
    say(.ready(nil), &actions)
  }

  package mutating func ready(
    _ number: Int, _ cursor: Cursor, view: String?, actions: inout [SubscriptionServerAction]
  ) {
    open(&actions)
    say(.ready(cursor, view: view), &actions)
  }

  package mutating func gap(_ number: Int, _ gap: SubscriptionGap, actions: inout [SubscriptionServerAction]) {
    say(.gap(gap), &actions)
  }

  package mutating func sendPosition(_ cursor: Cursor, at now: Instant, actions: inout [SubscriptionServerAction]) {
    positionDue = positionInterval.map { now + $0 }
    say(.position(cursor), &actions)
  }

  package mutating func complete(_ number: Int, actions: inout [SubscriptionServerAction]) {
    guard isOpen else { return }
    open(&actions)
    close()
    actions.append(.send(media.end))
    actions.append(.close(ConnectionClose(.normal, "")))
  }

  /// An operation that cannot start answers one result with errors; one that fails under way ends by an error of the
  /// transport where there is such a thing.
  package mutating func fail(_ number: Int, errors: [UInt8], actions: inout [SubscriptionServerAction]) {
    guard isOpen else { return }
    let isUnderWay = phase == .open
    open(&actions)
    close()
    if isUnderWay, media == .multipart {
      actions.append(.send(MultipartSubscription.Writing.failure(errors: errors)))
    } else {
      actions.append(.send(media.event(Array("{\"errors\":".utf8) + errors + Array("}".utf8))))
    }
    actions.append(.send(media.end))
    actions.append(.close(ConnectionClose(.normal, "")))
  }

  // MARK: Time

  package mutating func reachedDeadline(at now: Instant, actions: inout [SubscriptionServerAction]) {
    if let due = positionDue, now >= due {
      positionDue = positionInterval.map { now + $0 }
      actions.append(.tellPosition)
    }
    guard let due = heartbeatDue, now >= due else { return }
    heartbeatDue = now + heartbeatInterval
    switch phase {
    case .starting: open(&actions)
    case .open: actions.append(.send(media.heartbeat))
    case .closed: break
    }
  }
}
