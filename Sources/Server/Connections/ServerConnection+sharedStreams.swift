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
      reserveStream(proposed: token)
      return true
    }
    guard let token else { return false }
    switch head.method {
    case "DELETE": dropOperation(token, head)
    case "GET" where SharedEventStream.opens(head): openSharedStream(token, head)
    case "GET", "POST": postOperation(token, head, body)
    default: return false
    }
    return true
  }

  private func reserveStream(proposed: String?) {
    let streams = hub.node.streams
    guard !hub.isDraining else { return respond(503, closing: true) }
    if let proposed, streams.isKnown(proposed) {
      return respondError(409, "There is a stream of this token already.", "STREAM_EXISTS")
    }
    let token = hub.node.identifiers()
    guard streams.reserve(token) else {
      hub.counters.add(.protocolErrors)
      hub.node.log.write(.warning, "An event stream was refused: too many are reserved and not opened.")
      return respondError(429, "Too many streams are reserved and not opened.", "TOO_MANY_STREAMS")
    }
    hub.loop.schedule(at: hub.loop.now + hub.node.limits.streamReservationTimeout) { streams.expire(token) }
    respond(
      201, HTTPHeaders([("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")]),
      body: Array(token.utf8))
  }

  private func refuseUnknownStream() {
    respondError(404, "There is no stream of this token. Reserve one by PUT.", "STREAM_NOT_FOUND")
  }

  // MARK: Opening

  private func openSharedStream(_ token: String, _ head: HTTPRequestHead) {
    guard SharedEventStream.acceptsEvents(head) else {
      return refuse(GraphQLOverHTTP.RequestFailure(.eventStreamNotAcceptable, responseType: .json))
    }
    guard !hub.isDraining else { return respond(503, closing: true) }
    let session = GraphQLSession(sharedStreamOn: hub)
    switch hub.node.streams.open(token, LoopBound(session, on: hub.loop)) {
    case .unknown: refuseUnknownStream()
    case .alreadyOpen: respondError(409, "The stream is open already.", "STREAM_OPEN")
    case .opened(let waiting):
      attach(session)
      session.begin(HTTPStream(self, sharedAs: token), waiting, credentials(of: head))
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
      guard let text = request.extensions["operationId"]?.string, let named = OperationID(text) else {
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
    case .idInUse: respondError(409, "An operation of this id is running on the stream.", "OPERATION_EXISTS")
    case .idTooLong: respondError(400, "extensions.operationId is too long.", "BAD_USER_INPUT")
    case .tooMany:
      let most = hub.node.limits.operationsPerConnection
      respondError(429, "This stream has \(most) operations already.", "TOO_MANY_OPERATIONS")
    }
  }

  private func dropOperation(_ token: String, _ head: HTTPRequestHead) {
    guard let text = SharedEventStream.operation(of: head), let id = OperationID(text) else {
      return respondError(400, "The parameter operationId is missing.", "BAD_USER_INPUT")
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

  /// A request that is just being answered by another loop.
  private final class Crossing: AnsweringOperation {
    func cancel() {}
    func readerCaughtUp() {}
  }
}
