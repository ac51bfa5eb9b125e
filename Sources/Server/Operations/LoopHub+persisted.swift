internal import MartletGraphQLExecution
internal import MartletRuntime
internal import MartletSockets
internal import MartletWireProtocols

extension PersistedOperationError {
  /// Whether the client broke a rule. That a document is not known is no fault of its own.
  var isFault: Bool {
    switch self {
    case .notFound, .notSupported: false
    case .hashMismatch, .malformedHash, .version: true
    }
  }
}

extension LoopHub {
  /// The document a request is about: its own, or the one it names by hash. One that comes with its hash is kept.
  func document(of request: GraphQLRequest) throws(PersistedOperationError) -> String {
    // Nearly every request has no extensions at all.
    guard !request.extensions.isEmpty, let operation = try PersistedOperation(extensions: request.extensions) else {
      return request.query
    }
    guard node.limits.persistedOperations > 0 else { throw .notSupported }
    guard !request.query.isEmpty else {
      guard let known = node.persisted.withLock({ $0.document(operation) }) else { throw .notFound }
      return known
    }
    guard Digest.sha256(Array(request.query.utf8)) == operation.hash else { throw .hashMismatch }
    node.persisted.withLock { $0.keep(request.query, as: operation) }
    return request.query
  }

  /// What a client hears whose persisted operation cannot be run.
  func refusal(_ error: PersistedOperationError) -> ResponseError {
    ResponseError(error.description, extensions: ["code": .string(error.code)])
  }
}
