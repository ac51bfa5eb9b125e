internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletGraphQLWire
internal import MartletJSON
internal import MartletTracing
internal import MartletWire

/// One request over HTTP that carries one operation, and its answer: whole, in parts, or as a stream of results.
struct OperationExchange {
  let service: GraphQLService
  let request: HTTPRequest
  let responder: HTTPResponder

  init(_ service: GraphQLService, _ request: HTTPRequest, _ responder: HTTPResponder) {
    self.service = service
    self.request = request
    self.responder = responder
  }

  /// - Parameter asStream: whether the path answers by an event stream whatever the client accepts.
  func begin(asStream: Bool) {
    let (head, body) = (request.head, request.body)
    let limits = JSONLimits.request(service.node.limits)
    guard service.isLarge(body.count) else { return take(Self.read(head, body, limits, asStream: asStream)) }
    service.away {
      Self.read(head, body, limits, asStream: asStream)
    } _: { read in
      take(read)
    }
  }

  private static func read(
    _ head: HTTPRequestHead, _ body: [UInt8], _ limits: JSONLimits, asStream: Bool
  ) -> Result<GraphQLOverHTTP.Accepted, GraphQLOverHTTP.RequestFailure> {
    Result { () throws(GraphQLOverHTTP.RequestFailure) in
      try asStream
        ? GraphQLOverHTTP.acceptEventStream(head, body: body, limits: limits)
        : GraphQLOverHTTP.accept(head, body: body, limits: limits)
    }
  }

  private func take(_ read: Result<GraphQLOverHTTP.Accepted, GraphQLOverHTTP.RequestFailure>) {
    switch read {
    case .failure(let failure): refuse(failure)
    case .success(let accepted):
      guard service.node.tracer != nil, let trace = request.head.headers.value(named: TraceContext.name) else {
        return start(accepted)
      }
      var traced = accepted
      traced.request.extensions[TraceContext.name] = .string(trace)
      start(traced)
    }
  }

  private func start(_ accepted: GraphQLOverHTTP.Accepted) {
    if let refusal = service.judge(bytes: request.sentBytes, request.caller, over: request.peer) {
      return execute(accepted, .failure(refusal))
    }
    guard accepted.request.hasLargeDocument(service.node.limits.query) else {
      return execute(accepted, service.prepare(accepted.request, for: request.caller))
    }
    let preparation = service.prepare(accepted.request, for: request.caller) { execute(accepted, $0) }
    // Kept until the operation, or the end of the connection, takes its place.
    if let preparation { responder.follow(closed: { withExtendedLifetime(preparation) {} }) }
  }

  private func execute(_ accepted: GraphQLOverHTTP.Accepted, _ outcome: Result<PreparedOperation, Refusal>) {
    // The stream that the client would rather have than one piece.
    let preferred = accepted.prefersStream ? accepted.stream : nil
    switch outcome {
    case .failure(let refusal):
      // Errors are reported inside a stream that is preferred: a browser's EventSource cannot read the body of any
      // other response.
      if let preferred { return openStream(preferred, accepted.request) }
      service.counters.add(.operations)
      service.counters.add(.operationsRefused)
      service.charge(refusal, bytes: request.sentBytes, request.caller, over: request.peer)
      refuse(refusal, accepted.responseType)
    case .success(let prepared):
      switch prepared.plan.kind {
      case .subscription:
        if let stream = accepted.stream { return openStream(stream, accepted.request) }
        refuse(GraphQLOverHTTP.RequestFailure(.subscriptionNotServed, responseType: accepted.responseType))
      case .mutation where accepted.isGET:
        refuse(GraphQLOverHTTP.RequestFailure(.mutationOverGET, responseType: accepted.responseType))
      case .query, .mutation:
        // Multipart is for subscriptions; a client may ask for it with everything.
        if let preferred, preferred == .eventStream || (accepted.parts == nil && !accepted.acceptsOnePiece) {
          return openStream(preferred, accepted.request)
        }
        service.counters.add(.operations)
        if let refusal = service.charge(prepared, bytes: request.sentBytes, request.caller, over: request.peer) {
          service.counters.add(.operationsRefused)
          return refuse(refusal, accepted.responseType)
        }
        if let parts = accepted.parts, prepared.plan.hasIncrementalDirectives || !accepted.acceptsOnePiece {
          return runInParts(prepared, accepted, parts)
        }
        run(prepared, accepted)
      }
    }
  }

  private func run(_ prepared: PreparedOperation, _ accepted: GraphQLOverHTTP.Accepted) {
    let type = accepted.responseType
    let running = service.runner.run(prepared, accepted.request) { result in
      if result.data == nil { service.counters.add(.operationsRefused) }
      respond(result, as: type)
    }
    if let running { responder.follow(closed: { running.cancel() }) }
  }

  // MARK: Several pieces

  /// Executes an operation whose client takes the response in parts, each a part of a multipart body
  /// (docs/PROTOCOL.md, "Responses in parts").
  private func runInParts(
    _ prepared: PreparedOperation, _ accepted: GraphQLOverHTTP.Accepted, _ parts: IncrementalAccept
  ) {
    let format: IncrementalFormat
    switch parts {
    case .current: format = .current
    case .older: format = .older
    }
    var writer = MultipartWriter.dash
    let running = service.runner.run(prepared, accepted.request, format: format) { payload, made in
      if responder.isWaiting {
        if case .whole(let tree) = payload, accepted.acceptsOnePiece {
          respond(tree, as: accepted.responseType)
          return true
        }
        responder.start(200, HTTPHeaders([("Content-Type", parts.contentType)]))
      }
      var bytes: [UInt8] = []
      writer.part(made ?? payload.bytes(format), to: &bytes)
      if !payload.hasNext { writer.end(to: &bytes) }
      let keepsUp = responder.write(bytes)
      if !payload.hasNext { responder.finish() }
      return keepsUp
    }
    if let running { responder.follow(drained: { running.readerCaughtUp() }, closed: { running.cancel() }) }
  }

  /// Answers with the results of an operation as they come.
  private func openStream(_ media: HTTPStreamMedia, _ asked: RequestPayload) {
    guard !service.transport.isDraining else { return responder.send(.draining, closing: true) }
    // A document that cannot be read is refused later; it has no say in what the stream carries.
    let wishes = try? RequestContinuity(extensions: asked.extensions)
    let continuity = Continuity(cursors: wishes?.followsCursors ?? false)
    let session = GraphQLSession(service, streaming: media, continuity, request.caller, over: request.peer)
    session.use.messageBytes = request.body.count
    session.begin(HTTPStream(responder, media), asked)
  }

  // MARK: Answers in one piece

  /// Answers a request that cannot be read as an operation.
  func refuse(_ failure: GraphQLOverHTTP.RequestFailure) {
    service.counters.add(.operationsRefused)
    let response = failure.response
    let status = service.node.statusCodes == .draft ? failure.draftStatus : response.head.status
    responder.noteViolation(status, "\(failure)")
    responder.send(status, response.head.headers, body: response.body)
  }

  /// Answers an operation that is not run.
  private func refuse(_ refusal: Refusal, _ type: GraphQLOverHTTP.ResponseType) {
    switch refusal {
    case .invalid(_, let document): respond(refusal.tree, as: type, document: document)
    case .scope: respond(refusal.tree, as: type)
    case .limited:
      var headers = HTTPHeaders([("Content-Type", type.contentType)])
      if let pause = refusal.retryAfter { headers.append("Retry-After", pause) }
      responder.send(429, headers, body: refusal.tree.bytes)
    case .persisted:
      // A member of the request that is wrong is 400 as any other. That a document is not known is 200 in either type,
      // as clients look for it only there; no cache may keep it.
      var headers = HTTPHeaders([("Content-Type", type.contentType)])
      var status = 200
      if let violation = refusal.violation {
        responder.noteViolation(400, violation)
        status = 400
      } else {
        headers.append("Cache-Control", "private, no-cache, must-revalidate")
      }
      responder.send(service.node.statusCodes == .draft ? 422 : status, headers, body: refusal.tree.bytes)
    }
  }

  /// - Parameter document: the document that could not be prepared, if that is why there is no data.
  func respond(_ result: ResponseTree, as type: GraphQLOverHTTP.ResponseType, document: String? = nil) {
    let status: Int
    switch service.node.statusCodes {
    case .audited: status = GraphQLOverHTTP.status(result.data == nil ? .refused : .executed, as: type)
    case .draft:
      let isParsed = document.map { (try? Parser.parse(Array($0.utf8))) != nil } ?? true
      status = GraphQLOverHTTP.draftStatus(
        hasData: result.data != nil, hasErrors: !result.errors.isEmpty, isParsed: isParsed)
    }
    responder.send(status, type.headers, body: result.bytes)
  }
}
