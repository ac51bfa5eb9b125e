internal import MartletGraphQLExecution
internal import MartletJSON
internal import MartletWireProtocols

extension GraphQLSession {
  /// What an operation's own authorization is answered with; nil when it may run. Only AppSync's clients send one. A
  /// connection that was let in may leave it out.
  func authorizationRefusal(_ request: GraphQLRequest) -> ResponseError? {
    guard machine.dialect == .appSync, let blob = request.extensions["authorization"] else { return nil }
    if hub.node.access.admits(payload: blob.object) { return nil }
    noteRefusal("A subscription was refused: its credentials are not known.")
    return ResponseError("You are not authorized to make this call.", extensions: ["code": "UNAUTHENTICATED"])
  }

  /// What a query or mutation is answered with where the dialect has no room for it.
  func kindRefusal() -> ResponseError? {
    guard machine.dialect == .appSync else { return nil }
    return ResponseError(
      "This protocol carries subscriptions only; send queries and mutations by HTTP.",
      extensions: ["code": "UNSUPPORTED_OPERATION"])
  }
}
