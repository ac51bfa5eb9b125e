internal import MartletAccess
internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletGraphQLWire
internal import MartletJSON
internal import MartletModelSDL
internal import MartletModels
internal import MartletStore

/// What a client is answered with whose subscription cannot begin.
enum SubscriptionErrors {
  /// An operation's own credentials are not accepted.
  static let unknownCredentials = ResponseError(
    "You are not authorized to make this call.", extensions: ["code": "UNAUTHENTICATED"])

  /// The same as `list(_:)`, with a line in the audit log where rules or scopes refused it.
  static func list(_ error: any Error, of prepared: PreparedOperation, _ node: ServerNode) -> [ResponseError] {
    let errors = list(error)
    node.audit.judged(errors, of: prepared.plan, by: prepared.scope.identity, node.models)
    return errors
  }

  static func list(_ error: any Error) -> [ResponseError] {
    switch error {
    case let error as QuotaRefusal: [ResponseError(error.message, extensions: error.extensions)]
    case let error as SubscriptionError: error.response.tree.errors
    case let error as VariableErrors: error.errors.map { ResponseError($0) }
    case let error as GraphQLRequestError: [ResponseError(error.description, extensions: ["code": "BAD_USER_INPUT"])]
    case let error as SubscriptionIndexError:
      [ResponseError(error.description, extensions: ["code": "TOO_MANY_FILTERS"])]
    case let error as FilterError where error.isAmbiguous:
      [ResponseError(error.description, extensions: ["code": "AMBIGUOUS_FILTER"])]
    default: store(error)
    }
  }

  /// What a query or mutation is answered with where the dialect has no room for it.
  static func kind(in dialect: Dialect?) -> ResponseError? {
    guard dialect?.carriesQueries == false else { return nil }
    return ResponseError(
      "This protocol carries subscriptions only; send queries and mutations by HTTP.",
      extensions: ["code": "UNSUPPORTED_OPERATION"])
  }

  private static func store(_ error: any Error) -> [ResponseError] {
    let error = StoreErrors.resolverError(error)
    return [ResponseError(error.message, extensions: error.extensions)]
  }
}
