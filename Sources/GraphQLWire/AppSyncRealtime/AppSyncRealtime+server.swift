extension AppSyncRealtime {
  /// Bounds and deadlines of one server connection.
  package struct ServerLimits: Sendable {
    /// What this protocol has in common with the one it comes from. `ka` comes every minute: a fifth of what the client
    /// is given as its keep-alive time.
    package var session: StartStopServerLimits
    /// What `connectionTimeoutMs` says: silence after which the client gives the connection up.
    package var connectionTimeout = AppSyncRealtime.connectionTimeout
    /// How long a connection may live, so that credentials are looked at again; AppSync's day. Nil for ever.
    package var lifetime: Duration? = .seconds(86_400)

    /// How long a `connection_init` may follow a first `start`; then the client counts as one that leaves it out, as
    /// the protocol's newest text allows. Nil ignores such a `start`.
    package var initialisationGrace: Duration? = .milliseconds(250)

    package init() {
      session = StartStopServerLimits()
      session.keepAliveInterval = .seconds(60)
    }
  }

  /// The error types a server names.
  package enum ErrorType: String, Sendable {
    case badRequest = "BadRequestException"
    case unauthorized = "UnauthorizedException"
    case unsupported = "UnsupportedOperation"
    case duplicate = "DuplicatedOperationError"
    case tooManySubscriptions = "MaxSubscriptionsReachedError"
    case limitExceeded = "LimitExceededError"
    case validation = "ValidationError"
    case timeout = "RequestTimeoutException"

    /// The `errorCode` beside it, where there is one.
    var code: Int64? {
      switch self {
      case .badRequest, .unsupported: 400
      case .unauthorized: 401
      case .timeout: 408
      case .tooManySubscriptions, .limitExceeded: 429
      case .duplicate, .validation: nil
      }
    }
  }
}
