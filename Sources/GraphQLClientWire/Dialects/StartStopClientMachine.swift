package import MartletJSON
package import MartletVocabulary

/// Bounds and deadlines of one client connection in either of the two older dialects.
package struct StartStopClientLimits: Sendable {
  /// How long the server may take to acknowledge.
  package var acknowledgementTimeout: Duration = .seconds(10)
  /// The silence by which the server counts as dead, once a `ka` has come. AppSync's server says itself how long it may
  /// be silent; there this is the longest that is believed.
  package var keepAliveTimeout: Duration
  /// Longest message accepted.
  package var messageBytes = 16 << 20
  /// Deepest nesting of a message.
  package var messageDepth = 128

  package init(keepAliveTimeout: Duration = .seconds(30)) {
    self.keepAliveTimeout = keepAliveTimeout
  }

  var json: JSONLimits { .message(bytes: messageBytes, depth: messageDepth) }
}

/// The client's end of the two older dialects: how each begins a session, what it says in a `start`, and which messages
/// it knows beside those of `StartStopClient` is its own.
package protocol StartStopClientMachine: SubscriptionClientMachine {
  var limits: StartStopClientLimits { get }
  var session: StartStopClient { get set }
  /// How long an open session may stay without a message; nil for ever.
  var silence: Duration? { get }

  func startText(_ id: OperationID, _ request: RequestPayload, at now: Instant) -> [UInt8]
  /// A message arrived.
  mutating func heard(
    _ type: String, _ root: JSONTape.Element, at now: Instant, _ actions: inout [SubscriptionClientAction])
}

extension StartStopClientMachine {
  package var continuity: Continuity { .none }
  package var phase: ClientPhase { session.phase }
  package var strayMessages: Int { session.strayMessages }
  package var operationCount: Int { session.operationCount }
  package func position(of id: OperationID) -> SubscriptionPosition? { nil }

  package mutating func disconnected(actions: inout [SubscriptionClientAction]) {
    session.disconnected(&actions)
  }

  package mutating func start(
    _ id: OperationID, _ request: RequestPayload, repetition: OperationRepetition,
    position: SubscriptionPosition = .init(), at now: Instant, actions: inout [SubscriptionClientAction]
  ) {
    session.add(id, request, repetition)
    if phase == .open { send(id, at: now, &actions) }
  }

  package mutating func cancel(_ id: OperationID, actions: inout [SubscriptionClientAction]) {
    session.cancel(id, &actions)
  }

  private mutating func send(_ id: OperationID, at now: Instant, _ actions: inout [SubscriptionClientAction]) {
    guard let request = session.markSent(id) else { return }
    actions.append(.send(startText(id, request, at: now)))
    actions.append(.started(id))
  }

  /// The server acknowledged: everything that waits is sent. A second time there is nothing to send.
  mutating func acknowledged(
    _ payload: JSONObject?, at now: Instant, _ actions: inout [SubscriptionClientAction]
  ) {
    guard let waiting = session.acknowledge() else { return }
    actions.append(.acknowledged(payload: payload))
    for id in waiting { send(id, at: now, &actions) }
  }

  mutating func mismatched(_ dialect: Dialect, _ actions: inout [SubscriptionClientAction]) {
    session.give(up: .mismatched(answered: dialect.name), &actions)
  }

  package mutating func receive(_ text: [UInt8], at now: Instant, actions: inout [SubscriptionClientAction]) {
    guard let (type, root) = session.read(text, limits.json, at: now, &actions) else { return }
    heard(type, root, at: now, &actions)
  }

  package var nextDeadline: Instant? { session.nextDeadline(silence: silence) }

  package mutating func reachedDeadline(at now: Instant, actions: inout [SubscriptionClientAction]) {
    session.reachedDeadline(silence: silence, at: now, &actions)
  }
}
