internal import MartletGraphQLWire
internal import MartletWire

/// The paths at which GraphQL is served, as rows of the server's table.
///
/// `/graphql` takes requests and WebSockets, `/graphql/stream` answers by server-sent events whatever it is asked, and
/// `/graphql/realtime` is where AppSync's clients look for their WebSocket. The paths of a further store begin with its
/// own.
struct GraphQLEndpoints {
  let service: GraphQLService

  init(_ service: GraphQLService) {
    self.service = service
  }

  private static let methods = ["GET", "POST", "PUT", "DELETE"]

  var rows: [Endpoint] {
    var rows: [Endpoint] = []
    if let path = PathPattern(service.node.path + "/graphql") {
      rows.append(
        Endpoint(
          path, meaning: "GraphQL: requests, multipart subscriptions and WebSockets", methods: Self.methods,
          sharing: .configured, bodyBytes: bodyBytes, admission: admission, upgrade: upgrade,
          handshake: service.signedHandshake, respond: { answer($0, $1, asStream: false) }))
    }
    if let path = PathPattern(service.node.path + "/graphql/stream") {
      rows.append(
        Endpoint(
          path, meaning: "GraphQL over server-sent events", methods: Self.methods, sharing: .configured,
          bodyBytes: bodyBytes, admission: admission, respond: { answer($0, $1, asStream: true) }))
    }
    if let path = PathPattern(service.node.path + "/graphql/realtime") {
      rows.append(
        Endpoint(
          path, meaning: "WebSockets of AppSync's clients", methods: ["GET"], sharing: .configured,
          bodyBytes: bodyBytes, admission: { _ in .sameOrigin }, upgrade: upgrade,
          handshake: service.signedHandshake, respond: { $1.send(Self.upgradeRequired) }))
    }
    return rows
  }

  private func bodyBytes(_ head: HTTPRequestHead) -> Int {
    MultipartRequest.isAsked(by: head) ? service.node.limits.http.uploadBytes : service.node.limits.http.bodyBytes
  }

  private func admission(_ head: HTTPRequestHead) -> AdmissionRule {
    // Browsers cannot set headers on a WebSocket, so the key may come with connection_init.
    if WebSocketUpgradeRequest.isAsked(by: head), service.localPath(of: head) == "/graphql" { return .sameOrigin }
    if SharedStreamExchange.isTicket(head, service) { return .sameOrigin }
    return .identified(service.transport.admission.asksProgram ? transport(of: head) : .http)
  }

  /// How the request's operations travel, for the program that decides about it.
  private func transport(of head: HTTPRequestHead) -> ConnectionRequest.Transport {
    if service.localPath(of: head) == "/graphql/stream" || SharedEventStream.token(of: head) != nil {
      return .eventStream
    }
    switch GraphQLOverHTTP.preferredStream(head) {
    case .eventStream: return .eventStream
    case .multipart: return .multipart
    case nil: return .http
    }
  }

  // MARK: HTTP

  private func answer(_ request: HTTPRequest, _ responder: HTTPResponder, asStream: Bool) {
    if SharedStreamExchange(service, request, responder).take() { return }
    if !asStream, BatchExchange(service, request, responder).take() { return }
    OperationExchange(service, request, responder).begin(asStream: asStream)
  }

  private static var upgradeRequired: ImmediateAnswer {
    .text(
      426, "This path is for WebSockets. Queries and mutations go to /graphql.", headers: [("Upgrade", "websocket")])
  }

  // MARK: WebSockets

  /// Opens a WebSocket in the dialect that the request asks for.
  private func upgrade(_ asked: WebSocketUpgradeRequest, _ request: HTTPRequest) -> SocketAnswer {
    let choice: DialectChoice?
    do {
      choice = try DialectChoice.choose(
        path: service.localPath(of: request.head), query: request.head.query, subprotocols: asked.subprotocols)
    } catch {
      return .refuse(.text(400, "\(error)", note: .violation))
    }
    var caller = request.caller
    if caller.isUnknown || caller.grant == .guest, let authorization = choice?.authorization {
      switch service.transport.admission.shown(in: authorization, signed: service.signedHandshake) {
      case .caller(let shown): caller = shown
      // It is refused when the client initialises the connection.
      case .refused(let reason): caller = Caller(refused: reason)
      case .nothing: break
      }
    }
    return .open(subprotocol: choice?.dialect.subprotocol, GraphQLSession(service, choice, caller, over: request.peer))
  }
}
