internal import MartletGraphQLExecution
internal import MartletJSON
internal import MartletWireProtocols

extension ServerConnection {
  /// Executes an operation whose client takes the response in parts, each a part of a multipart body
  /// (docs/PROTOCOL.md, "Responses in parts").
  func executeInParts(
    _ plan: OperationPlan, _ accepted: GraphQLOverHTTP.Accepted, _ parts: IncrementalAccept, _ scope: RequestScope
  ) {
    let format: IncrementalFormat
    switch parts {
    case .current: format = .current
    case .older: format = .older
    }
    var writer = MultipartWriter.dash
    var isFirst = true
    let operation = hub.runner.run(
      plan, variables: accepted.request.variables, scope: scope, format: format
    ) { [weak self] payload in
      guard let self else { return true }
      let payload = isFirst ? self.marked(payload, scope) : payload
      if isFirst {
        isFirst = false
        if case .whole(let tree) = payload, accepted.acceptsOnePiece {
          self.respond(tree, as: accepted.responseType)
          return true
        }
        self.beginStreaming(200, HTTPHeaders([("Content-Type", parts.contentType)]))
      }
      var bytes: [UInt8] = []
      writer.part(payload.bytes(format), to: &bytes)
      if !payload.hasNext { writer.end(to: &bytes) }
      let keepsUp = self.stream(bytes)
      if !payload.hasNext { self.endStreaming() }
      return keepsUp
    }
    if let operation { hold(operation) }
  }

  /// The HTTP form of what `connection_ack` says on a socket: this server remembers write numbers.
  private func marked(_ payload: IncrementalPayload, _ scope: RequestScope) -> IncrementalPayload {
    guard scope.writeID != nil else { return payload }
    switch payload {
    case .whole(var tree):
      tree.extensions["martlet"] = ["writes": true]
      return .whole(tree)
    case .initial(var tree, let update):
      tree.extensions["martlet"] = ["writes": true]
      return .initial(tree, update)
    case .update: return payload
    }
  }
}
