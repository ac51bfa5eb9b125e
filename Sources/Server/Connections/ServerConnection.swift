internal import MartletJSON
package import MartletRuntime
internal import MartletSockets
internal import MartletVocabulary
internal import MartletWireProtocols

/// One accepted connection: HTTP requests one after the other, until it ends or becomes a WebSocket.
///
/// Confined to its loop.
package final class ServerConnection {
  let hub: LoopHub
  /// Its number among those of its loop.
  let serial: Int
  let channel: any ByteChannel
  /// Gone once the connection is a WebSocket, so that an idle socket does not carry it.
  private var http: HTTPExchange?
  private var socket: WebSocketChannel?
  private var timer: LoopTimer?

  /// The HTTP side of a connection.
  private struct HTTPExchange {
    var machine: HTTPServerMachine
    var head: HTTPRequestHead?
    var body: [UInt8] = []
    /// Lets the page that asks read the answer, where it is at another origin.
    var sharing: [(String, String)] = []
    var operation: (any AnsweringOperation)?
    /// Whose results are being streamed.
    var session: GraphQLSession?
    /// What let the request in.
    var grant: AccessControl.Grant?
    /// What has been said of this connection in the log.
    var notedStatuses: [Int] = []
    /// Set while received bytes are handled, so that answers do not parse the next request beneath it.
    var isHandling = false
  }

  package init(_ hub: LoopHub, _ channel: any ByteChannel) {
    self.hub = hub
    serial = hub.nextSerial()
    self.channel = channel
    var limits = HTTPLimits()
    // What carries no files is held to `bodyBytes` when its head has come.
    limits.bodyBytes = max(hub.node.limits.bodyBytes, hub.node.limits.uploadBytes)
    limits.startLineBytes = hub.node.limits.requestLineBytes
    limits.headerBytes = hub.node.limits.headerBytes
    http = HTTPExchange(machine: HTTPServerMachine(limits: limits))
    hub.connections[ObjectIdentifier(self)] = self
    hub.counters.add(.connectionsOpened)
    armTimer(hub.node.limits.requestTimeout)
  }

  // MARK: Time

  private func armTimer(_ timeout: Duration) {
    timer?.cancel()
    timer = hub.loop.schedule(at: hub.loop.now + timeout) { [weak self] in self?.expire() }
  }

  /// A request that does not arrive, or a connection nobody uses.
  private func expire() {
    guard let http, http.operation == nil, http.session == nil else { return }
    if http.machine.isIdle || http.machine.responding != .waiting {
      channel.closeAfterFlush()
    } else {
      noteViolation(408, "the request did not arrive in time")
      respond(408, closing: true)
    }
  }

  // MARK: Requests

  /// What let the present request in; nil when nothing did, or nothing has been looked at.
  var grant: AccessControl.Grant? {
    get { http?.grant }
    set { http?.grant = newValue }
  }

  private func handle(_ events: [HTTPServerEvent]) {
    for event in events {
      switch event {
      case .request(let head, let expectsContinue):
        http?.head = head
        http?.body = []
        http?.sharing = sharing(of: head)
        http?.grant = nil
        if isTooLarge(head, HTTPSyntax.decimal(head.headers.values("Content-Length").first ?? []) ?? 0) {
          refuseBody()
          continue
        }
        if expectsContinue { channel.write { http?.machine.sendContinue(to: &$0.bytes) } }
      case .body(let piece):
        guard let head = http?.head else { continue }
        http?.body.append(contentsOf: piece)
        if isTooLarge(head, http?.body.count ?? 0) { refuseBody() }
      case .requestEnded:
        hub.counters.add(.requests)
        timer?.cancel()
        if let head = http?.head { route(head, http?.body ?? []) }
      case .failed(let failure):
        http?.sharing = []
        noteViolation(failure.status, "\(failure)")
        if http?.machine.responding == .waiting {
          let type = HTTPHeaders([("Content-Type", "text/plain; charset=utf-8")])
          respond(failure.status, type, body: Array("\(failure)\n".utf8), closing: true)
        } else {
          channel.abort()
        }
      }
    }
  }

  private func isTooLarge(_ head: HTTPRequestHead, _ count: Int) -> Bool {
    count > hub.node.limits.bodyBytes && !MultipartRequest.isAsked(by: head)
  }

  /// Answers a body that is too large for what it carries; nothing of it runs.
  private func refuseBody() {
    noteViolation(413, "\(HTTPFailure(.bodyTooLarge))")
    http?.head = nil
    http?.body = []
    respondError(413, "\(HTTPFailure(.bodyTooLarge))", "BODY_TOO_LARGE", closing: true)
  }

  private func sharing(of head: HTTPRequestHead) -> [(String, String)] {
    guard let origin = head.headers["Origin"], head.path.hasPrefix("/graphql") else { return [] }
    return hub.node.access.origins.sharing(with: origin)
  }

  /// The fields of a response, with its date and those for a page at another origin.
  private func completed(_ headers: HTTPHeaders) -> HTTPHeaders {
    var headers = headers
    headers.append("Date", hub.httpDate())
    for (name, value) in http?.sharing ?? [] { headers.append(name, value) }
    return headers
  }

  /// The client broke a rule or a limit, and is answered with `status`.
  func noteViolation(_ status: Int, _ reason: String) {
    hub.noteViolation(
      reason, [(.connection, "\(serial)"), (.status, "\(status)")], isLogged: isNoted(status))
  }

  /// Whether the log has it of this connection that it was answered with `status`; from now on it has.
  func isNoted(_ status: Int) -> Bool {
    if http?.notedStatuses.contains(status) == true { return true }
    http?.notedStatuses.append(status)
    return false
  }

  /// Sends a whole response and turns to the next request.
  func respond(
    _ status: Int, _ headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = [], closing: Bool = false
  ) {
    guard http?.machine.responding == .waiting else { return }
    if status >= 400 { hub.counters.add(.requestsRefused) }
    if closing || hub.isDraining { http?.machine.closeAfterResponse() }
    let head = HTTPResponseHead(status: status, headers: completed(headers))
    channel.write { http?.machine.respond(head, body: body, to: &$0.bytes) }
    http?.operation = nil
    if closing || http?.machine.shouldClose == true { return channel.closeAfterFlush() }
    goOn()
  }

  // MARK: Streamed responses

  /// Begins a response whose body comes in pieces.
  func beginStreaming(_ status: Int, _ headers: HTTPHeaders) {
    guard http?.machine.responding == .waiting else { return }
    if hub.isDraining { http?.machine.closeAfterResponse() }
    let head = HTTPResponseHead(status: status, headers: completed(headers))
    channel.write { http?.machine.beginStreaming(head, to: &$0.bytes) }
  }

  /// Sends a piece of the body; false while the client is behind, until the operation's `readerCaughtUp`.
  func stream(_ piece: [UInt8]) -> Bool {
    channel.write { http?.machine.stream(piece, to: &$0.bytes) }
    return channel.pendingBytes <= hub.node.limits.highWaterBytes
  }

  /// Ends the body and turns to the next request.
  func endStreaming() {
    guard let http, case .streaming = http.machine.responding else { return }
    channel.write { self.http?.machine.endStreaming(to: &$0.bytes) }
    self.http?.operation = nil
    if self.http?.machine.shouldClose == true { return channel.closeAfterFlush() }
    goOn()
  }

  /// Looks for a pipelined request, and for whether to read on.
  private func goOn() {
    guard http != nil else { return }
    channel.isReading = http?.machine.wantsBytes ?? true
    if http?.isHandling == true { return }
    http?.isHandling = true
    var events: [HTTPServerEvent] = []
    repeat {
      events.removeAll(keepingCapacity: true)
      http?.machine.advance(&events)
      handle(events)
    } while !events.isEmpty && http?.machine.responding == .waiting
    http?.isHandling = false
    if http?.machine.isIdle == true { armTimer(hub.node.limits.idleTimeout) }
  }

  /// Keeps what answers the request, so that it ends with the connection.
  func hold(_ operation: any AnsweringOperation) {
    http?.operation = operation
  }

  // MARK: Streamed results

  /// Answers with the results of an operation as they come.
  func openStream(_ media: HTTPStreamMedia, _ request: GraphQLRequest) {
    guard http?.machine.responding == .waiting else { return }
    guard !hub.isDraining else { return respond(503, closing: true) }
    // A document that cannot be read is refused later; it has no say in what the stream carries.
    let asked = try? RequestContinuity(extensions: request.extensions)
    let continuity = Continuity(cursors: asked.map { $0.cursors || $0.resume != nil } ?? false)
    let session = GraphQLSession(hub, streaming: media, continuity, grant)
    attach(session)
    session.begin(HTTPStream(self, media), request, http?.head.map(credentials) ?? JSONObject())
  }

  /// Has a session write the answer to the request.
  func attach(_ session: GraphQLSession) {
    http?.session = session
  }

  /// What a request shows of who sends it, for a program that is asked.
  func credentials(of head: HTTPRequestHead) -> JSONObject {
    hub.node.access.credentials { head.headers.value(named: $0) }
  }

  /// Answers a client that the program does not let in; its stream has not begun.
  func refuseStream(_ reason: String) {
    guard let session = http?.session else { return }
    http?.session = nil
    session.ended()
    respondError(403, reason, "FORBIDDEN")
  }

  /// Sends a piece of the streamed answer, behind its head.
  func append(to media: HTTPStreamMedia, prefix: [UInt8] = [], _ payload: [UInt8], suffix: [UInt8] = []) {
    guard http?.session != nil else { return }
    channel.write {
      if http?.machine.responding == .waiting {
        var head = media.head
        head.headers = completed(head.headers)
        http?.machine.beginStreaming(head, to: &$0.bytes)
      }
      http?.machine.stream(prefix: prefix, payload: payload, suffix: suffix, to: &$0.bytes)
    }
  }

  /// Ends the streamed answer and turns to the next request.
  func endStreamOfResults() {
    guard let session = http?.session else { return }
    http?.session = nil
    channel.write { http?.machine.endStreaming(to: &$0.bytes) }
    session.ended()
    if http?.machine.shouldClose == true { return channel.closeAfterFlush() }
    goOn()
  }

  // MARK: WebSocket

  /// Answers an upgrade and gives the stream to a session.
  ///
  /// - Parameter choice: nil when the client offered none that is spoken here.
  func upgrade(_ request: WebSocketUpgradeRequest, _ choice: DialectChoice?) {
    let grant = self.grant
    let deflate = WebSocketDeflateSettings().accept(request.extensions)
    let response = request.response(
      subprotocol: choice?.dialect.subprotocol, deflate: deflate?.response)
    channel.write { http?.machine.upgrade(response, to: &$0.bytes) }
    let rest = http?.machine.takeUpgradedBytes() ?? []
    http = nil
    timer?.cancel()
    timer = nil
    var limits = WebSocketLimits()
    limits.messageBytes = hub.node.limits.messageBytes
    limits.pingInterval = hub.node.limits.pingInterval
    limits.pongTimeout = hub.node.limits.pongTimeout
    let compression = deflate.map { ZlibCompression($0.agreed, isServer: true, pool: hub.zlib) }
    let session = GraphQLSession(hub, choice ?? DialectChoice(.transportWS), grant)
    let socket = WebSocketChannel(
      channel, role: .server, limits: limits, compression: compression, handler: session)
    self.socket = socket
    session.begin(socket)
    guard choice != nil else {
      // The reference server completes the upgrade and says why; clients cope with nothing else.
      return session.violated(.subprotocolNotAcceptable)
    }
    if !rest.isEmpty { unsafe socket.received(rest.span.bytes) }
  }

  // MARK: Shutting down

  /// Idle connections end now, others with their response; sockets are told that the server goes away.
  func drain() {
    guard http != nil else { return }
    http?.machine.closeAfterResponse()
    if http?.machine.shouldClose == true { channel.closeAfterFlush() }
  }

  /// Whether everything has been sent, the end included, and only the client's end is waited for.
  var awaitsPeerOnly: Bool {
    guard let http, http.operation == nil, http.session == nil else { return false }
    return http.machine.shouldClose && channel.pendingBytes == 0
  }

  func abort() {
    channel.abort()
  }
}

extension ServerConnection: ByteChannelHandler {
  package func received(_ bytes: borrowing RawSpan) {
    if let socket { return socket.received(bytes) }
    guard http != nil else { return }
    if http?.machine.isIdle == true { armTimer(hub.node.limits.requestTimeout) }
    var events: [HTTPServerEvent] = []
    http?.isHandling = true
    http?.machine.receive(bytes, events: &events)
    handle(events)
    http?.isHandling = false
    goOn()
  }

  package func drained() {
    socket?.drained()
    http?.operation?.readerCaughtUp()
    http?.session?.drained()
  }

  package func peerFinished() -> Bool {
    guard http != nil else { return false }
    if let session = http?.session {
      // Who closes its side while it listens has gone; its source ends at once.
      http?.session = nil
      session.ended()
      return false
    }
    var events: [HTTPServerEvent] = []
    http?.machine.inputEnded(events: &events)
    handle(events)
    // An answer that is under way is still worth sending.
    return http?.operation != nil
  }

  package func closed(_ reason: ChannelCloseReason) {
    timer?.cancel()
    timer = nil
    http?.operation?.cancel()
    let session = http?.session
    http = nil
    session?.ended()
    socket?.closed(reason)
    socket = nil
    hub.connections[ObjectIdentifier(self)] = nil
    hub.counters.add(.connectionsClosed)
  }
}
