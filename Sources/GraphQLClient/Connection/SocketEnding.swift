import MartletGraphQLClientWire
import MartletHTTPWire
import MartletJSON
import MartletVocabulary

/// How an attempt at a socket or a session on one ended, and what that means for the next attempt and for the
/// operations.
enum SocketEnding {
  case closed(WebSocketCloseCode, String)
  /// There is no connection.
  case failed(String)
  /// The server at this URL answered the upgrade with an HTTP status.
  case answered(Int, by: String, retryAfter: Duration?)
  /// The credential provider failed.
  case noCredentials(any Error)
  /// The server refused the connection by a message of its dialect.
  case refused(ConnectionRetry, String, errors: [JSONValue])
  /// The server speaks another protocol.
  case mismatched(String)

  /// The close code reported to the credential provider for a refusal by message, which has none: that of "forbidden".
  static let refusalByMessage = 4403

  /// Why, in words.
  var reason: String {
    switch self {
    case .closed(let code, let reason): reason.isEmpty ? "closed with code \(code.rawValue)" : reason
    case .failed(let text), .refused(_, let text, errors: _), .mismatched(let text): text
    case .answered(let status, let url, retryAfter: _):
      "\(url) answered the WebSocket upgrade with HTTP status \(status)"
    case .noCredentials(let error): "no credentials: \(error)"
    }
  }

  /// The event for the application's listeners.
  var event: ConnectionEvent {
    switch self {
    case .closed(let code, let reason): .disconnected(code: Int(code.rawValue), reason: reason)
    case .failed, .answered, .noCredentials, .refused, .mismatched: .disconnected(code: nil, reason: reason)
    }
  }

  /// What it means for the next attempt.
  func failure(in dialect: Dialect) -> RetryMachine.Failure {
    switch self {
    case .closed(let code, _):
      let number = Int(code.rawValue)
      // A client that never subscribes before the acknowledgement receives 4401 only in the sense of "unauthorised".
      if number == 4401 { return .credentialsRefused(code: number) }
      return Self.failure(dialect.retry(after: code), refusedWith: number)
    case .failed, .noCredentials: return .passing()
    case .answered(let status, by: _, let retryAfter):
      switch HTTPStatusMeaning(status) {
      case .credentialsRefused: return .credentialsRefused(code: status)
      case .passing: return .passing(retryAfter: retryAfter)
      case .final: return .final
      }
    case .refused(let retry, _, errors: _): return Self.failure(retry, refusedWith: Self.refusalByMessage)
    case .mismatched: return .final
    }
  }

  private static func failure(_ retry: ConnectionRetry, refusedWith code: Int) -> RetryMachine.Failure {
    switch retry {
    case .withNewCredentials: .credentialsRefused(code: code)
    case .never: .final
    case .afterBackoff, .ifOperationsAreOpen: .passing()
    }
  }

  /// What the operations fail with when there are no more attempts.
  func error(_ why: RetryMachine.Surrender, in dialect: Dialect) -> GraphQLClientError {
    switch self {
    case .closed(let code, let reason):
      let number = Int(code.rawValue)
      let text = reason.isEmpty ? "the connection was closed" : reason
      let isMismatch = why == .finalFailure && number == 4406
      return GraphQLClientError(
        errorCode(why), isMismatch ? mismatch(dialect, text) : text, closeCode: number)
    case .failed(let text): return GraphQLClientError(errorCode(why), text)
    case .answered(let status, by: _, retryAfter: _):
      return GraphQLClientError(errorCode(why), reason, status: status)
    case .noCredentials(let error): return GraphQLClientError(errorCode(why), reason, underlying: error)
    case .refused(_, let text, let errors): return GraphQLClientError(errorCode(why), text, errors: errors)
    case .mismatched(let text): return GraphQLClientError(errorCode(why), mismatch(dialect, text))
    }
  }

  private func mismatch(_ dialect: Dialect, _ text: String) -> String {
    "\(dialect.name) was offered; \(text)"
  }

  private func errorCode(_ why: RetryMachine.Surrender) -> GraphQLClientError.Code {
    switch (why, self) {
    case (.attemptsUsedUp, _): .connectFailed
    case (.credentialsRefused, _): .unauthorized
    case (.finalFailure, .closed(4406, _)), (.finalFailure, .mismatched): .protocolMismatch
    case (.finalFailure, .closed(4004, _)): .protocolViolation
    case (.finalFailure, .closed), (.finalFailure, .refused): .connectionClosed
    case (.finalFailure, .answered): .httpStatus
    case (.finalFailure, .failed), (.finalFailure, .noCredentials): .connectFailed
    }
  }
}
