import MartletJSON
import MartletRuntime
import MartletVocabulary
import MartletWireProtocols

/// One operation that goes by a socket, with what has become of it. It outlives sockets, and may move from one
/// connection to another that has room.
struct SocketOperation {
  enum Consumer {
    case subscription(SubscriptionCore)
    case single(SubscriptionCore, OperationKind)

    var core: SubscriptionCore {
      switch self {
      case .subscription(let core), .single(let core, _): core
      }
    }
  }

  private(set) var request: GraphQLRequest
  /// Answers the variables it is sent again with on another socket; nil sends the same.
  let resubscribing: (@Sendable () -> JSONObject)?
  let consumer: Consumer
  let repetition: OperationRepetition
  /// When a query or mutation must have its answer.
  var deadline: Instant?
  /// Where it stood when it was last written to a socket.
  var position = SubscriptionPosition()
  /// The server has sent or confirmed it: what is missed from here on is a hole.
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
    _ request: GraphQLRequest, _ consumer: Consumer, repetition: OperationRepetition,
    resubscribing: (@Sendable () -> JSONObject)? = nil
  ) {
    self.request = request
    self.resubscribing = resubscribing
    self.consumer = consumer
    self.repetition = repetition
  }

  var core: SubscriptionCore { consumer.core }

  /// Asks for the variables of its next start; false when it goes on with those it has.
  mutating func renew() -> Bool {
    guard wasLive, let resubscribing else { return false }
    request.variables = resubscribing()
    return true
  }

  /// The server of this socket has not taken it: it is as it was before it was written there.
  mutating func wasRefused() {
    timer?.cancel()
    timer = nil
    wasSent = false
    wasLive = wasLiveEarlier
    wasLiveHere = false
  }
}
