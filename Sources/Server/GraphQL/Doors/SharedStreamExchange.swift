internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletGraphQLWire
internal import MartletJSON
internal import MartletRuntime
internal import MartletWire

/// One request about an event stream that operations share, and its answer.
///
/// GraphQL over server-sent events in single connection mode: `PUT` reserves a stream and answers its token, `GET`
/// opens it, `POST` starts operations on it, `DELETE` ends them (docs/PROTOCOL.md, "One event stream for several
/// operations").
struct SharedStreamExchange {
  private let service: GraphQLService
  private let request: HTTPRequest
  private let responder: HTTPResponder

  private var head: HTTPRequestHead { request.head }
  private var streams: StreamRegistry { service.node.streams }

  init(_ service: GraphQLService, _ request: HTTPRequest, _ responder: HTTPResponder) {
    self.service = service
    self.request = request
    self.responder = responder
  }

  /// Whether a request opens a stream by nothing but its token: a browser's event stream can send no header.
  static func isTicket(_ head: HTTPRequestHead, _ service: GraphQLService) -> Bool {
    guard head.method == "GET", let token = SharedEventStream.token(of: head),
      head.headers["x-api-key"] == nil, head.headers["Authorization"] == nil,
      service.transport.admission.credentials(of: head).isEmpty
    else { return false }
    return SharedEventStream.opens(head, body: []) && service.node.streams.isReserved(token)
  }

  /// Takes a request about a shared stream; false for any other.
  func take() -> Bool {
    let token = SharedEventStream.token(of: head)
    if head.method == "PUT" {
      reserve(proposed: token)
      return true
    }
    guard let token else {
      guard head.method == "DELETE", service.localPath(of: head) == "/graphql/stream" else { return false }
      refuseUnknown()
      return true
    }
    guard streams.isKnown(token) else {
      // Some clients put a token of their own on whatever they send.
      if SharedEventStream.namesEvents(head), SharedEventStream.carriesOperation(head, body: request.body) {
        return false
      }
      guard ["GET", "POST", "DELETE"].contains(head.method) else { return false }
      refuseUnknown()
      return true
    }
    switch head.method {
    case "GET", "POST":
      if SharedEventStream.opens(head, body: request.body) {
        open(token)
      } else {
        asOwner(of: token) { post(token) }
      }
    case "DELETE": asOwner(of: token) { drop(token) }
    default: return false
    }
    return true
  }

  private func reserve(proposed: String?) {
    guard !service.transport.isDraining else { return responder.send(.draining, closing: true) }
    if let proposed, streams.isKnown(proposed) {
      return refuse(409, "There is a stream of this token already.", "STREAM_EXISTS")
    }
    let token = service.node.calendar.identifier()
    guard streams.reserve(token, for: request.caller) else {
      return refuse(429, "Too many streams are reserved and not opened.", "TOO_MANY_STREAMS")
    }
    let loop = service.loop
    loop.schedule(at: loop.now + service.node.limits.http.streamReservationTimeout) { [streams] in streams.expire(token)
    }
    responder.send(
      201, HTTPHeaders([("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")]),
      body: Array(token.utf8))
  }

  /// The client broke a rule of this protocol.
  private func refuse(_ status: Int, _ message: String, _ code: String) {
    responder.send(.error(status, message, code, note: .violation))
  }

  private func refuseUnknown() {
    refuse(404, "There is no stream of this token. Reserve one by PUT.", "STREAM_NOT_FOUND")
  }

  // MARK: The owner

  private func refuseOwner() {
    responder.send(
      .error(
        403, "The stream was reserved with other credentials.", "FORBIDDEN",
        note: .credentials("A request was refused: the stream was reserved with other credentials.")))
  }

  /// Calls `body` for the owner of a stream. Its credentials have been accepted just now, so that an open stream may go
  /// on as long as they hold.
  private func asOwner(of token: String, _ body: () -> Void) {
    let caller = request.caller
    switch streams.claim(token, by: caller) {
    case .unknown: refuseUnknown()
    case .otherCaller: refuseOwner()
    case .granted(let session):
      if let session, service.transport.admission.asksProgram || caller.deadline != nil {
        session.loop.execute { session.value.renew(caller) }
      }
      body()
    }
  }

  // MARK: Opening

  private func open(_ token: String) {
    guard SharedEventStream.acceptsEvents(head) else {
      return OperationExchange(service, request, responder).refuse(
        GraphQLOverHTTP.RequestFailure(.eventStreamNotAcceptable, responseType: .json))
    }
    guard !service.transport.isDraining else { return responder.send(.draining, closing: true) }
    if !Self.isTicket(head, service) {
      switch streams.claim(token, by: request.caller) {
      case .granted: break
      case .unknown: return refuseUnknown()
      case .otherCaller: return refuseOwner()
      }
    }
    let session = GraphQLSession(sharedStreamOf: service, over: request.peer)
    switch streams.open(token, LoopBound(session, on: service.loop)) {
    case .unknown: refuseUnknown()
    case .alreadyOpen: refuse(409, "The stream is open already.", "STREAM_OPEN")
    case .opened(let waiting, let owner):
      // A client that opens it by its token alone has the rights of its owner.
      let isPast = owner.deadline.map { $0 <= service.loop.now } ?? false
      if isPast || owner.grant.map({ !service.node.access.isGood($0) }) ?? false {
        streams.close(token)
        return refuseUnknown()
      }
      session.begin(HTTPStream(responder, sharedAs: token), waiting, for: owner)
    }
  }

  // MARK: Operations

  private func post(_ token: String) {
    service.counters.add(.operations)
    let asked: RequestPayload
    let id: OperationID
    do throws(GraphQLOverHTTP.RequestFailure) {
      let accepted = try GraphQLOverHTTP.acceptOperation(
        head, body: request.body, limits: .request(service.node.limits))
      asked = accepted.request
      guard let named = SharedEventStream.operation(in: asked.extensions) else {
        throw GraphQLOverHTTP.RequestFailure(
          .request(GraphQLRequestError(.wrongType, "extensions.operationId", "text that names the operation")),
          responseType: .json)
      }
      id = named
      if let refusal = service.judge(bytes: request.sentBytes, request.caller, over: request.peer) {
        return refuseOperation(refusal)
      }
      switch service.prepare(asked, for: request.caller) {
      case .failure(let refusal):
        service.charge(refusal, bytes: request.sentBytes, request.caller, over: request.peer)
        return refuseOperation(refusal)
      case .success(let prepared):
        if accepted.isGET, prepared.plan.kind == .mutation {
          throw GraphQLOverHTTP.RequestFailure(.mutationOverGET, responseType: .json)
        }
        if let refusal = service.charge(prepared, bytes: request.sentBytes, request.caller, over: request.peer) {
          return refuseOperation(refusal)
        }
      }
    } catch {
      return OperationExchange(service, request, responder).refuse(error)
    }
    let operation = StreamRegistry.Waiting(id: id, request: asked, since: service.feed.cursor)
    switch streams.post(token, operation) {
    case .unknown: refuseUnknown()
    case .waits: responder.send(202)
    case .idInUse: answer(.idInUse)
    case .tooMany: answer(.tooMany)
    case .open(let session): cross(to: session, { $0.startShared(operation) }, then: { $0.answer($1) })
    }
  }

  /// The document cannot run: the client is answered here, as nothing of it will come on the stream.
  private func refuseOperation(_ refusal: Refusal) {
    if let violation = refusal.violation { responder.noteViolation(400, violation) }
    service.counters.add(.operationsRefused)
    var headers = HTTPHeaders([("Content-Type", GraphQLOverHTTP.ResponseType.json.contentType)])
    if let pause = refusal.retryAfter { headers.append("Retry-After", pause) }
    responder.send(refusal.isLimit ? 429 : 400, headers, body: refusal.tree.bytes)
  }

  private func answer(_ admission: SharedStreamMachine.Admission) {
    if admission == .started { return responder.send(202) }
    service.counters.add(.operationsRefused)
    switch admission {
    case .started: break
    case .closed: refuseUnknown()
    case .idInUse: refuse(409, "An operation of this id is running on the stream.", "OPERATION_EXISTS")
    case .idTooLong: refuse(400, "extensions.operationId is too long.", "BAD_USER_INPUT")
    case .tooMany:
      let most = service.node.limits.session.operationsPerConnection
      refuse(429, "This stream has \(most) operations already.", "TOO_MANY_OPERATIONS")
    }
  }

  private func drop(_ token: String) {
    guard let text = SharedEventStream.operation(of: head), let id = OperationID(text) else {
      return refuse(400, "The parameter operationId is missing.", "BAD_USER_INPUT")
    }
    switch streams.drop(token, id) {
    case .unknown: refuseUnknown()
    case .waits, .idInUse, .tooMany: responder.send(200)
    case .open(let session):
      cross(to: session, { $0.stopShared(id) }, then: { exchange, _ in exchange.responder.send(200) })
    }
  }

  /// Does something on the loop of a stream, and answers on this one.
  private func cross<Answer: Sendable>(
    to session: LoopBound<any SharedStreamSession>,
    _ body: @escaping @Sendable (any SharedStreamSession) -> Answer,
    then answer: @escaping @Sendable (SharedStreamExchange, Answer) -> Void
  ) {
    let back = LoopBound(self, on: service.loop)
    session.loop.execute {
      let result = body(session.value)
      back.loop.execute { answer(back.value, result) }
    }
  }
}
