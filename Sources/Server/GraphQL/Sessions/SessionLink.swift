internal import MartletGraphQLExecution
internal import MartletGraphQLWire
internal import MartletJSON
internal import MartletRuntime
internal import MartletSockets
internal import MartletVocabulary
internal import MartletWire

/// What the protocol of a session asks of the session itself.
protocol SessionLinkOwner: AnyObject {
  /// The cursor up to which the session's events have been sent.
  var position: Cursor { get }
  /// The client shows its first credentials.
  func authenticate(_ payload: JSONObject?)
  /// The client shows other credentials.
  func renew(with credentials: JSONObject)
  func start(_ number: Int, _ id: OperationID, _ request: RequestPayload)
  func stop(_ number: Int)
  /// The socket or the response is over, by whatever cause.
  func ended()
}

/// The protocol of one session and the connection that carries it: has the machine decide, and performs what it says.
///
/// Confined to its loop.
final class SessionLink {
  /// What carries the session's messages.
  enum Outlet {
    /// Next: `socket`, `stream`.
    case none
    /// Next: `ended`.
    case socket(WebSocketChannel)
    /// A streamed response. Next: `ended`.
    case stream(HTTPStream)
    case ended
  }

  let service: GraphQLService
  /// The client's end of the connection.
  let peer: Peer
  /// Its number among those of its loop.
  let serial: Int
  /// The limit of the bytes that wait. A fan-out asks for it with every event.
  let highWaterBytes: Int
  weak var owner: (any SessionLinkOwner)?
  private(set) var machine: any SubscriptionServerMachine
  private(set) var outlet = Outlet.none
  private var notes: SessionNotes = []
  private var timer: LoopTimer?
  private var timerDeadline: Instant?
  /// For the timer: a fan-out uses the link for every event, and must not find weak references.
  private let loose = LooseReference<SessionLink>()

  init(_ service: GraphQLService, _ machine: any SubscriptionServerMachine, over peer: Peer) {
    self.service = service
    self.machine = machine
    self.peer = peer
    serial = service.transport.nextSerial()
    highWaterBytes = service.node.limits.session.highWaterBytes
    loose.refer(to: self)
  }

  deinit { loose.clear() }

  /// The socket; nil on a streamed response, and once it has closed.
  var socket: WebSocketChannel? {
    if case .socket(let socket) = outlet { socket } else { nil }
  }

  /// The streamed response; nil on a socket, and once it has ended.
  var stream: HTTPStream? {
    if case .stream(let stream) = outlet { stream } else { nil }
  }

  /// Whether a connection carries the session now.
  var isConnected: Bool {
    switch outlet {
    case .socket, .stream: true
    case .none, .ended: false
    }
  }

  /// A session without a dialect is a stream that several operations share.
  var transport: ConnectionRequest.Transport { machine.dialect.map { .webSocket($0) } ?? .eventStream }

  func open(_ outlet: Outlet) {
    self.outlet = outlet
  }

  // MARK: The machine

  /// Has the machine take a step and performs what it says.
  func step(_ body: (inout any SubscriptionServerMachine, inout [SubscriptionServerAction]) -> Void) {
    var actions: [SubscriptionServerAction] = []
    body(&machine, &actions)
    for action in actions { perform(action) }
    armTimer()
  }

  private func perform(_ action: SubscriptionServerAction) {
    switch action {
    case .authenticate(let payload): owner?.authenticate(payload)
    case .renew(let credentials): owner?.renew(with: credentials)
    case .start(let number, let id, let request): owner?.start(number, id, request)
    case .stop(let number): owner?.stop(number)
    case .send(let text):
      switch outlet {
      case .socket(let socket): socket.send(text: text)
      case .stream(let stream): stream.send(text)
      case .none, .ended: break
      }
    case .tellPosition:
      guard let position = owner?.position else { return }
      step { [self] in $0.sendPosition(position, at: service.loop.now, actions: &$1) }
    case .violated(let what): noteViolation(what)
    case .close(let close):
      switch outlet {
      case .socket(let socket): socket.close(close.code, reason: close.reason)
      case .stream(let stream):
        // Before the response ends, because a pipelined request may be taken up then.
        owner?.ended()
        stream.finish()
      case .none, .ended: break
      }
    }
  }

  /// Has an operation fail.
  func fail(_ number: Int, _ errors: [ResponseError]) {
    step { $0.fail(number, errors: Self.list(errors), actions: &$1) }
  }

  private static func list(_ errors: [ResponseError]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginArray()
    for error in errors { error.write(to: &writer) }
    writer.endArray()
    return writer.bytes
  }

  /// Ends the session with a close code.
  func end(_ code: WebSocketCloseCode, _ reason: String) {
    step { $0.end(code, reason, actions: &$1) }
  }

  /// The connection is over.
  func ended() {
    step { $0.connectionEnded(actions: &$1) }
    timer?.cancel()
    timer = nil
    if let token = stream?.token { service.node.streams.close(token) }
    outlet = .ended
  }

  // MARK: Time

  /// Wakes the machine at its next deadline.
  func armTimer() {
    guard let deadline = machine.nextDeadline, isConnected else { return }
    if let timerDeadline, timerDeadline <= deadline { return }
    timer?.cancel()
    timerDeadline = deadline
    timer = service.loop.schedule(at: deadline) { [loose] in
      guard let self = loose.object else { return }
      self.timerDeadline = nil
      self.step { $0.reachedDeadline(at: self.service.loop.now, actions: &$1) }
    }
  }

  // MARK: The log

  /// The client broke a rule or a limit.
  func noteViolation(_ reason: String) {
    service.transport.noteViolation(reason, [(.connection, "\(serial)")], isLogged: !notes.insert(.violation).inserted)
  }

  /// The client, or one of its subscriptions, was refused for its credentials.
  func noteRefusal(_ message: StaticString, _ reason: String? = nil) {
    service.transport.noteRefusal(message, reason: reason, isLogged: !notes.insert(.refusal).inserted, over: peer)
  }
}

/// What has been said of one session in the log; each is said once.
private struct SessionNotes: OptionSet {
  let rawValue: UInt8
  static let violation = SessionNotes(rawValue: 1)
  static let refusal = SessionNotes(rawValue: 2)
}
