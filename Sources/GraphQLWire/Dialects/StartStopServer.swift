import MartletJSON
import MartletVocabulary

/// Bounds and deadlines of one server connection in either of the two older dialects.
package struct StartStopServerLimits: Sendable {
  /// How long a client may take to send `connection_init`.
  package var initialisationTimeout: Duration = .seconds(3)
  /// Operations of one connection at a time, those held back before the acknowledgement included; what AppSync grants.
  package var operations = 100
  /// Longest operation id in bytes: it is repeated in every event.
  package var idBytes = 256
  /// Longest message.
  package var messageBytes = 1 << 20
  /// Bytes of `start`s kept until the client has been accepted: its credentials are still being checked.
  package var heldBytes = 1 << 16
  /// Deepest nesting of a message, and of a text inside it.
  package var messageDepth = 64
  /// Between `ka` messages; nil sends none. Clients of the older `graphql-ws` take 30 seconds of silence after the
  /// first one for the end of the connection; AppSync's are given the time to wait, of which this should be a fifth.
  package var keepAliveInterval: Duration? = .seconds(10)
  /// `connection_init` messages of one connection. Each is answered; a flood of them is closed.
  package var initialisations = 10
  /// Malformed messages of one connection. Each is answered; a flood of them is closed.
  package var faults = 100

  package init() {}

  var json: JSONLimits { .message(bytes: messageBytes, depth: messageDepth) }
}

/// How a client of the two older dialects breaks a rule. Each dialect answers in its own words, and the socket stays
/// open until there are too many.
package enum StartStopFault: Sendable {
  /// Text that is not a message, or not text.
  case unreadable
  /// A message without what it needs.
  case malformed
  /// A message of a type that is unknown.
  case unknownType
  /// An id that is in use, where that is a fault.
  case duplicate
}

/// Why a server of the two older dialects ends a connection with a `connection_error`.
package enum StartStopRefusal: Sendable {
  /// The client's credentials are not good.
  case credentials
  /// They were good, and are no longer.
  case withdrawn
  /// There was no `connection_init` in time.
  case timeout
  /// There were too many.
  case flood
}

/// What the servers of the two older dialects keep of a connection.
package struct StartStopServer: Sendable {
  package let limits: StartStopServerLimits
  var session: ServerSession
  /// Operations that have not been confirmed yet, where the dialect confirms them.
  var unconfirmed: Set<Int> = []
  var keepAliveDue: Instant?
  /// When the connection reaches its maximum lifetime; nil for never.
  let endsAt: Instant?
  /// `start`s of a client that has not sent `connection_init`, where the dialect lets it be left out.
  var early: [StartStopText] = []
  /// When their client counts as one that leaves it out.
  var graceEnds: Instant?
  /// The client has left it out, so that nothing acknowledges it.
  var isInitialisedByStart = false
  private var heldBytes = 0
  private var initialisations = 0
  private var faults = 0

  init(_ limits: StartStopServerLimits, lifetime: Duration? = nil, at now: Instant) {
    self.limits = limits
    session = ServerSession(until: now + limits.initialisationTimeout)
    endsAt = lifetime.map { now + $0 }
  }

  /// Counts a `connection_init`; false for one too many.
  mutating func countInitialisation() -> Bool {
    initialisations += 1
    return initialisations <= limits.initialisations
  }

  /// Counts a broken rule; false for one too many.
  mutating func countFault() -> Bool {
    faults += 1
    return faults <= limits.faults
  }

  /// Counts what is kept until the client has been accepted; false when it exceeds the limit.
  mutating func countHeld(_ bytes: Int) -> Bool {
    heldBytes += bytes
    return heldBytes <= limits.heldBytes
  }

  /// Drops what arrived before the acknowledgement.
  mutating func takeEarly() -> [StartStopText] {
    defer { early = [] }
    graceEnds = nil
    return early
  }

  /// This side ends an operation: its id, when it had not ended.
  mutating func finish(_ number: Int) -> OperationID? {
    unconfirmed.remove(number)
    return session.finish(number)
  }

  /// The client ends an operation: whether it ran.
  mutating func stop(_ id: OperationID, _ actions: inout [SubscriptionServerAction]) -> Bool {
    guard let number = session.stop(id, &actions) else { return false }
    unconfirmed.remove(number)
    return true
  }

  var nextDeadline: Instant? {
    switch session.phase {
    case .waitingForInit(let deadline): graceEnds.map { min($0, deadline) } ?? deadline
    case .open: [keepAliveDue, endsAt].compactMap { $0 }.min()
    case .authenticating, .closed: nil
    }
  }
}
