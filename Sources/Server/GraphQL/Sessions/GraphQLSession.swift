internal import MartletGraphQLExecution
internal import MartletGraphQLWire
internal import MartletJSON
internal import MartletRuntime
internal import MartletSockets
internal import MartletVocabulary
internal import MartletWire

/// One client on a WebSocket, in any dialect, or on a streamed HTTP response. Joins the protocol and its connection,
/// the caller, and the operations under way.
///
/// Confined to its loop.
final class GraphQLSession {
  /// What it uses of what its callers may use.
  let use: SessionUse
  private let service: GraphQLService
  private let link: SessionLink
  private let inbox: SessionInbox
  private let caller: SessionCaller
  private let operations: SessionOperations
  /// Whether the client offered a subprotocol that is spoken here.
  private let hasDialect: Bool

  private init(
    _ service: GraphQLService, _ machine: any SubscriptionServerMachine, _ meter: DeliveryMeter, _ caller: Caller,
    authorization: JSONObject? = nil, hasDialect: Bool = true, over peer: Peer
  ) {
    self.service = service
    self.hasDialect = hasDialect
    use = SessionUse(peer)
    link = SessionLink(service, machine, over: peer)
    inbox = SessionInbox(link, use)
    self.caller = SessionCaller(caller, authorization: authorization, link, use)
    operations = SessionOperations(link, meter, self.caller, use)
    link.owner = self
    self.caller.owner = self
  }

  /// A session on a WebSocket.
  ///
  /// - Parameter choice: nil when the client offered no subprotocol that is spoken here; the session then closes the
  ///   socket, as the reference server does, because clients understand nothing else.
  convenience init(_ service: GraphQLService, _ choice: DialectChoice?, _ caller: Caller, over peer: Peer) {
    let hasDialect = choice != nil
    let choice = choice ?? DialectChoice(.graphqlTransportWS)
    self.init(
      service, SessionMachines.machine(choice.dialect, service.node.limits, at: service.loop.now),
      service.meters.meter(choice.dialect), caller, authorization: choice.authorization, hasDialect: hasDialect,
      over: peer)
  }

  /// One operation, whose results are a streamed response.
  convenience init(
    _ service: GraphQLService, streaming media: HTTPStreamMedia, _ continuity: Continuity, _ caller: Caller,
    over peer: Peer
  ) {
    let machine = HTTPStreamMachine(
      media, continuity: continuity, heartbeatInterval: service.node.limits.http.streamHeartbeatInterval,
      positionInterval: service.node.limits.session.positionInterval, at: service.loop.now)
    self.init(service, machine, service.meters.meter(media), caller, over: peer)
  }

  /// An event stream that operations share.
  convenience init(sharedStreamOf service: GraphQLService, over peer: Peer) {
    self.init(
      service, SessionMachines.sharedStream(service.node.limits, at: service.loop.now), service.meters.sharedStream,
      Caller(nil), over: peer)
  }

  // MARK: Streamed responses

  /// Begins the operation of a streamed response.
  func begin(_ stream: HTTPStream, _ request: RequestPayload) {
    begin(
      stream, [StreamRegistry.Waiting(id: HTTPStream.operation, request: request, since: service.feed.cursor)],
      for: caller.current)
  }

  /// Begins a streamed response and the operations that wait for it.
  func begin(_ stream: HTTPStream, _ waiting: [StreamRegistry.Waiting], for caller: Caller) {
    link.open(.stream(stream))
    stream.follow(drained: { self.drained() }, closed: { self.ended() })
    service.sessions[ObjectIdentifier(self)] = self
    self.caller.begin(caller)
    let now = service.loop.now
    link.step { $0.accept(payload: nil, at: now, actions: &$1) }
    for operation in waiting {
      if stream.token == nil {
        start(HTTPStreamMachine.number, operation.id, operation.request)
      } else {
        _ = startShared(operation)
      }
    }
  }
}

extension GraphQLSession: SessionLinkOwner {
  var position: Cursor { service.feed.position(of: operations) }

  func authenticate(_ payload: JSONObject?) { caller.authenticate(payload) }

  func renew(with credentials: JSONObject) { caller.renew(with: credentials) }

  func start(_ number: Int, _ id: OperationID, _ request: RequestPayload) { operations.start(number, id, request) }

  func stop(_ number: Int) { operations.stop(number) }

  func ended() {
    caller.ended()
    use.end()
    service.feed.end(operations)
    link.ended()
    inbox.end()
    operations.resumeStreams()
    service.sessions[ObjectIdentifier(self)] = nil
  }
}

extension GraphQLSession: SessionCallerOwner {
  func rightsChanged() { operations.recheckRights() }

  /// Ends the session as its dialect says that credentials are not accepted, so that the client asks for others. Where
  /// operations run for callers of their own, the others end and the session stays.
  func withdraw(_ reason: String) {
    service.node.audit.withdrawn(caller.current.identity, use.peer, reason: reason)
    if operations.haveOwnCallers {
      caller.close()
      return operations.endThoseOfSession(reason)
    }
    guard link.stream != nil else { return link.step { $0.withdraw(reason, actions: &$1) } }
    operations.endThoseOfSession(reason)
    link.end(.policyViolation, reason)
  }
}

extension GraphQLSession: LoopSession {
  var serial: Int { link.serial }

  var isSocket: Bool { link.socket != nil }

  var hasRunningOperations: Bool { operations.hasRunning }

  func leave() { link.end(1001, "The server goes away; come back.") }

  func recheckAccess() -> Int { (caller.recheckAccess() ? 1 : 0) + operations.recheckAccess() }

  func recheckSchema() -> Int { operations.recheckSchema() }

  func end(where isEnded: (GraphQLGroup) -> Bool, _ reason: String, _ code: String) {
    operations.end(where: isEnded, reason, code)
  }
}

extension GraphQLSession: SocketEndpoint {
  func opened(_ socket: WebSocketChannel) {
    link.open(.socket(socket))
    // Nothing large is kept for a client before its credentials are accepted.
    if caller.current.grant == nil {
      socket.bound(messageBytes: service.node.limits.webSocket.strangerMessageBytes)
    }
    service.sessions[ObjectIdentifier(self)] = self
    link.armTimer()
    guard !hasDialect else { return }
    let close = ConnectionClose.subprotocolNotAcceptable
    link.noteViolation(close.reason)
    link.end(close.code, close.reason)
  }

  func received(text: [UInt8]) { inbox.receive(.text(text)) }

  func received(binary: [UInt8]) { inbox.receive(.binary) }

  func drained() {
    operations.resume()
  }

  func closed(_ closure: WebSocketClosure) {
    // A peer that is gone, or silent, broke no rule.
    if let failure = closure.failure, failure.closeCode != nil { link.noteViolation("\(failure)") }
    ended()
  }
}

extension GraphQLSession: SharedStreamSession {
  /// Starts an operation that was posted to the stream.
  func startShared(_ operation: StreamRegistry.Waiting) -> SharedStreamMachine.Admission {
    guard let stream = link.stream else { return .closed }
    // What was committed since the client asked belongs to it.
    stream.startsBehind = operation.since
    defer { stream.startsBehind = nil }
    var admission = SharedStreamMachine.Admission.closed
    let now = service.loop.now
    link.step { machine, actions in
      guard var shared = machine as? SharedStreamMachine else { return }
      admission = shared.subscribe(operation.id, operation.request, at: now, actions: &actions)
      machine = shared
    }
    return admission
  }

  /// Ends an operation that the client no longer wants.
  func stopShared(_ id: OperationID) {
    link.step { machine, actions in
      guard var shared = machine as? SharedStreamMachine else { return }
      shared.stop(id, actions: &actions)
      machine = shared
    }
  }

  func renew(_ caller: Caller) { self.caller.renew(caller) }
}
