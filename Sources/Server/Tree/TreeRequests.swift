internal import MartletJSON
internal import MartletJSONTree
internal import MartletStore
internal import MartletTreeWire
internal import MartletWire

/// Answers requests for `/PATH.json`. Confined to its loop.
struct TreeRequests {
  let service: TreeService

  func answer(_ request: HTTPRequest, _ responder: HTTPResponder, as admitted: TreeAdmitted) {
    let caller = admitted.caller
    let (path, query): (TreePath, RESTQuery)
    do {
      path = try TreePath(wire: try PercentCoding.decode(request.path), limits: service.treeLimits)
      query = try RESTQuery(try Self.parameters(request.head.query ?? ""), at: path, limits: service.treeLimits)
    } catch {
      return Self.send(400, error: "\(error)", responder)
    }
    if request.head.method == "GET" {
      if request.head.headers["Accept"]?.contains("text/event-stream") == true {
        return TreeStream.start(service, path, query, as: admitted, responder)
      }
      return read(path, query, request.head, responder, caller)
    }
    guard let write = write(path, request, responder) else { return }
    let silent = query.printing == .silent
    service.write(write.request, as: caller) { result in
      switch result {
      case .failure(let refusal): Self.refuse(refusal, responder)
      case .success where silent: responder.send(204)
      case .success: Self.send(200, write.answer, responder)
      }
    }
  }

  // MARK: Reading

  private func read(
    _ path: TreePath, _ query: RESTQuery, _ head: HTTPRequestHead, _ responder: HTTPResponder, _ caller: TreeCaller
  ) {
    service.read(path, query.window, as: caller) { result in
      switch result {
      case .failure(let refusal): Self.refuse(refusal, responder)
      case .success(let found):
        var headers = HTTPHeaders([("Content-Type", "application/json; charset=utf-8")])
        let condition = head.headers["If-None-Match"]
        if condition != nil || head.headers["X-Firebase-ETag"] == "true" {
          let tag = TreeHash.entityTag(found.node)
          headers.append("ETag", tag)
          if condition == tag { return responder.send(304, headers) }
        }
        if query.printing == .silent { return responder.send(204) }
        responder.send(200, headers, body: query.json(of: found.node).serialized())
      }
    }
  }

  // MARK: Writing

  /// The write that a request asks for, and the answer when it is made; nil after a refusal.
  private func write(
    _ path: TreePath, _ request: HTTPRequest, _ responder: HTTPResponder
  ) -> (request: TreeWriteRequest, answer: JSONValue)? {
    var json = JSONValue.null
    if request.head.method != "DELETE" {
      do { json = try JSONValue(parsing: request.body) } catch {
        Self.send(400, error: "Invalid data; couldn't parse JSON object: \(error)", responder)
        return nil
      }
    }
    let expected = request.head.headers["If-Match"]
    switch request.head.method {
    case "PATCH":
      guard let object = json.object else {
        Self.send(400, error: "Invalid data; the body of PATCH is a JSON object", responder)
        return nil
      }
      return (TreeWriteRequest(path: path, content: .merge(object), expectedHash: expected), json)
    case "POST":
      let key = service.pushKey()
      return (
        TreeWriteRequest(path: path.child(key), content: .put(json), expectedHash: nil), ["name": .string(key.text)]
      )
    default: return (TreeWriteRequest(path: path, content: .put(json), expectedHash: expected), json)
    }
  }

  // MARK: Answers

  static func refuse(_ refusal: TreeRefusal, _ responder: HTTPResponder) {
    switch refusal {
    case .denied: send(401, error: "Permission denied", responder)
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
      case .overloaded, .deadline: send(503, error: error.message, responder)
      default: send(500, error: "Internal server error.", responder)
      }
    }
  }

  static func send(_ status: Int, error: String, _ responder: HTTPResponder) {
    send(status, ["error": .string(error)], responder)
  }

  private static func send(_ status: Int, _ json: JSONValue, _ responder: HTTPResponder) {
    let headers = HTTPHeaders([("Content-Type", "application/json; charset=utf-8")])
    responder.send(status, headers, body: json.serialized())
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

/// Undoes the percent-encoding of paths and queries.
enum PercentCoding {
  static func decode(_ text: String) throws(RESTQueryError) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    var (bytes, rest): ([UInt8], Substring.UTF8View) = ([], text[...].utf8)
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      guard digits.utf8.count == 2, digits.utf8.first != UInt8(ascii: "+"), digits.utf8.first != UInt8(ascii: "-"),
        let value = UInt8(digits, radix: 16)
      else { throw RESTQueryError("% is not followed by two hexadecimal digits") }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    guard let decoded = String(validating: bytes, as: UTF8.self) else {
      throw RESTQueryError("the percent-encoding is not UTF-8")
    }
    return decoded
  }
}
