internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletGraphQLWire
internal import MartletModels

/// Why a subscription does not begin, as its client reads it.
enum SubscriptionRefusal {
  static func errors(_ error: any Error) -> [ResponseError] {
    switch error {
    case let error as SubscriptionError: return error.response.tree.errors
    case let error as VariableErrors: return error.errors.map { ResponseError($0) }
    case let error as GraphQLRequestError: return [coded(error.description, "BAD_USER_INPUT")]
    case let error as SubscriptionIndexError: return [coded(error.description, "TOO_MANY_FILTERS")]
    case let error as FilterError where error.isAmbiguous: return [coded(error.description, "AMBIGUOUS_FILTER")]
    default:
      let error = StoreErrors.resolverError(error)
      return [ResponseError(error.message, extensions: error.extensions)]
    }
  }

  private static func coded(_ message: String, _ code: String) -> ResponseError {
    ResponseError(message, extensions: ["code": .string(code)])
  }
}
