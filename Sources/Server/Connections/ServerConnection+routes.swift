internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletJSON
internal import MartletRuntime
internal import MartletWireProtocols

extension ServerConnection {
  /// `/graphql` by HTTP and WebSocket, and three pages for those who run the server.
  func route(_ head: HTTPRequestHead, _ body: [UInt8]) {
    if head.path.hasPrefix("/graphql"), isShed(head) { return }
    if head.method == "OPTIONS", ["/graphql", "/graphql/stream", "/graphql/realtime", "*"].contains(head.path) {
      return respondOptions(head)
    }
    switch head.path {
    case "/graphql": routeGraphQL(head, body)
    case "/graphql/realtime": routeRealtime(head)
    case "/graphql/stream": routeEventStream(head, body)
    case "/healthz": respondText(200, "ok\n", to: head)
    case "/readyz": respondText(hub.isDraining ? 503 : 200, hub.isDraining ? "draining\n" : "ready\n", to: head)
    case "/metrics": respondMetrics(head)
    default: respondText(404, "Not found. GraphQL is served at /graphql.\n", to: head)
    }
  }

  /// Whether a request was refused because the loop is too far behind. Upgrades are not: those who come back after a
  /// restart keep their places, and what they ask for is bounded by other limits.
  private func isShed(_ head: HTTPRequestHead) -> Bool {
    guard hub.loop.lag > hub.node.limits.loopLag, !WebSocketUpgradeRequest.isAsked(by: head) else { return false }
    hub.counters.add(.requestsShed)
    respondError(503, "The server has more to do than it can. Try again.", "OVERLOADED")
    return true
  }

  func respondText(_ status: Int, _ text: String, to head: HTTPRequestHead) {
    guard head.method == "GET" || head.method == "HEAD" else {
      return respond(405, HTTPHeaders([("Allow", "GET, HEAD")]))
    }
    respond(status, HTTPHeaders([("Content-Type", "text/plain; charset=utf-8")]), body: Array(text.utf8))
  }

  /// What may be sent to a path, and to a page of another origin whether it may send that. Browsers ask without
  /// credentials.
  private func respondOptions(_ head: HTTPRequestHead) {
    guard admit(head, needsKey: false) else { return }
    let methods = head.path == "/graphql/realtime" ? "GET, OPTIONS" : "GET, POST, PUT, DELETE, OPTIONS"
    respond(204, HTTPHeaders([("Allow", methods)] + OriginCheck.preflight(head.headers, methods: methods)))
  }

  /// Whether the request may proceed; else it has been answered. What lets it in is kept until the next request.
  func admit(_ head: HTTPRequestHead, needsKey: Bool) -> Bool {
    let access = hub.node.access
    let refusal = access.origins.refusal(
      host: head.headers["Host"], origin: head.headers["Origin"], peerIsLoopback: channel.peerIsLoopback)
    if let refusal {
      noteViolation(403, refusal.rawValue)
      respondError(403, refusal.rawValue, "FORBIDDEN")
      return false
    }
    grant = access.grant(apiKey: head.headers["x-api-key"], authorization: head.headers["Authorization"])
    if needsKey, grant == nil {
      hub.noteRefusal("A request was refused: its credentials are not known.", isLogged: isNoted(401))
      respondError(401, "An API key is needed: x-api-key or Authorization: Bearer.", "UNAUTHENTICATED")
      return false
    }
    return true
  }

  func respondError(_ status: Int, _ message: String, _ code: String, closing: Bool = false) {
    var headers = HTTPHeaders([("Content-Type", "application/json; charset=utf-8")])
    if status == 401 { headers.append("WWW-Authenticate", "Bearer") }
    if status == 503 { headers.append("Retry-After", "1") }
    let error: JSONValue = ["errors": [["message": .string(message), "extensions": ["code": .string(code)]]]]
    respond(status, headers, body: error.serialized(), closing: closing)
  }

  // MARK: GraphQL

  private func routeGraphQL(_ head: HTTPRequestHead, _ body: [UInt8]) {
    if WebSocketUpgradeRequest.isAsked(by: head) { return routeUpgrade(head) }
    guard admit(head, needsKey: !isTicket(head)) else { return }
    if routeSharedStream(head, body) || routeBatch(head, body) { return }
    let accepted: GraphQLOverHTTP.Accepted
    do {
      accepted = try GraphQLOverHTTP.accept(head, body: body)
    } catch {
      return refuse(error)
    }
    execute(accepted)
  }

  /// `/graphql/stream`, where an operation is answered by server-sent events whatever it is.
  private func routeEventStream(_ head: HTTPRequestHead, _ body: [UInt8]) {
    guard admit(head, needsKey: !isTicket(head)) else { return }
    if routeSharedStream(head, body) { return }
    do {
      execute(try GraphQLOverHTTP.acceptEventStream(head, body: body))
    } catch {
      refuse(error)
    }
  }

  func refuse(_ failure: GraphQLOverHTTP.RequestFailure) {
    hub.counters.add(.operationsRefused)
    let response = failure.response
    let status = hub.node.statusCodes == .draft ? failure.draftStatus : response.head.status
    noteViolation(status, "\(failure)")
    respond(status, response.head.headers, body: response.body)
  }

  private func execute(_ accepted: GraphQLOverHTTP.Accepted) {
    let request = accepted.request
    let preferred = accepted.prefersStream ? accepted.stream : nil
    let prepared: PreparedOperation
    let scope: RequestScope
    let document: String
    do {
      document = try hub.document(of: request)
    } catch {
      if let preferred { return openStream(preferred, request) }
      hub.counters.add(.operations)
      hub.counters.add(.operationsRefused)
      return refuse(error, accepted.responseType)
    }
    do {
      prepared = try hub.prepare(document, operationName: request.operationName)
    } catch {
      // Who listens to a stream hears of the errors there: a browser cannot read any other answer.
      if let preferred { return openStream(preferred, request) }
      hub.counters.add(.operations)
      hub.counters.add(.operationsRefused)
      return respond(.requestError(error.errors), as: accepted.responseType, document: document)
    }
    switch prepared.plan.kind {
    case .subscription:
      if let stream = accepted.stream { return openStream(stream, request) }
      return refuse(GraphQLOverHTTP.RequestFailure(.subscriptionNotServed, responseType: accepted.responseType))
    case .mutation where accepted.isGET:
      return refuse(GraphQLOverHTTP.RequestFailure(.mutationOverGET, responseType: accepted.responseType))
    case .query, .mutation:
      // Multipart is for subscriptions; a client may ask for it with everything.
      if let preferred, preferred == .eventStream || (accepted.parts == nil && !accepted.acceptsOnePiece) {
        return openStream(preferred, request)
      }
    }
    hub.counters.add(.operations)
    do {
      scope = try hub.scope(for: prepared.plan, request.extensions)
    } catch {
      hub.counters.add(.operationsRefused)
      return respond(
        ResponseTree(data: nil, errors: [ResponseError(error.message, extensions: error.extensions)]),
        as: accepted.responseType)
    }
    if let parts = accepted.parts, prepared.plan.hasIncrementalDirectives || !accepted.acceptsOnePiece {
      return executeInParts(prepared.plan, accepted, parts, scope)
    }
    let operation = hub.runner.run(prepared.plan, variables: request.variables, scope: scope) { [weak self] result in
      var result = result
      if result.data == nil { self?.hub.counters.add(.operationsRefused) }
      // The HTTP form of what `connection_ack` says on a socket: this server remembers write numbers.
      if scope.writeID != nil { result.extensions["martlet"] = ["writes": true] }
      self?.respond(result, as: accepted.responseType)
    }
    if let operation { hold(operation) }
  }

  /// Answers a persisted operation that cannot be run. A member of the request that is wrong is 400 as any other. That a
  /// document is not known is 200 in either type, as clients look for it only there; no cache may keep it.
  private func refuse(_ error: PersistedOperationError, _ type: GraphQLOverHTTP.ResponseType) {
    let result = ResponseTree(data: nil, errors: [hub.refusal(error)])
    var headers = HTTPHeaders([("Content-Type", type.contentType)])
    guard error.isFault else {
      headers.append("Cache-Control", "private, no-cache, must-revalidate")
      return respond(hub.node.statusCodes == .draft ? 422 : 200, headers, body: result.bytes)
    }
    noteViolation(400, error.description)
    respond(hub.node.statusCodes == .draft ? 422 : 400, headers, body: result.bytes)
  }

  /// - Parameter document: the document that could not be prepared, if that is why there is no data.
  func respond(_ result: ResponseTree, as type: GraphQLOverHTTP.ResponseType, document: String? = nil) {
    let status: Int
    switch hub.node.statusCodes {
    case .audited: status = GraphQLOverHTTP.status(result.data == nil ? .refused : .executed, as: type)
    case .draft:
      let isParsed = document.map { (try? Parser.parse(Array($0.utf8))) != nil } ?? true
      status = GraphQLOverHTTP.draftStatus(
        hasData: result.data != nil, hasErrors: !result.errors.isEmpty, isParsed: isParsed)
    }
    respond(status, HTTPHeaders([("Content-Type", type.contentType)]), body: result.bytes)
  }

  // MARK: Metrics

  private func respondMetrics(_ head: HTTPRequestHead) {
    guard head.method == "GET" else { return respond(405, HTTPHeaders([("Allow", "GET")])) }
    guard admit(head, needsKey: true) else { return }
    let bound = LoopBound(self, on: hub.loop)
    hub.metrics.collect { text in
      bound.loop.execute {
        bound.value.respond(
          200, HTTPHeaders([("Content-Type", "text/plain; version=0.0.4; charset=utf-8")]), body: Array(text.utf8))
      }
    }
  }
}
