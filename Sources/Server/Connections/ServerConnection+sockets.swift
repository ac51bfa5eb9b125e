internal import MartletWireProtocols

extension ServerConnection {
  /// `/graphql/realtime`, where AppSync's clients look for their WebSocket.
  func routeRealtime(_ head: HTTPRequestHead) {
    guard WebSocketUpgradeRequest.isAsked(by: head) else {
      return respond(
        426, HTTPHeaders([("Upgrade", "websocket"), ("Content-Type", "text/plain; charset=utf-8")]),
        body: Array("This path is for WebSockets. Queries and mutations go to /graphql.\n".utf8))
    }
    routeUpgrade(head)
  }

  /// Opens a WebSocket in the dialect that the request asks for.
  func routeUpgrade(_ head: HTTPRequestHead) {
    // Browsers cannot set headers on a WebSocket, so the key may come with connection_init.
    guard admit(head, needsKey: false) else { return }
    let request: WebSocketUpgradeRequest
    do {
      request = try WebSocketUpgradeRequest(head)
    } catch {
      noteViolation(error.status, "\(error)")
      let headers = error.status == 426 ? HTTPHeaders([("Sec-WebSocket-Version", "13")]) : HTTPHeaders()
      return respond(error.status, headers, body: Array("\(error)\n".utf8), closing: true)
    }
    guard !hub.isDraining else { return respond(503, closing: true) }
    let choice: DialectChoice?
    do {
      choice = try DialectChoice.choose(path: head.path, query: head.query, subprotocols: request.subprotocols)
    } catch {
      noteViolation(400, "\(error)")
      return respond(400, body: Array("\(error)\n".utf8), closing: true)
    }
    if grant == nil, let authorization = choice?.authorization {
      grant = hub.node.access.grant(payload: authorization)
    }
    upgrade(request, choice)
  }
}
