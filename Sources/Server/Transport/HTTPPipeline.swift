internal import MartletRuntime
internal import MartletSockets
internal import MartletVocabulary
internal import MartletWire

/// The requests of one connection, one after the other: each is judged by its head, read, handed to its endpoint and
/// answered before the next is parsed.
///
/// Confined to its loop.
final class HTTPPipeline {
  /// The request that is being read.
  private final class Incoming {
    let head: HTTPRequestHead
    var verdict: RequestVerdict
    var body: [UInt8] = []
    /// Bytes of a body that no handler reads, and that were dropped.
    var dropped = 0
    /// Whether the client waits for `100 Continue` before it sends the body.
    var awaitsContinue: Bool
    /// Whether all of it has arrived.
    var isWhole = false
    /// The question about the caller, until it is decided.
    var question: PendingQuestion?

    init(_ head: HTTPRequestHead, _ verdict: RequestVerdict, awaitsContinue: Bool) {
      self.head = head
      self.verdict = verdict
      self.awaitsContinue = awaitsContinue
    }

    /// Adds a piece to the body. Most bodies are one piece, which is not copied.
    func take(_ piece: [UInt8]) {
      if body.isEmpty { body = piece } else { body.append(contentsOf: piece) }
    }
  }

  private unowned let connection: HTTPConnection
  private let transport: LoopTransport
  let channel: any ByteChannel
  private let judge: RequestJudge
  private var machine: HTTPServerMachine
  private var incoming: Incoming?
  /// Answers the present request; nil while none waits for its answer.
  private var responder: HTTPResponder?
  /// Lets the page that asks read the answer, where it is at another origin.
  private var sharing: [(String, String)] = []
  /// The statuses of violations that were logged of this connection.
  private var notedStatuses: [Int] = []
  /// Set while received bytes are handled, so that answers do not parse the next request beneath it.
  private var isHandling = false
  /// Whether the connection has ended or been given to a WebSocket.
  private var isOver = false
  /// Ends a connection that is idle, a request that does not arrive, and a response that is not read.
  private let timer: MovingTimer
  private let turns: RequestTurns
  /// How far the client of a streamed response had read when it was looked at last.
  private var reading: PeerReading?

  init(_ connection: HTTPConnection) {
    self.connection = connection
    transport = connection.transport
    channel = connection.channel
    judge = RequestJudge(transport: connection.transport, peerIsLoopback: connection.channel.peerIsLoopback)
    machine = HTTPServerMachine(limits: HTTPLimits(transport.limits))
    timer = MovingTimer(on: transport.loop)
    turns = RequestTurns(transport.gate, transport.pauses, transport.limits.callers)
    turns.next = { [weak self] in self?.readNext() }
    timer.expire = { [weak self] in self?.expire() }
    armTimer(transport.limits.http.requestTimeout)
  }

  // MARK: Time

  private func armTimer(_ timeout: Duration) {
    timer.set(at: transport.loop.now + timeout)
  }

  /// Ends a connection that is idle for too long, and answers a request that does not arrive.
  private func expire() {
    guard !isOver else { return }
    if case .streaming = machine.responding { return judgeReader() }
    guard responder == nil else { return }
    // The program has a time limit of its own.
    if incoming?.question != nil { return armTimer(transport.limits.http.requestTimeout) }
    if machine.isIdle || machine.responding != .waiting {
      channel.closeAfterFlush()
    } else {
      noteViolation(408, "the request did not arrive in time")
      send(408, HTTPHeaders(), body: [], closing: true)
    }
  }

  // MARK: Reading

  func received(_ bytes: borrowing RawSpan) {
    guard !isOver else { return }
    if machine.isIdle { armTimer(transport.limits.http.requestTimeout) }
    // TLS brings what one read has brought in pieces.
    if isOccupied || turns.mayTake {
      var events = transport.takeEvents()
      isHandling = true
      machine.receive(bytes, events: &events)
      handle(events)
      isHandling = false
      transport.giveBack(events)
    } else {
      machine.keep(bytes)
    }
    readNext()
  }

  /// Whether a request is being read or answered.
  private var isOccupied: Bool { incoming != nil || responder != nil }

  /// Takes up pipelined requests as far as this turn may, and decides whether to read on.
  private func readNext() {
    guard !isOver else { return }
    if machine.hasKept, !isOccupied, !turns.isWaiting, !turns.mayTake { turns.getInLine() }
    channel.isReading = machine.wantsBytes && !awaitsDecision && !turns.isWaiting
    if isHandling { return }
    isHandling = true
    var events: [HTTPServerEvent] = []
    while !turns.isWaiting {
      events.removeAll(keepingCapacity: true)
      machine.advance(&events)
      handle(events)
      if events.isEmpty || isOver || machine.responding != .waiting { break }
      if machine.hasKept, !isOccupied, !turns.mayTake { turns.getInLine() }
    }
    isHandling = false
    guard !isOver else { return }
    // The client had closed its half, and this was its last request.
    if machine.shouldClose { return channel.closeAfterFlush() }
    if machine.isIdle { armTimer(transport.limits.http.idleTimeout) }
  }

  private func handle(_ events: [HTTPServerEvent]) {
    for event in events where !isOver {
      switch event {
      case .request(let head, let expectsContinue): begin(head, expectsContinue: expectsContinue)
      case .body(let piece): take(piece)
      case .requestEnded: if let incoming { dispatch(incoming) }
      case .failed(let failure): fail(failure)
      }
    }
  }

  private func begin(_ head: HTTPRequestHead, expectsContinue: Bool) {
    if !sharing.isEmpty { sharing = [] }
    let request = Incoming(head, verdict(on: head), awaitsContinue: expectsContinue)
    incoming = request
    if case .asks(let endpoint, let path, let question) = request.verdict {
      request.question = transport.admission.ask(question) { [weak self, weak request] outcome in
        guard let self, let request, self.incoming === request, request.question != nil else { return }
        request.question = nil
        switch outcome {
        case .admitted(let caller, _): request.verdict = .admitted(endpoint, path: path, caller)
        case .refused(let reason):
          request.verdict = .answered(
            .error(403, reason, "FORBIDDEN", note: .credentials("A client was refused by the program.")))
        case .unknown(let reason): request.verdict = .answered(Admission.unknownCredentials(reason))
        }
        if case .answered = request.verdict {
          request.dropped = request.body.count
          request.body = []
        }
        self.judged(request)
        if request.isWhole, self.incoming === request { self.dispatch(request) }
        self.readNext()
      }
    }
    judged(request)
  }

  private func verdict(on head: HTTPRequestHead) -> RequestVerdict {
    do {
      try connection.peer.take(head, trusted: transport.trustedProxies)
    } catch {
      return .answered(.error(400, "\(error)", "BAD_REQUEST", note: .violation))
    }
    return judge.verdict(on: head, sharing: &sharing)
  }

  /// Acts on the verdict as soon as it stands.
  private func judged(_ request: Incoming) {
    switch request.verdict {
    case .asks: break
    case .admitted:
      if request.awaitsContinue { channel.write { machine.sendContinue(to: &$0.bytes) } }
      request.awaitsContinue = false
    case .answered(let answer):
      // What is small is dropped, so that the connection can be kept.
      if request.awaitsContinue
        || RequestJudge.declaredLength(of: request.head) > transport.limits.http.refusedBodyBytes
      {
        if !request.isWhole { refuseNow(answer) }
      }
    }
  }

  private func take(_ piece: [UInt8]) {
    guard let request = incoming else { return }
    switch request.verdict {
    case .admitted(let endpoint, _, _):
      request.take(piece)
      if request.body.count > endpoint.bodyBytes(request.head) { refuseNow(endpoint.tooLarge(request.head)) }
    case .asks: request.take(piece)
    case .answered(let answer):
      request.dropped += piece.count
      if request.dropped > transport.limits.http.refusedBodyBytes { refuseNow(answer) }
    }
  }

  /// Whether reading waits for the program: until it has decided, no more of a body is kept than of a refused one.
  private var awaitsDecision: Bool {
    guard let incoming, incoming.question != nil else { return false }
    return incoming.body.count >= transport.limits.http.refusedBodyBytes
  }

  /// Answers before the request has arrived whole, and ends the connection: skipping the rest could take for ever.
  private func refuseNow(_ answer: ImmediateAnswer) {
    incoming = nil
    timer.cancel()
    send(answer, closing: true)
  }

  private func fail(_ failure: HTTPFailure) {
    sharing = []
    incoming = nil
    guard machine.responding == .waiting else {
      noteViolation(failure.status, "\(failure)")
      return channel.abort()
    }
    send(.text(failure.status, "\(failure)", note: .violation), closing: true)
  }

  // MARK: Dispatching

  private func dispatch(_ request: Incoming) {
    timer.cancel()
    if !request.isWhole { turns.take(isLast: !machine.hasKept) }
    request.isWhole = true
    switch request.verdict {
    case .asks: return
    case .answered(let answer):
      incoming = nil
      transport.tally.add(.requests)
      send(answer, closing: false)
    case .admitted(let endpoint, let path, let admitted):
      incoming = nil
      transport.tally.add(.requests)
      let isUpgrade = endpoint.upgrade != nil && WebSocketUpgradeRequest.isAsked(by: request.head)
      let caller: Caller
      let handshake = isUpgrade ? endpoint.handshake : nil
      switch transport.admission.proved(admitted, by: request.head, body: request.body, handshake: handshake) {
      case .success(let proved): caller = proved
      case .failure(let refusal): return send(Admission.unknownCredentials(refusal.reason), closing: false)
      }
      noteCaller(caller)
      let whole = HTTPRequest(head: request.head, body: request.body, path: path, caller: caller, peer: connection.peer)
      if isUpgrade, let upgrade = endpoint.upgrade {
        return self.upgrade(whole, upgrade)
      }
      if endpoint.countsRequests, let refusal = transport.spend(on: whole) { return send(refusal, closing: false) }
      let responder = HTTPResponder(request.head, on: self)
      self.responder = responder
      endpoint.respond(whole, responder)
    }
  }

  private func upgrade(
    _ request: HTTPRequest, _ choose: (WebSocketUpgradeRequest, HTTPRequest) -> SocketAnswer
  ) {
    let asked: WebSocketUpgradeRequest
    do {
      asked = try WebSocketUpgradeRequest(request.head)
    } catch {
      return send(.text(error.status, "\(error)", headers: error.fields, note: .violation), closing: true)
    }
    guard !transport.isDraining else { return send(.draining, closing: true) }
    switch choose(asked, request) {
    case .refuse(let answer): send(answer, closing: true)
    case .open(let subprotocol, let endpoint):
      let deflate = WebSocketDeflateSettings().accept(asked.extensions)
      let response = asked.response(subprotocol: subprotocol, deflate: deflate?.response)
      channel.write { machine.upgrade(response, to: &$0.bytes) }
      let rest = machine.takeUpgradedBytes()
      end()
      let compression = deflate.map { ZlibCompression($0.agreed, isServer: true, pool: transport.zlib) }
      connection.upgrade(asked, to: endpoint, compression: compression, rest: rest)
    }
  }

  // MARK: Answering, for the responder

  func send(_ answer: ImmediateAnswer, closing: Bool) {
    switch answer.note {
    case .none: break
    case .violation: noteViolation(answer.status, answer.reason)
    case .credentials(let message, let reason): noteRefusedCredentials(answer.status, message, reason)
    }
    send(answer.status, answer.headers, body: answer.body, closing: closing)
  }

  func send(_ status: Int, _ headers: HTTPHeaders, body: [UInt8], closing: Bool) {
    guard !isOver, machine.responding == .waiting else { return }
    if status >= 400 { transport.tally.add(.requestsRefused) }
    if closing || transport.isDraining { machine.closeAfterResponse() }
    let head = HTTPResponseHead(status: status, headers: shared(headers))
    channel.write { machine.respond(head, lines: transport.dateLine(), body: body, to: &$0.bytes) }
    if status == 429, !transport.isDraining { turns.holdBack() }
    responseEnded()
  }

  func start(_ status: Int, _ headers: HTTPHeaders) {
    guard !isOver, machine.responding == .waiting else { return }
    if transport.isDraining { machine.closeAfterResponse() }
    let head = HTTPResponseHead(status: status, headers: shared(headers))
    channel.write { machine.beginStreaming(head, lines: transport.dateLine(), to: &$0.bytes) }
    watchReader()
  }

  /// Ends the connection of a client that reads nothing of a streamed response, which nothing else would: it asks for
  /// nothing and is never asked.
  private func watchReader() {
    armTimer(transport.limits.http.unreadTimeout)
  }

  private func judgeReader() {
    let now = channel.reading
    if let now, now.isStalled(since: reading) {
      transport.tally.add(.readersGivenUp)
      return channel.abort()
    }
    reading = now
    watchReader()
  }

  func write(prefix: [UInt8], _ payload: [UInt8], suffix: [UInt8]) -> Bool {
    channel.write { machine.stream(prefix: prefix, payload: payload, suffix: suffix, to: &$0.bytes) }
    return channel.pendingBytes <= transport.limits.session.highWaterBytes
  }

  func finish() {
    guard !isOver, case .streaming = machine.responding else { return }
    channel.write { machine.endStreaming(to: &$0.bytes) }
    responseEnded()
  }

  private func responseEnded() {
    responder = nil
    reading = nil
    timer.cancel()
    transport.onProgress?()
    if machine.shouldClose { return channel.closeAfterFlush() }
    readNext()
  }

  /// The fields of a response, with those for a page at another origin.
  private func shared(_ headers: HTTPHeaders) -> HTTPHeaders {
    var headers = headers
    for (name, value) in sharing { headers.append(name, value) }
    return headers
  }

  /// Writes who is served, once for each caller of the connection. Pages that need no credentials have none.
  private func noteCaller(_ caller: Caller) {
    guard let grant = caller.grant, connection.peer.lastGrant != grant else { return }
    connection.peer.lastGrant = grant
    transport.audit.connected(caller.identity, connection.peer, over: "http")
  }

  // MARK: Faults

  func noteViolation(_ status: Int, _ reason: String) {
    transport.noteViolation(
      reason, [(.connection, "\(connection.serial)"), (.status, "\(status)")], isLogged: isNoted(status))
  }

  func noteRefusedCredentials(_ status: Int, _ message: StaticString, _ reason: String?) {
    transport.noteRefusal(message, reason: reason, isLogged: isNoted(status), over: connection.peer)
  }

  /// Whether a violation with this status was logged of this connection; from now on it was.
  private func isNoted(_ status: Int) -> Bool {
    if notedStatuses.contains(status) { return true }
    notedStatuses.append(status)
    return false
  }

  // MARK: The connection

  func drained() {
    responder?.clientCaughtUp()
  }

  func drain() {
    guard !isOver else { return }
    machine.closeAfterResponse()
    if machine.shouldClose { channel.closeAfterFlush() }
  }

  var owesNothing: Bool { responder == nil && incoming == nil && machine.shouldClose }

  var awaitsPeerOnly: Bool { owesNothing && channel.pendingBytes == 0 }

  /// The client has sent everything. True when the answer under way is still worth sending.
  func peerFinished() -> Bool {
    if let responder, responder.endsWithPeer {
      self.responder = nil
      responder.connectionClosed()
      return false
    }
    var events: [HTTPServerEvent] = []
    machine.inputEnded(events: &events)
    handle(events)
    return responder != nil || incoming?.question != nil
  }

  func closed() {
    let responder = responder
    end()
    responder?.connectionClosed()
  }

  private func end() {
    isOver = true
    timer.end()
    turns.end()
    incoming = nil
    responder = nil
  }
}
