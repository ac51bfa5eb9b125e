import MartletGraphQLClientWire
import MartletJSON
import MartletRuntime
import MartletVocabulary

/// One operation on a socket, with what has become of it. It outlives sockets, and may move from one connection to
/// another that has room.
struct SocketOperation {
  enum Consumer {
    case subscription(SubscriptionCore)
    case response(PendingResponse, ResendKind)
  }

  private(set) var request: RequestPayload
  /// Returns the variables it is sent again with on another socket; nil sends the same.
  let resubscribing: (@Sendable () -> JSONObject)?
  let consumer: Consumer
  let repetition: OperationRepetition
  /// When a query or mutation must have its response.
  var deadline: Instant?
  /// Its position when it was last written to a socket.
  var position = SubscriptionPosition()
  /// It begins with the oldest event, so that sending it again misses nothing even without a cursor.
  private let beginsWithOldest: Bool
  /// The server has sent or confirmed it: what is missed from here on is a gap.
  var wasLive = false
  /// The same before it was last written to a socket.
  var wasLiveEarlier = false
  /// The same for the present socket.
  var wasLiveHere = false
  /// It was written to a socket.
  var wasSent = false
  /// New credentials were asked for after it was refused, and it has not been live since.
  var hasRefreshed = false
  var timer: LoopTimer?

  init(
    _ request: RequestPayload, _ consumer: Consumer, repetition: OperationRepetition,
    resubscribing: (@Sendable () -> JSONObject)? = nil
  ) {
    self.request = request
    beginsWithOldest = (try? RequestContinuity(extensions: request.extensions))?.fromOldest == true
    self.resubscribing = resubscribing
    self.consumer = consumer
    self.repetition = repetition
  }

  /// By which its caller names it.
  var key: ObjectIdentifier {
    switch consumer {
    case .subscription(let core): ObjectIdentifier(core)
    case .response(let response, _): ObjectIdentifier(response)
    }
  }

  /// Its caller has left, or it has ended.
  var isOver: Bool {
    switch consumer {
    case .subscription(let core): core.state.isFinished
    case .response(let response, _): response.isOver
    }
  }

  /// The subscription's stream; nil for queries and mutations.
  var stream: SubscriptionCore? {
    switch consumer {
    case .subscription(let core): core
    case .response: nil
    }
  }

  /// How it ends when the client is shut down.
  var endAtShutDown: SubscriptionEnd {
    switch consumer {
    // Its owner has left, and it can continue elsewhere from its last position.
    case .subscription: .cancelled
    case .response: .error(GraphQLClientError(.shutDown, "the client was shut down"))
    }
  }

  /// How it ends when the connection is lost and it is not sent again; nil for a subscription.
  var endAtLoss: SubscriptionEnd? {
    guard case .response(_, let kind) = consumer else { return nil }
    return .error(kind.lost)
  }

  func finish(_ end: SubscriptionEnd) {
    switch (consumer, end) {
    case (.subscription(let core), _): core.move(to: .finished(end))
    case (.response(let response, _), .completed): response.finish()
    case (.response(let response, _), .cancelled): response.finish(throwing: CancellationError())
    case (.response(let response, _), .error(let error)): response.finish(throwing: error)
    }
  }

  /// Asks for the variables of its next start; false when it continues with those it has.
  mutating func renew() -> Bool {
    guard wasLive, let resubscribing else { return false }
    request.variables = resubscribing()
    return true
  }

  /// It was written to a socket. Returns the gap to report to its consumer: a subscription that had been live and
  /// cannot resume has missed what happened in between.
  mutating func started(at position: SubscriptionPosition?, givesCursors: Bool, isConfirmedLater: Bool) -> EventGap? {
    wasSent = true
    wasLiveHere = false
    wasLiveEarlier = wasLive
    self.position = position ?? self.position
    let canResume = givesCursors && (position?.cursor != nil || beginsWithOldest)
    let hasGap = wasLive && !canResume && stream != nil
    if !isConfirmedLater { wasLive = true }
    return hasGap ? EventGap(.serverCannotResume, from: position?.cursor) : nil
  }

  /// The server says that the subscription is live, or shows it by an event.
  mutating func becameLive() {
    wasLive = true
    wasLiveHere = true
    hasRefreshed = false
  }

  /// The server of this socket did not accept it: it is as it was before it was written there.
  mutating func wasRefused() {
    timer?.cancel()
    timer = nil
    wasSent = false
    wasLive = wasLiveEarlier
    wasLiveHere = false
  }
}
