internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletJSON
internal import MartletWireProtocols

extension ServerConnection {
  /// Takes a request with files or with a list of operations; false for any other.
  func routeBatch(_ head: HTTPRequestHead, _ body: [UInt8]) -> Bool {
    let isUpload = MultipartRequest.isAsked(by: head)
    guard isUpload || (head.method == "POST" && GraphQLOverHTTP.isJSON(head.headers) && RequestBatch.isList(body))
    else { return false }
    if GraphQLOverHTTP.isCoded(head.headers) {
      refuse(GraphQLOverHTTP.RequestFailure(.contentCoding, responseType: .json))
      return true
    }
    let type: GraphQLOverHTTP.ResponseType
    do {
      type = try GraphQLOverHTTP.responseType(accepting: head.headers)
    } catch {
      refuse(error)
      return true
    }
    var limits = BatchLimits()
    limits.operations = hub.node.limits.operationsPerRequest
    do {
      if isUpload {
        var files = UploadLimits()
        files.files = hub.node.limits.uploadedFiles
        files.fileBytes = hub.node.limits.uploadBytes
        files.operationsBytes = hub.node.limits.bodyBytes
        let batch = try MultipartRequest.read(
          contentType: head.headers["Content-Type"] ?? "", body: body, batch: limits, limits: files)
        run(batch, type)
      } else {
        run(try RequestBatch(json: body, limits: limits), type)
      }
    } catch let error as UploadError {
      refuseBatch(error.status, error.description, "INVALID_UPLOAD", type)
    } catch let error as GraphQLRequestError {
      refuse(GraphQLOverHTTP.RequestFailure(.request(error), responseType: type))
    } catch {
      respondError(500, "Internal error.", "INTERNAL")
    }
    return true
  }

  /// Answers a body that is no batch.
  private func refuseBatch(
    _ status: Int, _ message: String, _ code: String, _ type: GraphQLOverHTTP.ResponseType
  ) {
    hub.counters.add(.operationsRefused)
    noteViolation(status, message)
    let error = ResponseError(message, extensions: ["code": .string(code)])
    respond(
      status, HTTPHeaders([("Content-Type", type.contentType)]),
      body: ResponseTree(data: nil, errors: [error]).bytes)
  }

  private func run(_ batch: RequestBatch, _ type: GraphQLOverHTTP.ResponseType) {
    let running = BatchedOperation(count: batch.requests.count) { [weak self] results in
      guard let self else { return }
      let refused = results.count { $0.data == nil }
      if refused > 0 {
        self.hub.counters.add(.operationsRefused, refused)
        self.hub.node.log.write(.info, "Operations of one request were refused.", [(.count, "\(refused)")])
      }
      guard batch.isList else { return self.respond(results[0], as: type) }
      var writer = JSONWriter()
      writer.beginArray()
      for result in results { result.write(to: &writer) }
      writer.endArray()
      self.respond(200, HTTPHeaders([("Content-Type", type.contentType)]), body: writer.bytes)
    }
    for (position, request) in batch.requests.enumerated() {
      runPart(request) { [weak running] operation, result in
        if let operation { running?.add(operation) }
        if let result { running?.finished(position, result) }
      }
    }
    if !running.isOver { hold(running) }
    running.allStarted()
  }

  /// Runs one operation of a batch. `report` gets what can be cancelled, the result, or first one and then the other.
  private func runPart(_ request: GraphQLRequest, _ report: @escaping (RunningOperation?, ResponseTree?) -> Void) {
    hub.counters.add(.operations)
    func refuse(_ errors: [ResponseError]) {
      report(nil, ResponseTree(data: nil, errors: errors))
    }
    let prepared: PreparedOperation
    let scope: RequestScope
    do {
      prepared = try hub.prepare(try hub.document(of: request), operationName: request.operationName)
      guard prepared.plan.kind != .subscription else {
        return refuse([
          ResponseError(
            "A subscription is a request of its own.", extensions: ["code": "UNSUPPORTED_OPERATION"])
        ])
      }
      scope = try hub.scope(for: prepared.plan, request.extensions)
    } catch let error as RequestErrors {
      return refuse(error.errors.map { ResponseError($0) })
    } catch let error as PersistedOperationError {
      if error.isFault { noteViolation(400, error.description) }
      return refuse([hub.refusal(error)])
    } catch let error as ResolverError {
      return refuse([ResponseError(error.message, extensions: error.extensions)])
    } catch {
      return refuse([.internalError])
    }
    let operation = hub.runner.run(prepared.plan, variables: request.variables, scope: scope) { result in
      var result = result
      if scope.writeID != nil { result.extensions["martlet"] = ["writes": true] }
      report(nil, result)
    }
    if let operation { report(operation, nil) }
  }
}
