package import MartletJSON
package import MartletWire

extension SharedEventStream {
  /// The token a request names its stream by: the header, or the query's `token`.
  package static func token(of head: HTTPRequestHead) -> String? {
    if let token = head.headers[tokenHeader], !token.isEmpty { return token }
    return parameter("token", of: head)
  }

  /// The operation a `DELETE` is about.
  package static func operation(of head: HTTPRequestHead) -> String? { parameter("operationId", of: head) }

  /// The name that a request gives its operation: text, or a number, as clients write that count their operations.
  package static func operation(in extensions: JSONObject) -> OperationID? {
    let member = extensions["operationId"]
    return (member?.string ?? member?.int.map { String($0) }).flatMap { OperationID($0) }
  }

  /// Whether a request that names a stream opens it, rather than starting an operation on it. Some clients open it by
  /// `POST`.
  package static func opens(_ head: HTTPRequestHead, body: [UInt8]) -> Bool {
    guard head.method == "GET" else { return head.method == "POST" && body.isEmpty && namesEvents(head) }
    if namesEvents(head) { return true }
    guard !carriesOperation(head, body: body) else { return false }
    // A client that accepts no media type served here gets its refusal inside the stream.
    return acceptsEvents(head) || (try? GraphQLOverHTTP.responseType(accepting: head.headers)) == nil
      || AcceptedMediaType.parse(head.headers).isEmpty
  }

  /// Whether there is an operation in a request.
  package static func carriesOperation(_ head: HTTPRequestHead, body: [UInt8]) -> Bool {
    if head.method == "POST" { return !body.isEmpty }
    return parameter("query", of: head) != nil || parameter("extensions", of: head) != nil
  }

  /// Whether the client asks for events by name.
  package static func namesEvents(_ head: HTTPRequestHead) -> Bool {
    AcceptedMediaType.parse(head.headers).contains { $0.weight > 0 && $0.mediaType.matches("text", "event-stream") }
  }

  /// Whether the client takes an event stream.
  package static func acceptsEvents(_ head: HTTPRequestHead) -> Bool {
    if head.headers.list("Accept").isEmpty { return true }
    return AcceptedMediaType.parse(head.headers).contains {
      $0.weight > 0 && $0.specificity(for: "text", "event-stream") != nil
    }
  }

  private static func parameter(_ name: String, of head: HTTPRequestHead) -> String? {
    for pair in Array((head.query ?? "").utf8).split(separator: UInt8(ascii: "&")) {
      let key = pair.prefix { $0 != UInt8(ascii: "=") }
      guard let decoded = RequestPayload.decoded(key), decoded.elementsEqual(name.utf8),
        let value = RequestPayload.decoded(pair[key.endIndex...].dropFirst()), !value.isEmpty
      else { continue }
      return String(decoding: value, as: UTF8.self)
    }
    return nil
  }
}
