internal import MartletGraphQLClient
internal import MartletJSON
internal import MartletSyncEngine

/// Reads the failures of the client and of responses as those of the engine.
enum SyncFailures {
  static func failure(_ error: any Error) -> SyncFailure {
    if let failure = error as? SyncFailure { return failure }
    guard let error = error as? GraphQLClientError else { return .network }
    if let first = error.errors.first, first.object != nil {
      switch failure(of: first, image: { _ in nil }) {
      case .overloaded(nil): return .overloaded(retryAfter: error.retryAfter)
      // A code that nothing is known of: the status says more.
      case .refused(let code, let message): return passing(error) ?? .refused(code: code, message: message)
      case let failure: return failure
      }
    }
    if error.status == 403 { return .forbidden }
    if error.code == .unauthorized || error.status == 401 { return .unauthorized }
    if let failure = passing(error) { return failure }
    if error.code == .httpStatus || error.code == .invalidRequest || error.code == .protocolMismatch {
      return .refused(code: "\(error.code)", message: error.message)
    }
    return .network
  }

  /// What a status of the HTTP answer says of another attempt; nil where it says nothing.
  private static func passing(_ error: GraphQLClientError) -> SyncFailure? {
    if error.status == 500 { return .faulted(code: "HTTP_500", message: error.message) }
    let isLoad = error.code == .overloaded || error.status == 429 || (error.status ?? 0) > 500
    return isLoad ? .overloaded(retryAfter: error.retryAfter) : nil
  }

  /// Whether the server knows the caller, and its rules refuse what was asked for.
  static func isForbidden(_ error: any Error) -> Bool {
    guard let first = (error as? GraphQLClientError)?.errors.first else { return false }
    let code = code(of: first)
    return code == "FORBIDDEN" || code == "ACCESS_REVOKED"
  }

  /// The code of a failure that says that the rules allow the caller nothing of what it asked for.
  static let forbidden = "FORBIDDEN"

  /// Whether an error of a response says that: the caller is known, so that other credentials of its own change
  /// nothing.
  static func isForbidden(response error: JSONValue) -> Bool {
    let code = code(of: error)
    let type = error["extensions"]?["errorType"]?.string ?? error["errorType"]?.string
    return code == forbidden || code == "ACCESS_REVOKED" || code.isEmpty && type == "Unauthorized"
  }

  /// The code of a response's error; empty for none.
  static func code(of error: JSONValue) -> String { error["extensions"]?["code"]?.string ?? "" }

  /// What an error of a response means. `image` reads the record that comes with a conflict.
  static func failure(of error: JSONValue, image: (JSONValue) -> ServerImage?) -> SyncFailure {
    let details = error["extensions"]
    let code = code(of: error)
    let type = details?["errorType"]?.string ?? error["errorType"]?.string ?? ""
    let message = error["message"]?.string ?? ""
    if isForbidden(response: error) { return .forbidden }
    switch (code, type) {
    case ("UNAUTHENTICATED", _), ("UNAUTHORIZED", _), (_, "Unauthorized"), (_, "UnauthorizedException"):
      return .unauthorized
    case ("OVERLOADED", _), ("DEADLINE", _), ("SHUTTING_DOWN", _), ("OUTCOME_UNKNOWN", _), ("DISK_FULL", _),
      ("DATA_UNAVAILABLE", _), ("RATE_LIMITED", _), ("LIMIT_EXCEEDED", _), (_, "LimitExceededError"):
      return .overloaded(retryAfter: (details?["retryAfterMs"]?.int).map { .milliseconds($0) })
    case ("INTERNAL", _), (_, "InternalFailure"), (_, "ExecutionTimeout"):
      return .faulted(code: code.isEmpty ? type : code, message: message)
    case ("CONDITION_FAILED", _): return .conditionFailed
    case ("NOT_FOUND", _): return .conflict(ServerImage(record: nil, version: 0, position: 0))
    case ("VERSION_MISMATCH", _), ("ALREADY_EXISTS", _), (_, "ConflictUnhandled"):
      let data = details?["data"] ?? error["data"] ?? .null
      if data.isNull, code == "ALREADY_EXISTS" { return .refused(code: code, message: message) }
      return .conflict(image(error) ?? ServerImage(record: nil, version: 0, position: 0))
    // With another code this package's server says what else forbids the write, such as a relation.
    case ("", "ConditionalCheckFailedException"): return .conditionFailed
    case (_, _): return .refused(code: code.isEmpty ? type : code, message: message)
    }
  }
}
