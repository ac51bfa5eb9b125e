internal import MartletJSON
internal import MartletJSONTree
internal import MartletRuntime
internal import MartletStore
internal import MartletTreeWire
internal import MartletVocabulary
internal import MartletWire

/// Answers requests for `/PATH.json`. Confined to its loop.
struct TreeRequests {
  let service: TreeService
  let use: PeerUse

  func answer(_ request: HTTPRequest, _ responder: HTTPResponder, as admitted: TreeAdmitted) {
    let caller = admitted.caller
    let (method, path, query): (String, TreePath, RESTQuery)
    do {
      let parameters = try Self.parameters(request.head.query ?? "")
      path = try TreePath(wire: try PercentCoding.decode(request.path), limits: service.treeLimits)
      query = try RESTQuery(parameters, at: path, limits: service.treeLimits)
      method = try Self.method(of: request.head, parameters)
    } catch {
      return Self.send(400, error: "\(error)", responder)
    }
    if method == "GET" {
      if request.head.headers["Accept"]?.contains("text/event-stream") == true {
        do {
          let hold = try use.hold(.subscriptions, by: caller.identity)
          return TreeStream.start(service, path, query, as: admitted, hold, use, responder)
        } catch {
          return responder.send(.limited(error))
        }
      }
      return read(path, query, request.head, responder, caller)
    }
    guard var write = write(method, path, request, responder) else { return }
    write.request.answersValue = query.printing != .silent
    write.request.mostLeaves = query.writeSize?.seconds.map { $0 * service.limits.estimatedLeaves }
    // A client with a condition makes its next write with the tag of what it has put.
    let fields = request.head.headers
    write.request.answersNode =
      (method == "PUT" || method == "DELETE") && path.key?.isPriority != true
      && (fields["X-Firebase-ETag"] == "true" || fields["If-Match"] != nil)
    service.write(write.request, as: caller) { result in
      var headers = HTTPHeaders()
      if let node = (try? result.get())?.node { headers.append("ETag", TreeHash.entityTag(node)) }
      switch result {
      case .failure(let refusal):
        use.note(refusal, caller.identity)
        Self.refuse(refusal, responder)
      case .success where query.printing == .silent: responder.send(204, headers)
      // A push is answered with its key; server values with what they became.
      case .success(let written):
        headers.append("Content-Type", "application/json; charset=utf-8")
        responder.send(200, headers, body: query.body(write.answer ?? written.resolved ?? write.json))
      }
    }
  }

  /// The method that a client means: where it cannot send another one than POST, it names it.
  private static func method(
    of head: HTTPRequestHead, _ parameters: [(name: String, value: String)]
  ) throws(RESTQueryError) -> String {
    guard head.method == "POST" else { return head.method }
    let named = parameters.last { $0.name.lowercased() == "x-http-method-override" }?.value
    guard let method = (head.headers["X-HTTP-Method-Override"] ?? named)?.uppercased() else { return head.method }
    guard TreeEndpoints.methods.contains(method) else {
      throw RESTQueryError("X-HTTP-Method-Override is one of \(TreeEndpoints.methods.joined(separator: ", "))")
    }
    return method
  }

  // MARK: Reading

  private func read(
    _ path: TreePath, _ query: RESTQuery, _ head: HTTPRequestHead, _ responder: HTTPResponder, _ caller: TreeCaller
  ) {
    var isAnswered = false
    let timer = query.timeout.map { timeout in
      service.loop.schedule(at: service.loop.now + timeout) {
        isAnswered = true
        Self.send(400, error: "The read did not end within its timeout.", responder)
      }
    }
    service.read(path, query.window, as: caller, isShallow: query.isShallow) { result in
      if isAnswered { return }
      timer?.cancel()
      switch result {
      case .failure(let refusal):
        use.note(refusal, caller.identity)
        Self.refuse(refusal, responder)
      case .success(let found):
        // A cache on the way asks again: it could otherwise give the value to another caller, or an old one.
        var headers = HTTPHeaders([
          ("Content-Type", "application/json; charset=utf-8"), ("Cache-Control", "no-cache"),
        ])
        let condition = head.headers["If-None-Match"]
        if condition != nil || head.headers["X-Firebase-ETag"] == "true" {
          let tag = TreeHash.entityTag(found.node)
          headers.append("ETag", tag)
          if condition == tag { return responder.send(304, headers) }
        }
        if query.printing == .silent { return responder.send(204) }
        // The Realtime Database answers a query that finds nothing with an object, which its clients go through.
        let isFound = query.window.isUnbounded || !found.node.isEmpty
        responder.send(200, headers, body: query.body(isFound ? query.json(of: found.node) : [:]))
      }
    }
  }

  // MARK: Writing

  private struct Write {
    var request: TreeWriteRequest
    /// The body as it was sent.
    var json: JSONValue
    /// The answer when the write is made, where it is not the value.
    var answer: JSONValue?
  }

  /// The write that a request asks for; nil after a refusal.
  private func write(
    _ method: String, _ path: TreePath, _ request: HTTPRequest, _ responder: HTTPResponder
  ) -> Write? {
    var json = JSONValue.null
    if method != "DELETE" {
      do { json = try JSONValue(parsing: request.body, limits: .held(request.body)) } catch {
        Self.send(400, error: "Invalid data; couldn't parse JSON object: \(error)", responder)
        return nil
      }
    }
    let expected = request.head.headers["If-Match"]
    switch method {
    case "PATCH":
      guard let object = json.object else {
        Self.send(400, error: "Invalid data; the body of PATCH is a JSON object", responder)
        return nil
      }
      return Write(request: TreeWriteRequest(path: path, content: .merge(object), expectedHash: expected), json: json)
    case "POST":
      let key = service.pushKey()
      return Write(
        request: TreeWriteRequest(path: path.child(key), content: .put(json), expectedHash: nil), json: json,
        answer: ["name": .string(key.text)])
    default:
      return Write(request: TreeWriteRequest(path: path, content: .put(json), expectedHash: expected), json: json)
    }
  }

  // MARK: Answers

  static func refuse(_ refusal: TreeRefusal, _ responder: HTTPResponder) {
    switch refusal {
    case .denied, .forbidden, .unauthenticated: send(401, error: "Permission denied", responder)
    case .stale(let node):
      let headers = HTTPHeaders([
        ("Content-Type", "application/json; charset=utf-8"), ("ETag", TreeHash.entityTag(node)),
      ])
      responder.send(412, headers, body: node.json(asArrays: true).serialized())
    case .invalid(let error): send(400, error: "Invalid data; \(error)", responder)
    case .unknownNamespace(let name): send(404, error: "There is no namespace \"\(name)\".", responder)
    // Requests have no numbers.
    case .repeated(_, let reason): send(400, error: reason, responder)
    case .store(let error):
      switch error.code {
      case .invalid: send(413, error: error.message, responder)
      case .overloaded, .deadline, .locked: send(503, error: error.message, responder)
      default: send(500, error: "Internal server error.", responder)
      }
    }
  }

  static func send(_ status: Int, error: String, _ responder: HTTPResponder) {
    send(status, JSONValue.object(["error": .string(error)]).serialized(), responder)
  }

  private static func send(_ status: Int, _ body: [UInt8], _ responder: HTTPResponder) {
    let headers = HTTPHeaders([("Content-Type", "application/json; charset=utf-8")])
    responder.send(status, headers, body: body)
  }

  static func parameters(_ query: String) throws(RESTQueryError) -> [(name: String, value: String)] {
    var parameters: [(name: String, value: String)] = []
    for part in query.split(separator: "&") {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = pair.count > 1 ? pair[1].split(separator: "+", omittingEmptySubsequences: false) : []
      parameters.append(
        (try PercentCoding.decode(String(pair[0])), try PercentCoding.decode(value.joined(separator: " "))))
    }
    return parameters
  }
}
