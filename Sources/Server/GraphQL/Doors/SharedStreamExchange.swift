internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletRuntime
internal import MartletWireProtocols

/// One request about an event stream that operations share, and its answer.
///
/// GraphQL over server-sent events in single connection mode: `PUT` reserves a stream and answers its token, `GET` opens
/// it, `POST` starts operations on it, `DELETE` ends them (docs/PROTOCOL.md, "One event stream for several
/// operations").
struct SharedStreamExchange {
  private let service: GraphQLService
  private let request: HTTPRequest
  private let responder: HTTPResponder
  private let access: SharedStreams

  private var head: HTTPRequestHead { request.head }
  private var streams: StreamRegistry { service.node.streams }

  init(_ service: GraphQLService, _ request: HTTPRequest, _ responder: HTTPResponder) {
    self.service = service
    self.request = request
    self.responder = responder
    access = SharedStreams(service)
  }

  /// Takes a request about a shared stream; false for any other.
  func take() -> Bool {
    let token = SharedEventStream.token(of: head)
    if head.method == "PUT" {
      reserve(proposed: token)
      return true
    }
    guard let token else {
      guard head.method == "DELETE", head.path == "/graphql/stream" else { return false }
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
    guard streams.reserve(token, for: access.owner(of: request)) else {
      return refuse(429, "Too many streams are reserved and not opened.", "TOO_MANY_STREAMS")
    }
    let loop = service.hub.loop
    loop.schedule(at: loop.now + service.node.limits.streamReservationTimeout) { [streams] in streams.expire(token) }
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

  /// Calls `body` for the owner of a stream, and for credentials that the program accepts in place of the owner's.
  private func asOwner(of token: String, _ body: @escaping () -> Void) {
    let claimant = access.owner(of: request)
    switch streams.claim(token, by: claimant) {
    case .unknown: return refuseUnknown()
    case .otherKey: return refuseOwner()
    case .granted: return body()
    case .otherCredentials: break
    }
    guard let question = service.node.onConnect else { return refuseOwner() }
    let asked = ConnectionRequest(payload: claimant.credentials, dialect: .eventStream)
    var pending: PendingQuestion?
    pending = service.hub.ask(question, asked) { answer in
      guard pending != nil else { return }
      pending = nil
      switch answer {
      case .accept(_, let duration):
        if let stream = streams.renew(token, claimant) {
          stream.loop.execute { stream.value.expire(after: duration) }
        }
        body()
      case .refuse(let reason):
        responder.send(
          .error(403, reason, "FORBIDDEN", note: .credentials("A client was refused by the program.")))
      }
    }
    responder.follow(closed: { pending = nil })
  }

  // MARK: Opening

  private func open(_ token: String) {
    guard SharedEventStream.acceptsEvents(head) else {
      return OperationExchange(service, request, responder).refuse(
        GraphQLOverHTTP.RequestFailure(.eventStreamNotAcceptable, responseType: .json))
    }
    guard !service.transport.isDraining else { return responder.send(.draining, closing: true) }
    let opener = access.showsNothing(head) ? nil : access.owner(of: request)
    if let opener {
      switch streams.claim(token, by: opener) {
      case .granted: break
      case .unknown: return refuseUnknown()
      case .otherKey, .otherCredentials: return refuseOwner()
      }
    }
    let session = GraphQLSession(sharedStreamOf: service)
    switch streams.open(token, LoopBound(session, on: service.hub.loop), by: opener) {
    case .unknown: refuseUnknown()
    case .alreadyOpen: refuse(409, "The stream is open already.", "STREAM_OPEN")
    case .opened(let waiting, let owner):
      // A client that opens it by its token alone has the rights of its owner.
      if let grant = owner.grant, !service.node.access.isGood(grant) {
        streams.close(token)
        return refuseUnknown()
      }
      session.caller = Caller(grant: owner.grant)
      session.begin(HTTPStream(responder, sharedAs: token), waiting, owner.credentials)
    }
  }

  // MARK: Operations

  private func post(_ token: String) {
    service.hub.counters.add(.operations)
    let asked: GraphQLRequest
    let id: OperationID
    do throws(GraphQLOverHTTP.RequestFailure) {
      let accepted = try GraphQLOverHTTP.acceptOperation(head, body: request.body)
      asked = accepted.request
      guard let named = SharedEventStream.operation(in: asked.extensions) else {
        throw GraphQLOverHTTP.RequestFailure(
          .request(GraphQLRequestError(.wrongType, "extensions.operationId", "text that names the operation")),
          responseType: .json)
      }
      id = named
      switch service.prepare(asked, for: request.caller) {
      case .failure(let refusal): return refuseOperation(refusal)
      case .success(let prepared):
        if accepted.isGET, prepared.plan.kind == .mutation {
          throw GraphQLOverHTTP.RequestFailure(.mutationOverGET, responseType: .json)
        }
      }
    } catch {
      return OperationExchange(service, request, responder).refuse(error)
    }
    let operation = StreamRegistry.Waiting(id: id, request: asked, since: service.hub.feed.cursor)
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
    service.hub.counters.add(.operationsRefused)
    responder.send(
      400, HTTPHeaders([("Content-Type", GraphQLOverHTTP.ResponseType.json.contentType)]), body: refusal.tree.bytes)
  }

  private func answer(_ admission: SharedStreamMachine.Admission) {
    if admission == .started { return responder.send(202) }
    service.hub.counters.add(.operationsRefused)
    switch admission {
    case .started: break
    case .closed: refuseUnknown()
    case .idInUse: refuse(409, "An operation of this id is running on the stream.", "OPERATION_EXISTS")
    case .idTooLong: refuse(400, "extensions.operationId is too long.", "BAD_USER_INPUT")
    case .tooMany:
      let most = service.node.limits.operationsPerConnection
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
    to session: LoopBound<GraphQLSession>, _ body: @escaping @Sendable (GraphQLSession) -> Answer,
    then answer: @escaping @Sendable (SharedStreamExchange, Answer) -> Void
  ) {
    let back = LoopBound(self, on: service.hub.loop)
    session.loop.execute {
      let result = body(session.value)
      back.loop.execute { answer(back.value, result) }
    }
  }
}
