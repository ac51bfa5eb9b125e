internal import MartletRuntime
internal import MartletWire

/// What the head of a request leads to.
enum RequestVerdict {
  /// The body is read, then the endpoint answers. `path` is what stands for the braces of the endpoint's pattern.
  case admitted(Endpoint, path: String, Caller)
  /// Whether the caller is admitted is decided later.
  case asks(Endpoint, path: String, AdmissionQuestion)
  /// The answer stands already; the body is dropped.
  case answered(ImmediateAnswer)
}

/// Judges requests of one connection by their heads alone: path, method, length, origin and credentials.
struct RequestJudge {
  let transport: LoopTransport
  let peerIsLoopback: Bool

  /// - Parameter sharing: receives the fields by which a page of another origin may read the answer.
  func verdict(on head: HTTPRequestHead, sharing: inout [(String, String)]) -> RequestVerdict {
    let table = transport.table
    guard let (endpoint, path) = table.endpoint(for: head.path) else {
      if head.method == "OPTIONS", head.path == "*" { return options(table.methods, head) }
      return .answered(.text(404, "Not found. Paths served here: \(table.paths)."))
    }
    if endpoint.sharing == .configured, let origin = head.headers["Origin"] {
      sharing = transport.admission.origins.sharing(with: origin)
    }
    if endpoint.isShedWhenLate, isLate(for: head) {
      transport.tally.add(.requestsShed)
      return .answered(.error(503, "The server has more to do than it can. Try again.", "OVERLOADED"))
    }
    if head.method == "OPTIONS", endpoint.sharing == .configured { return options(endpoint.methods, head) }
    guard endpoint.methods.contains(head.method) else {
      let allowed = endpoint.methods.joined(separator: ", ")
      return .answered(
        .text(405, "\(endpoint.path) takes \(allowed).", headers: [("Allow", allowed)], note: .violation))
    }
    if Self.declaredLength(of: head) > endpoint.bodyBytes(head) { return .answered(endpoint.tooLarge(head)) }
    let decision = transport.admission.judge(
      head, endpoint.admission(head), parameters: endpoint.queryCredentials, peerIsLoopback: peerIsLoopback)
    switch decision {
    case .admitted(let caller): return .admitted(endpoint, path: path, caller)
    case .refused(let answer): return .answered(answer)
    case .asks(let question): return .asks(endpoint, path: path, question)
    }
  }

  /// Whether the loop is too late to serve a request. Upgrades are served: clients that come back after a restart keep
  /// their offsets, and what they ask for is bounded by other limits.
  private func isLate(for head: HTTPRequestHead) -> Bool {
    transport.loop.lag > transport.limits.http.loopLag && !WebSocketUpgradeRequest.isAsked(by: head)
  }

  /// The methods that a path takes, and for a page of another origin whether it may send them. Browsers ask without
  /// credentials.
  private func options(_ methods: [String], _ head: HTTPRequestHead) -> RequestVerdict {
    switch transport.admission.judge(head, .sameOrigin, peerIsLoopback: peerIsLoopback) {
    case .refused(let answer): return .answered(answer)
    case .admitted, .asks:
      let all = (methods + ["OPTIONS"]).joined(separator: ", ")
      return .answered(
        ImmediateAnswer(
          status: 204, headers: HTTPHeaders([("Allow", all)] + OriginCheck.preflight(head.headers, methods: all)),
          body: [], note: .none, reason: ""))
    }
  }

  /// The length that a request says its body has; zero when it says none.
  static func declaredLength(of head: HTTPRequestHead) -> Int {
    HTTPSyntax.decimal(head.headers.first("Content-Length") ?? []) ?? 0
  }

  static var tooLarge: ImmediateAnswer {
    .error(413, "\(HTTPFailure(.bodyTooLarge))", "BODY_TOO_LARGE", note: .violation)
  }
}
