internal import MartletGraphQLClient
internal import MartletJSON
internal import MartletSyncEngine

/// Reads the failures of the client and of responses as those of the engine.
enum SyncFailures {
  static func failure(_ error: any Error) -> SyncFailure {
    if let failure = error as? SyncFailure { return failure }
    guard let error = error as? GraphQLClientError else { return .network }
    if let first = error.errors.first, first.object != nil { return failure(of: first) { _ in nil } }
    if error.code == .unauthorized || error.status == 401 || error.status == 403 { return .unauthorized }
    if error.code == .overloaded || error.status == 429 || (error.status ?? 0) >= 500 {
      return .overloaded(retryAfter: nil)
    }
    if error.code == .httpStatus || error.code == .invalidRequest || error.code == .protocolMismatch {
      return .refused(code: "\(error.code)", message: error.message)
    }
    return .network
  }

  /// Whether the server knows the caller, and its rules refuse what was asked for.
  static func isForbidden(_ error: any Error) -> Bool {
    guard let first = (error as? GraphQLClientError)?.errors.first else { return false }
    let code = code(of: first)
    return code == "FORBIDDEN" || code == "ACCESS_REVOKED"
  }

  /// The code of a response's error; empty for none.
  static func code(of error: JSONValue) -> String { error["extensions"]?["code"]?.string ?? "" }

  /// What an error of a response means. `image` reads the record that comes with a conflict.
  static func failure(of error: JSONValue, image: (JSONValue) -> ServerImage?) -> SyncFailure {
    let details = error["extensions"]
    let code = code(of: error)
    let type = details?["errorType"]?.string ?? error["errorType"]?.string ?? ""
    let message = error["message"]?.string ?? ""
    switch (code, type) {
    case ("FORBIDDEN", _), ("ACCESS_REVOKED", _), ("UNAUTHENTICATED", _), ("UNAUTHORIZED", _), (_, "Unauthorized"),
      (_, "UnauthorizedException"):
      return .unauthorized
    case ("OVERLOADED", _), ("DEADLINE", _), ("SHUTTING_DOWN", _), ("OUTCOME_UNKNOWN", _), ("DISK_FULL", _),
      ("DATA_UNAVAILABLE", _), ("INTERNAL", _), ("RATE_LIMITED", _), ("LIMIT_EXCEEDED", _), (_, "LimitExceededError"),
      (_, "InternalFailure"), (_, "ExecutionTimeout"):
      return .overloaded(retryAfter: (details?["retryAfterMs"]?.int).map { .milliseconds($0) })
    case ("CONDITION_FAILED", _): return .conditionFailed
    case ("NOT_FOUND", _): return .conflict(ServerImage(record: nil, version: 0, position: 0))
    case ("VERSION_MISMATCH", _), ("ALREADY_EXISTS", _), (_, "ConflictUnhandled"):
      let data = details?["data"] ?? error["data"] ?? .null
      if data.isNull, code == "ALREADY_EXISTS" { return .refused(code: code, message: message) }
      return .conflict(image(error) ?? ServerImage(record: nil, version: 0, position: 0))
    case (_, "ConditionalCheckFailedException"): return .conditionFailed
    case (_, _): return .refused(code: code.isEmpty ? type : code, message: message)
    }
  }
}
