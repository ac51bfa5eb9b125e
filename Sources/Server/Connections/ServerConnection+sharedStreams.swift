internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletJSON
internal import MartletRuntime
internal import MartletVocabulary
internal import MartletWireProtocols

/// GraphQL over server-sent events in single connection mode: `PUT` reserves a stream and answers its token, `GET` opens
/// it, `POST` starts operations on it, `DELETE` ends them (docs/PROTOCOL.md, "One event stream for several
/// operations").
extension ServerConnection {
  /// Takes a request about a shared stream; false for any other.
  func routeSharedStream(_ head: HTTPRequestHead, _ body: [UInt8]) -> Bool {
    let token = SharedEventStream.token(of: head)
    if head.method == "PUT" {
      reserveStream(head, proposed: token)
      return true
    }
    guard let token else {
      guard head.method == "DELETE", head.path == "/graphql/stream" else { return false }
      refuseUnknownStream()
      return true
    }
    guard hub.node.streams.isKnown(token) else {
      // Some clients put a token of their own on whatever they send.
      if SharedEventStream.namesEvents(head), SharedEventStream.carriesOperation(head, body: body) { return false }
      guard ["GET", "POST", "DELETE"].contains(head.method) else { return false }
      refuseUnknownStream()
      return true
    }
    switch head.method {
    case "GET", "POST":
      if SharedEventStream.opens(head, body: body) {
        openSharedStream(token, head)
      } else {
        asOwner(of: token, head) { $0.postOperation(token, head, body) }
      }
    case "DELETE": asOwner(of: token, head) { $0.dropOperation(token, head) }
    default: return false
    }
    return true
  }

  /// Whether a request opens a stream by nothing but its token: a browser's event stream can send no header.
  func isTicket(_ head: HTTPRequestHead) -> Bool {
    guard head.method == "GET", let token = SharedEventStream.token(of: head), showsNothing(head) else { return false }
    return SharedEventStream.opens(head, body: []) && hub.node.streams.isReserved(token)
  }

  private func showsNothing(_ head: HTTPRequestHead) -> Bool {
    head.headers["x-api-key"] == nil && head.headers["Authorization"] == nil && credentials(of: head).isEmpty
  }

  private func reserveStream(_ head: HTTPRequestHead, proposed: String?) {
    let streams = hub.node.streams
    guard !hub.isDraining else { return respond(503, closing: true) }
    if let proposed, streams.isKnown(proposed) {
      return refuseRequest(409, "There is a stream of this token already.", "STREAM_EXISTS")
    }
    let token = hub.node.calendar.identifier()
    guard streams.reserve(token, for: owner(of: head)) else {
      return refuseRequest(429, "Too many streams are reserved and not opened.", "TOO_MANY_STREAMS")
    }
    hub.loop.schedule(at: hub.loop.now + hub.node.limits.streamReservationTimeout) { streams.expire(token) }
    respond(
      201, HTTPHeaders([("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")]),
      body: Array(token.utf8))
  }

  /// The client broke a rule of this protocol.
  private func refuseRequest(_ status: Int, _ message: String, _ code: String) {
    noteViolation(status, message)
    respondError(status, message, code)
  }

  private func refuseUnknownStream() {
    refuseRequest(404, "There is no stream of this token. Reserve one by PUT.", "STREAM_NOT_FOUND")
  }

  // MARK: Whose it is

  private func owner(of head: HTTPRequestHead) -> StreamOwner {
    let access = hub.node.access
    let all = credentials(of: head)
    let grant = access.grant(apiKey: head.headers["x-api-key"], authorization: head.headers["Authorization"])
    var owner = StreamOwner(grant: grant, shown: JSONObject(), credentials: all)
    guard hub.node.onConnect != nil else { return owner }
    for (name, value) in all {
      // The key may come in whichever field.
      if case .key? = value.string.flatMap({ access.grant(apiKey: nil, authorization: $0) }) { continue }
      owner.shown[name] = value
    }
    return owner
  }

  private func refuseOwner() {
    hub.noteRefusal(
      "A request was refused: the stream was reserved with other credentials.", isLogged: isNoted(403))
    respondError(403, "The stream was reserved with other credentials.", "FORBIDDEN")
  }

  /// Goes on for whoever reserved the stream, and for credentials that the program takes in place of those.
  private func asOwner(
    of token: String, _ head: HTTPRequestHead, _ body: @escaping (ServerConnection) -> Void
  ) {
    let claimant = owner(of: head)
    switch hub.node.streams.claim(token, by: claimant) {
    case .unknown: return refuseUnknownStream()
    case .otherKey: return refuseOwner()
    case .granted: return body(self)
    case .otherCredentials: break
    }
    guard let question = hub.node.onConnect else { return refuseOwner() }
    let crossing = Crossing()
    hold(crossing)
    let request = ConnectionRequest(payload: claimant.credentials, dialect: .eventStream)
    crossing.question = hub.ask(question, request) { [weak self, weak crossing] answer in
      guard let self, crossing?.question != nil else { return }
      crossing?.question = nil
      switch answer {
      case .accept(_, let duration):
        if let stream = self.hub.node.streams.renew(token, claimant) {
          stream.loop.execute { stream.value.expire(after: duration) }
        }
        body(self)
      case .refuse(let reason):
        self.hub.noteRefusal("A client was refused by the program.", isLogged: self.isNoted(403))
        self.respondError(403, reason, "FORBIDDEN")
      }
    }
  }

  // MARK: Opening

  private func openSharedStream(_ token: String, _ head: HTTPRequestHead) {
    guard SharedEventStream.acceptsEvents(head) else {
      return refuse(GraphQLOverHTTP.RequestFailure(.eventStreamNotAcceptable, responseType: .json))
    }
    guard !hub.isDraining else { return respond(503, closing: true) }
    let opener = showsNothing(head) ? nil : owner(of: head)
    if let opener {
      switch hub.node.streams.claim(token, by: opener) {
      case .granted: break
      case .unknown: return refuseUnknownStream()
      case .otherKey, .otherCredentials: return refuseOwner()
      }
    }
    let session = GraphQLSession(sharedStreamOn: hub)
    switch hub.node.streams.open(token, LoopBound(session, on: hub.loop), by: opener) {
    case .unknown: refuseUnknownStream()
    case .alreadyOpen: refuseRequest(409, "The stream is open already.", "STREAM_OPEN")
    case .opened(let waiting, let owner):
      // Whoever opens it by its token alone has what its owner had.
      if let grant = owner.grant, !hub.node.access.isGood(grant) {
        hub.node.streams.close(token)
        return refuseUnknownStream()
      }
      session.grant = owner.grant
      attach(session)
      session.begin(HTTPStream(self, sharedAs: token), waiting, owner.credentials)
    }
  }

  // MARK: Operations

  private func postOperation(_ token: String, _ head: HTTPRequestHead, _ body: [UInt8]) {
    hub.counters.add(.operations)
    let request: GraphQLRequest
    let id: OperationID
    do {
      let accepted = try GraphQLOverHTTP.acceptOperation(head, body: body)
      request = accepted.request
      guard let named = SharedEventStream.operation(in: request.extensions) else {
        return refuse(
          GraphQLOverHTTP.RequestFailure(
            .request(GraphQLRequestError(.wrongType, "extensions.operationId", "text that names the operation")),
            responseType: .json))
      }
      id = named
      let prepared = try hub.prepare(try hub.document(of: request), operationName: request.operationName)
      if accepted.isGET, prepared.plan.kind == .mutation {
        return refuse(GraphQLOverHTTP.RequestFailure(.mutationOverGET, responseType: .json))
      }
    } catch let failure as GraphQLOverHTTP.RequestFailure {
      return refuse(failure)
    } catch let error as RequestErrors {
      return refuseOperation(error.errors.map { ResponseError($0) })
    } catch let error as PersistedOperationError {
      if error.isFault { noteViolation(400, error.description) }
      return refuseOperation([hub.refusal(error)])
    } catch {
      return refuseOperation([.internalError])
    }
    let operation = StreamRegistry.Waiting(id: id, request: request, since: hub.cursor)
    switch hub.node.streams.post(token, operation) {
    case .unknown: refuseUnknownStream()
    case .waits: respond(202)
    case .idInUse: answer(.idInUse)
    case .tooMany: answer(.tooMany)
    case .open(let session):
      cross(to: session, { $0.startShared(operation) }, then: { $0.answer($1) })
    }
  }

  /// The document cannot run: the client hears so here, as nothing of it will come on the stream.
  private func refuseOperation(_ errors: [ResponseError]) {
    hub.counters.add(.operationsRefused)
    respond(
      400, HTTPHeaders([("Content-Type", GraphQLOverHTTP.ResponseType.json.contentType)]),
      body: ResponseTree(data: nil, errors: errors).bytes)
  }

  private func answer(_ admission: SharedStreamMachine.Admission) {
    if admission == .started { return respond(202) }
    hub.counters.add(.operationsRefused)
    switch admission {
    case .started: break
    case .closed: refuseUnknownStream()
    case .idInUse: refuseRequest(409, "An operation of this id is running on the stream.", "OPERATION_EXISTS")
    case .idTooLong: refuseRequest(400, "extensions.operationId is too long.", "BAD_USER_INPUT")
    case .tooMany:
      let most = hub.node.limits.operationsPerConnection
      refuseRequest(429, "This stream has \(most) operations already.", "TOO_MANY_OPERATIONS")
    }
  }

  private func dropOperation(_ token: String, _ head: HTTPRequestHead) {
    guard let text = SharedEventStream.operation(of: head), let id = OperationID(text) else {
      return refuseRequest(400, "The parameter operationId is missing.", "BAD_USER_INPUT")
    }
    switch hub.node.streams.drop(token, id) {
    case .unknown: refuseUnknownStream()
    case .waits, .idInUse, .tooMany: respond(200)
    case .open(let session):
      cross(to: session, { $0.stopShared(id) }, then: { connection, _ in connection.respond(200) })
    }
  }

  /// Does something on the loop of a stream, and answers on this one.
  private func cross<Answer: Sendable>(
    to session: LoopBound<GraphQLSession>, _ body: @escaping @Sendable (GraphQLSession) -> Answer,
    then answer: @escaping @Sendable (ServerConnection, Answer) -> Void
  ) {
    let back = LoopBound(self, on: hub.loop)
    hold(Crossing())
    session.loop.execute {
      let result = body(session.value)
      back.loop.execute { answer(back.value, result) }
    }
  }

  /// A request that is just being answered by another loop, or by the program.
  private final class Crossing: AnsweringOperation {
    var question: PendingQuestion?
    func cancel() { question = nil }
    func readerCaughtUp() {}
  }
}
