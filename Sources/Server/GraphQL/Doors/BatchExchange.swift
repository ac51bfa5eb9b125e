internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletGraphQLWire
internal import MartletJSON
internal import MartletWire

/// One request over HTTP with files or with a list of operations, and its answer.
struct BatchExchange {
  private let service: GraphQLService
  private let request: HTTPRequest
  private let responder: HTTPResponder
  private let single: OperationExchange

  init(_ service: GraphQLService, _ request: HTTPRequest, _ responder: HTTPResponder) {
    self.service = service
    self.request = request
    self.responder = responder
    single = OperationExchange(service, request, responder)
  }

  /// Takes a request with files or with a list of operations; false for any other.
  func take() -> Bool {
    let head = request.head
    let isUpload = MultipartRequest.isAsked(by: head)
    let isList = RequestBatch.isList(request.body) && head.method == "POST" && GraphQLOverHTTP.isJSON(head.headers)
    guard isUpload || isList else { return false }
    do throws(GraphQLOverHTTP.RequestFailure) {
      if GraphQLOverHTTP.isCoded(head.headers) {
        throw GraphQLOverHTTP.RequestFailure(.contentCoding, responseType: .json)
      }
      begin(isUpload: isUpload, try GraphQLOverHTTP.responseType(accepting: head.headers))
    } catch {
      single.refuse(error)
    }
    return true
  }

  private func begin(isUpload: Bool, _ type: GraphQLOverHTTP.ResponseType) {
    let (head, body) = (request.head, request.body)
    let (batch, upload) = (BatchLimits(service.node.limits), UploadLimits(service.node.limits))
    let json = JSONLimits.request(service.node.limits)
    service.away(ifLarge: body.count) {
      Result {
        try isUpload
          ? MultipartRequest.read(
            contentType: head.headers["Content-Type"] ?? "", body: body, batch: batch, limits: upload,
            json: json)
          : RequestBatch(json: body, limits: batch, json: json)
      }
    } _: { read in
      switch read {
      case .success(let batch): run(batch, type)
      case .failure(let error as UploadError):
        refuse(error.status, error.description, "INVALID_UPLOAD", type)
      case .failure(let error as GraphQLRequestError):
        single.refuse(GraphQLOverHTTP.RequestFailure(.request(error), responseType: type))
      case .failure: responder.send(.error(500, "Internal error.", "INTERNAL"))
      }
    }
  }

  /// Answers a body that is not a batch.
  private func refuse(_ status: Int, _ message: String, _ code: String, _ type: GraphQLOverHTTP.ResponseType) {
    service.counters.add(.operationsRefused)
    responder.noteViolation(status, message)
    let error = ResponseError(message, extensions: ["code": .string(code)])
    responder.send(
      status, HTTPHeaders([("Content-Type", type.contentType)]),
      body: ResponseTree(data: nil, errors: [error]).bytes)
  }

  private func run(_ batch: RequestBatch, _ type: GraphQLOverHTTP.ResponseType) {
    let running = BatchedOperation(count: batch.requests.count) { results in
      let refused = results.count { $0.data == nil }
      if refused > 0 {
        service.counters.add(.operationsRefused, refused)
        service.node.log.write(.info, "Operations of one request were refused.", [(.count, "\(refused)")])
      }
      guard batch.isList else { return single.respond(results[0], as: type) }
      var writer = JSONWriter()
      writer.beginArray()
      for result in results { writer.raw(result.bytes) }
      writer.endArray()
      responder.send(200, HTTPHeaders([("Content-Type", type.contentType)]), body: writer.bytes)
    }
    for (position, request) in batch.requests.enumerated() {
      // The bytes are those of the whole batch.
      runPart(request, bytes: position == 0 ? self.request.sentBytes : 0) { [weak running] progress in
        running?.report(position, progress)
      }
    }
    if !running.isOver { responder.follow(closed: { running.cancel() }) }
    running.allStarted()
  }

  /// Runs one operation of a batch. `report` gets what can be cancelled, the result, or first one and then the other.
  private func runPart(
    _ part: RequestPayload, bytes: Int, _ report: @escaping (BatchedOperation.Progress) -> Void
  ) {
    service.counters.add(.operations)
    if let refusal = service.judge(bytes: bytes, request.caller, over: request.peer) {
      return report(.done(refusal.tree))
    }
    let preparing = service.prepare(part, for: request.caller) { runPart(part, bytes: bytes, $0, report) }
    if let preparing { report(.preparing(preparing)) }
  }

  private func runPart(
    _ part: RequestPayload, bytes: Int, _ outcome: Result<PreparedOperation, Refusal>,
    _ report: @escaping (BatchedOperation.Progress) -> Void
  ) {
    switch outcome {
    case .failure(let refusal):
      if let violation = refusal.violation { responder.noteViolation(400, violation) }
      service.charge(refusal, bytes: bytes, request.caller, over: request.peer)
      report(.done(refusal.tree))
    case .success(let prepared):
      guard prepared.plan.kind != .subscription else {
        let error = ResponseError(
          "A subscription is a request of its own.", extensions: ["code": "UNSUPPORTED_OPERATION"])
        return report(.done(ResponseTree(data: nil, errors: [error])))
      }
      if let refusal = service.charge(prepared, bytes: bytes, request.caller, over: request.peer) {
        return report(.done(refusal.tree))
      }
      let operation = service.runner.run(prepared, part) { report(.done($0)) }
      if let operation { report(.running(operation)) }
    }
  }
}
