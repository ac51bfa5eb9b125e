internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletGraphQLWire
internal import MartletJSON
internal import MartletRuntime
internal import MartletSockets
internal import MartletTokens
internal import MartletVocabulary
internal import MartletWire

/// One client on a WebSocket, in any dialect, or on a streamed HTTP response. The machine decides what the protocol
/// allows; this carries it out.
///
/// Confined to its loop.
final class GraphQLSession {
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
  /// What it uses of what its callers may use.
  let use: SessionUse
  /// Its number among those of its loop.
  let serial: Int
  /// Measures the events that are written to it.
  let meter: DeliveryMeter
  private(set) var outlet = Outlet.none
  var machine: any SubscriptionServerMachine
  var operations: [Int: SessionOperation] = [:] {
    didSet {
      use.retain(operations)
      service.transport.onProgress?()
    }
  }
  /// Whose session it is; without a grant until credentials were accepted.
  var caller: Caller
  /// The callers of subscriptions that brought credentials of their own.
  var ownCallers: [Int: OwnCaller] = [:]
  /// Warns of the end of the caller's rights, and ends the session then.
  var lifetime: TokenLifetime?
  var expiry: LoopTimer?
  /// AppSync's authorization, until the client was admitted.
  private var authorization: JSONObject?
  /// Whether the client offered a subprotocol that is spoken here.
  private let hasDialect: Bool
  var notes: SessionNotes = []
  private var timer: LoopTimer?
  /// The question to the program whether the client of a socket may connect.
  var question: PendingQuestion?
  /// The question about other credentials of a client that is connected.
  var renewal: PendingQuestion?
  private var timerDeadline: Instant?
  /// Whether `resume` is called in the next turn.
  var isResumeScheduled = false
  /// Source streams that wait for the socket to drain before they bring their next event.
  var blockedStreams: [() -> Void] = []

  /// A session on a WebSocket.
  ///
  /// - Parameter choice: nil when the client offered no subprotocol that is spoken here; the session then closes the
  ///   socket, as the reference server does, because clients understand nothing else.
  init(_ service: GraphQLService, _ choice: DialectChoice?, _ caller: Caller, over peer: Peer) {
    self.service = service
    use = SessionUse(peer)
    serial = service.transport.nextSerial()
    self.caller = caller
    hasDialect = choice != nil
    let choice = choice ?? DialectChoice(.graphqlTransportWS)
    authorization = choice.authorization
    meter = service.meters.meter(choice.dialect)
    machine = SessionMachines.machine(choice.dialect, service.node.limits, at: service.loop.now)
  }

  /// One operation, whose results are a streamed response.
  init(
    _ service: GraphQLService, streaming media: HTTPStreamMedia, _ continuity: Continuity, _ caller: Caller,
    over peer: Peer
  ) {
    self.service = service
    use = SessionUse(peer)
    serial = service.transport.nextSerial()
    self.caller = caller
    hasDialect = true
    meter = service.meters.meter(media)
    machine = HTTPStreamMachine(
      media, continuity: continuity, heartbeatInterval: service.node.limits.http.streamHeartbeatInterval,
      positionInterval: service.node.limits.session.positionInterval, at: service.loop.now)
  }

  /// An event stream that operations share.
  init(sharedStreamOf service: GraphQLService, over peer: Peer) {
    self.service = service
    use = SessionUse(peer)
    serial = service.transport.nextSerial()
    caller = Caller(nil)
    hasDialect = true
    meter = service.meters.sharedStream
    machine = SessionMachines.sharedStream(service.node.limits, at: service.loop.now)
  }

  /// The socket; nil on a streamed response, and once it has closed.
  var socket: WebSocketChannel? {
    if case .socket(let socket) = outlet { socket } else { nil }
  }

  /// The streamed response; nil on a socket, and once it has ended.
  var stream: HTTPStream? {
    if case .stream(let stream) = outlet { stream } else { nil }
  }

  /// Begins the operation of a streamed response.
  func begin(_ stream: HTTPStream, _ request: RequestPayload) {
    begin(stream, [StreamRegistry.Waiting(id: HTTPStream.operation, request: request, since: service.feed.cursor)])
  }

  /// Begins a streamed response and the operations that wait for it.
  func begin(_ stream: HTTPStream, _ waiting: [StreamRegistry.Waiting]) {
    outlet = .stream(stream)
    stream.follow(drained: { self.drained() }, closed: { self.ended() })
    service.sessions[ObjectIdentifier(self)] = self
    expire(at: caller.deadline)
    step { [self] in $0.accept(payload: nil, at: service.loop.now, actions: &$1) }
    for operation in waiting {
      if stream.token == nil {
        start(HTTPStreamMachine.number, operation.id, operation.request)
      } else {
        _ = startShared(operation)
      }
    }
  }

  // MARK: The machine

  /// Lets the machine take a step and carries out what it says.
  func step(_ body: (inout any SubscriptionServerMachine, inout [SubscriptionServerAction]) -> Void) {
    var actions: [SubscriptionServerAction] = []
    body(&machine, &actions)
    for action in actions { perform(action) }
    armTimer()
  }

  private func perform(_ action: SubscriptionServerAction) {
    switch action {
    case .authenticate(let payload): authenticate(payload)
    case .renew(let credentials): renew(with: credentials)
    case .start(let number, let id, let request): start(number, id, request)
    case .stop(let number): stop(number)
    case .send(let text):
      switch outlet {
      case .socket(let socket): socket.send(text: text)
      case .stream(let stream): stream.send(text)
      case .none, .ended: break
      }
    case .tellPosition:
      step { [self] in $0.sendPosition(service.feed.position(of: self), at: service.loop.now, actions: &$1) }
    case .violated(let what): noteViolation(what)
    case .close(let close):
      switch outlet {
      case .socket(let socket): socket.close(close.code, reason: close.reason)
      case .stream(let stream):
        // Before the response ends, because a pipelined request may be taken up then.
        ended()
        stream.finish()
      case .none, .ended: break
      }
    }
  }

  private func authenticate(_ payload: JSONObject?) {
    // What came with the handshake stays; a guest may prove more.
    if caller.isUnknown || caller.grant == .guest {
      switch service.transport.admission.shown(
        in: authorization ?? payload, signed: authorization == nil ? nil : service.signedHandshake)
      {
      case .caller(let shown): caller = shown
      case .refused(let reason): caller = Caller(refused: reason)
      case .nothing: break
      }
    }
    guard !caller.isUnknown else { return refuseUnknown(caller.refusal) }
    ask(authorization ?? payload ?? JSONObject())
  }

  /// Refuses a client whose credentials are not accepted, or that shows none.
  func refuseUnknown(_ reason: String?) {
    noteRefusal("A client was refused: its credentials are not known.", reason)
    step { $0.refuse("Forbidden", actions: &$1) }
  }

  /// Acknowledges the connection.
  func accept(_ payload: JSONObject?) {
    authorization = nil
    if socket != nil, let refusal = use.connect(caller, service) { return step { refusal.refuse(&$0, &$1) } }
    service.node.audit.connected(caller.identity, use.peer, over: machine.dialect?.name ?? "events")
    step { [self] in $0.accept(payload: payload, at: service.loop.now, actions: &$1) }
  }

  /// Ends the session for a rule that the client broke.
  func violated(_ close: ConnectionClose) {
    noteViolation(close.reason)
    end(close.code, close.reason)
  }

  /// Ends the session with a close code.
  func end(_ code: WebSocketCloseCode, _ reason: String) {
    step { $0.end(code, reason, actions: &$1) }
  }

  /// Whether a query or mutation is under way, whose answer a shutdown waits for.
  var hasRunningOperations: Bool {
    operations.values.contains { if case .running = $0 { true } else { false } }
  }

  // MARK: Time

  private func armTimer() {
    guard let deadline = machine.nextDeadline, socket != nil || stream != nil else { return }
    if let timerDeadline, timerDeadline <= deadline { return }
    timer?.cancel()
    timerDeadline = deadline
    timer = service.loop.schedule(at: deadline) { [weak self] in
      guard let self else { return }
      self.timerDeadline = nil
      self.step { $0.reachedDeadline(at: self.service.loop.now, actions: &$1) }
    }
  }

  static func list(_ errors: [ResponseError]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginArray()
    for error in errors { error.write(to: &writer) }
    writer.endArray()
    return writer.bytes
  }
}

extension GraphQLSession: LoopSession {
  var isSocket: Bool { socket != nil }

  func leave() { end(1001, "The server goes away; come back.") }
}

extension GraphQLSession: SocketEndpoint {
  func opened(_ socket: WebSocketChannel) {
    outlet = .socket(socket)
    service.sessions[ObjectIdentifier(self)] = self
    armTimer()
    if !hasDialect { violated(.subprotocolNotAcceptable) }
  }

  func received(text: [UInt8]) {
    use.messageBytes = text.count
    step { [self] in $0.receive(text, at: service.loop.now, actions: &$1) }
  }

  func received(binary: [UInt8]) {
    step { $0.receivedBinary(actions: &$1) }
  }

  func drained() {
    resume()
  }

  func closed(_ closure: WebSocketClosure) {
    // A peer that is gone, or silent, broke no rule.
    if let failure = closure.failure, failure.closeCode != nil { noteViolation("\(failure)") }
    ended()
  }

  /// The socket or the response is over, by whatever cause.
  func ended() {
    timer?.cancel()
    timer = nil
    expiry?.cancel()
    expiry = nil
    question = nil
    renewal = nil
    lifetime = nil
    use.end()
    service.feed.end(self)
    step { $0.connectionEnded(actions: &$1) }
    if let token = stream?.token { service.node.streams.close(token) }
    outlet = .ended
    let blocked = blockedStreams
    blockedStreams = []
    for resume in blocked { resume() }
    service.sessions[ObjectIdentifier(self)] = nil
  }
}
