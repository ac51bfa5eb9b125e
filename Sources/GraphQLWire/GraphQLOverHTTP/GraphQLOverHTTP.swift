package import MartletJSON
package import MartletWire

/// GraphQL over HTTP (the draft's rules, with the status codes its audit suite asks for), as pure functions.
package enum GraphQLOverHTTP {
  /// What a response is labelled as.
  package enum ResponseType: Sendable, Equatable, CaseIterable {
    /// `application/json`: older clients, which trust a body only with 2xx.
    case json
    /// `application/graphql-response+json`: the body counts whatever the status.
    case graphQLResponse

    /// The value of Content-Type.
    package var contentType: String {
      switch self {
      case .json: "application/json; charset=utf-8"
      case .graphQLResponse: "application/graphql-response+json; charset=utf-8"
      }
    }

    /// The header fields of a response.
    package var headers: HTTPHeaders {
      switch self {
      case .json: Self.jsonHeaders
      case .graphQLResponse: Self.graphQLHeaders
      }
    }

    // Made once, because every answer has them.
    private static let jsonHeaders = HTTPHeaders([("Content-Type", Self.json.contentType)])
    private static let graphQLHeaders = HTTPHeaders([("Content-Type", Self.graphQLResponse.contentType)])

    var subtype: String {
      switch self {
      case .json: "json"
      case .graphQLResponse: "graphql-response+json"
      }
    }
  }

  /// A request that can be executed, and how to label its response.
  package struct Accepted: Sendable, Equatable {
    package var request: RequestPayload
    package var responseType: ResponseType
    /// A GET must not run a mutation: refuse it with `RequestFailure(.mutationOverGET)`.
    package var isGET: Bool
    /// How the client wants a response in parts; nil when it takes or prefers one piece.
    package var parts: IncrementalAccept?
    /// Whether a response may be in one piece.
    package var acceptsOnePiece = true
    /// How results may be streamed; nil when the client takes no stream.
    package var stream: HTTPStreamMedia?
    /// Whether the stream is wished for before one piece, or instead of it.
    package var prefersStream = false

    /// A client that asks for an event stream again names the last event it has seen.
    mutating func resume(_ head: HTTPRequestHead) {
      guard stream == .eventStream, let id = head.headers["Last-Event-ID"] else { return }
      request = request.resuming(lastEventID: id)
    }
  }

  /// Reads a request whose body has arrived whole.
  package static func accept(
    _ head: HTTPRequestHead, body: [UInt8], limits: JSONLimits = JSONLimits()
  ) throws(RequestFailure) -> Accepted {
    let wishes = AcceptedMediaType.parse(head.headers)
    let single = singleChoice(wishes)
    let stream = HTTPStreamMedia.choice(wishes)
    let parts = IncrementalAccept(wishes)
    guard single != nil || stream != nil || parts != nil else {
      throw RequestFailure(.notAcceptable, responseType: .json)
    }
    var accepted = try accept(head, body: body, responseType: single?.type ?? .json, limits)
    accepted.parts = parts
    accepted.stream = stream?.media
    accepted.acceptsOnePiece = single != nil
    if stream != nil {
      accepted.prefersStream = preferredStream(head) != nil
      accepted.resume(head)
    }
    return accepted
  }

  /// The form in which a client would rather have the results as they come than one piece; nil when it has no such
  /// wish.
  package static func preferredStream(_ head: HTTPRequestHead) -> HTTPStreamMedia? {
    let wishes = AcceptedMediaType.parse(head.headers)
    guard let stream = HTTPStreamMedia.choice(wishes) else { return nil }
    guard let single = singleChoice(wishes) else { return stream.media }
    return (stream.weight, -stream.place) > (single.weight, -single.place) ? stream.media : nil
  }

  /// Reads a request to the path where everything is answered by an event stream.
  package static func acceptEventStream(
    _ head: HTTPRequestHead, body: [UInt8], limits: JSONLimits = JSONLimits()
  ) throws(RequestFailure) -> Accepted {
    guard SharedEventStream.acceptsEvents(head) else {
      throw RequestFailure(.eventStreamNotAcceptable, responseType: .json)
    }
    var accepted = try accept(head, body: body, responseType: .json, limits)
    accepted.stream = .eventStream
    accepted.resume(head)
    accepted.prefersStream = true
    accepted.acceptsOnePiece = false
    return accepted
  }

  /// Reads an operation that is answered elsewhere, so that it does not matter what the client accepts here.
  package static func acceptOperation(
    _ head: HTTPRequestHead, body: [UInt8], limits: JSONLimits = JSONLimits()
  ) throws(RequestFailure) -> Accepted {
    try accept(head, body: body, responseType: .json, limits)
  }

  private static func accept(
    _ head: HTTPRequestHead, body: [UInt8], responseType: ResponseType, _ limits: JSONLimits
  ) throws(RequestFailure) -> Accepted {
    let isGET = head.method == "GET"
    guard isGET || head.method == "POST" else { throw RequestFailure(.method, responseType: responseType) }
    guard isGET || !isCoded(head.headers) else { throw RequestFailure(.contentCoding, responseType: responseType) }
    guard isGET || isJSON(head.headers) else { throw RequestFailure(.contentType, responseType: responseType) }
    let request: RequestPayload
    do throws(GraphQLRequestError) {
      request =
        isGET
        ? try RequestPayload(query: head.query ?? "", limits: limits) : try RequestPayload(json: body, limits: limits)
    } catch {
      throw RequestFailure(.request(error), responseType: responseType)
    }
    return Accepted(request: request, responseType: responseType, isGET: isGET)
  }

  /// The response type a client prefers: the heaviest, then the first named. A client that names neither, or accepts
  /// anything, gets `application/json`, as it did before there was another.
  package static func responseType(accepting headers: HTTPHeaders) throws(RequestFailure) -> ResponseType {
    guard let choice = singleChoice(AcceptedMediaType.parse(headers)) else {
      throw RequestFailure(.notAcceptable, responseType: .json)
    }
    return choice.type
  }

  private static func singleChoice(
    _ accepted: [AcceptedMediaType]
  ) -> (type: ResponseType, weight: Int, place: Int)? {
    if accepted.isEmpty { return (.json, 0, 0) }
    var best: (type: ResponseType, weight: Int, specificity: Int, place: Int)?
    for type in ResponseType.allCases {
      // The most specific element that covers a type decides its weight.
      var chosen: (weight: Int, specificity: Int, place: Int)?
      for (place, element) in accepted.enumerated() {
        guard let specificity = element.specificity(for: "application", type.subtype),
          specificity > chosen?.specificity ?? -1
        else { continue }
        chosen = (element.weight, specificity, place)
      }
      guard let chosen, chosen.weight > 0 else { continue }
      let isBetter =
        best.map { (chosen.weight, -chosen.place) > ($0.weight, -$0.place) } ?? true
      if isBetter { best = (type, chosen.weight, chosen.specificity, chosen.place) }
    }
    return best.map { ($0.type, $0.weight, $0.place) }
  }

  /// POST carries `application/json` in UTF-8. Nothing else, as forms and plain text need no preflight (CSRF).
  package static func isJSON(_ headers: HTTPHeaders) -> Bool {
    guard headers.count(of: "Content-Type") == 1, let value = headers.first("Content-Type") else { return false }
    // As nearly every client writes it.
    if HTTPSyntax.equals(value, "application/json") { return true }
    guard let type = MediaType(value), type.matches("application", "json") else { return false }
    guard let charset = type["charset"].map({ Array($0.utf8)[...] }) else { return true }
    // The second is not a registered name, but many clients write it.
    return HTTPSyntax.equals(charset, "utf-8") || HTTPSyntax.equals(charset, "utf8")
  }

  /// Whether a body is compressed, or coded in another way. None of these is read here.
  package static func isCoded(_ headers: HTTPHeaders) -> Bool {
    headers.list("Content-Encoding").contains { !HTTPSyntax.equals($0, "identity") }
  }
}

extension RequestPayload {
  /// Reads a POST body.
  package init(json body: [UInt8], limits: JSONLimits) throws(GraphQLRequestError) {
    let tape: JSONTape
    do throws(JSONError) {
      tape = try JSONTape(body, limits: limits)
    } catch {
      throw GraphQLRequestError(.notJSON, "", error.description)
    }
    try self.init(tape.root)
  }
}
