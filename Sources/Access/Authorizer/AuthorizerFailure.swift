/// Why an authorizer gave no answer that can be used. For operators: callers learn only that they are not authorized.
package enum AuthorizerFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// No whole answer within the limit.
  case timedOut
  /// No connection, or one that ended early.
  case unreachable(String)
  /// Another status than 200, 401 and 403. Redirects are not followed: the credential would go to an address that the
  /// operator has not named.
  case status(Int)
  case tooLarge
  /// The body does not say what it has to, for this reason.
  case malformed(String)
  /// More credentials wait than the limits allow.
  case overloaded
  /// The server is being stopped, or has not begun to serve.
  case stopped

  /// A stable name for metrics and logs.
  package var code: String {
    switch self {
    case .timedOut: "authorizer-timeout"
    case .unreachable: "authorizer-unreachable"
    case .status: "authorizer-status"
    case .tooLarge: "authorizer-too-large"
    case .malformed: "authorizer-malformed"
    case .overloaded: "authorizer-overloaded"
    case .stopped: "authorizer-stopped"
    }
  }

  package var description: String {
    switch self {
    case .timedOut: "it did not answer in time"
    case .unreachable(let reason): "it cannot be reached: \(reason)"
    case .status(let status) where (300..<400).contains(status): "it redirects (\(status)), which is not followed"
    case .status(let status): "it answered with the status \(status)"
    case .tooLarge: "its answer is too large"
    case .malformed(let reason): "its answer cannot be read: \(reason)"
    case .overloaded: "too many callers wait for it"
    case .stopped: "the server does not ask it now"
    }
  }
}
