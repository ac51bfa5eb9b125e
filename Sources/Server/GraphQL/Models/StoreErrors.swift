internal import MartletGraphQLExecution
internal import MartletJSON
internal import MartletModels
internal import MartletStore

/// Failures of the store and of written values as GraphQL errors, with AppSync's error types where it has one.
enum StoreErrors {
  static func resolverError(_ error: any Error) -> ResolverError {
    switch error {
    case let error as StoreError:
      let (code, type) = names(error.code)
      // The disk's own words are for the log, not for clients.
      let message =
        error.code == .failed || error.code == .filesGone
        ? "The server cannot read or write its data."
        : error.code == .forbidden ? error.message : sentence(error.message)
      return ResolverError(message, extensions: ["code": .string(code), "errorType": .string(type)])
    case let error as InputError:
      return ResolverError(
        sentence(error.description), extensions: ["code": "BAD_USER_INPUT", "errorType": "ValidationException"])
    case let error as FilterError:
      return ResolverError(
        sentence(error.description), extensions: ["code": "BAD_USER_INPUT", "errorType": "ValidationException"])
    case let error as ResolverError: return error
    default: return ResolverError("Internal error.", extensions: ["code": "INTERNAL"])
    }
  }

  /// A field's resolver with errors that have `errorType` and `data` beside their message too: where AppSync has them,
  /// and where clients of its DataStore look for them.
  static func withMembers(_ resolver: FieldResolver) -> FieldResolver {
    guard case .callback(let resolve) = resolver else { return resolver }
    return .callback { batch, completion in
      resolve(batch) { results in
        completion(
          results.map { result in
            guard case .failure(var error as ResolverError) = result else { return result }
            for name in ["errorType", "data"] { error.members[name] = error.extensions[name] }
            return .failure(error)
          })
      }
    }
  }

  private static func sentence(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst() + (text.hasSuffix(".") ? "" : ".")
  }

  private static func names(_ code: StoreError.Code) -> (code: String, type: String) {
    switch code {
    case .conditionFailed: ("CONDITION_FAILED", "ConditionalCheckFailedException")
    case .alreadyExists: ("ALREADY_EXISTS", "ConditionalCheckFailedException")
    case .notFound: ("NOT_FOUND", "ConditionalCheckFailedException")
    case .versionMismatch: ("VERSION_MISMATCH", "ConflictUnhandled")
    case .notUnique: ("NOT_UNIQUE", "ValidationException")
    case .referenced: ("REFERENCED", "ConditionalCheckFailedException")
    case .invalid: ("BAD_USER_INPUT", "ValidationException")
    case .invalidToken: ("INVALID_TOKEN", "BadRequestException")
    case .tooManyRows: ("TOO_MANY_ROWS", "LimitExceededError")
    case .aborted: ("ABORTED", "BadRequestException")
    case .overloaded: ("OVERLOADED", "LimitExceededError")
    case .deadline: ("DEADLINE", "ExecutionTimeout")
    case .diskFull: ("DISK_FULL", "InternalFailure")
    case .closed: ("SHUTTING_DOWN", "InternalFailure")
    case .filesGone: ("DATA_UNAVAILABLE", "InternalFailure")
    case .forbidden: ("FORBIDDEN", "Unauthorized")
    case .outcomeForgotten: ("OUTCOME_FORGOTTEN", "BadRequestException")
    case .outcomeUnknown: ("OUTCOME_UNKNOWN", "InternalFailure")
    case .locked, .noStore, .newerFormat, .migration, .notAuthority, .diverged, .damaged, .failed:
      ("INTERNAL", "InternalFailure")
    }
  }
}
